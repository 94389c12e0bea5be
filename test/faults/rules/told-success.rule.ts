import type { LedgerOperation, LedgerPayment } from '../ledger.js';
import type { Breach, ChargeRow, Records, Told } from '../records.js';
import { groupedBy, indexed, meeting, paymentsByMeeting, shown } from './known.js';
import { toldBy } from '../told.js';

/** 2: a success we report is a success at the processor, same amount. Rows, events as they were received, and answers. */
export function toldSuccess(records: Records): Breach[] {
  return [...wrongRows(records), ...wrongWords(records)];
}

function wrongRows(records: Records): Breach[] {
  const theirs = paymentsByMeeting(records);
  const busy = new Set(records.books.operations.filter(({ status }) => status === 'pending').map(({ charge }) => charge));
  const refunds = groupedBy(records.books.refunds.filter(({ status, out_of_band }) => status === 'succeeded' && !out_of_band), ({ charge }) => charge);
  const breaches: Breach[] = [];
  for (const charge of records.books.charges) {
    if (charge.status !== 'succeeded') continue;
    const found = theirs.get(meeting(charge)) ?? [];
    const difference = differenceOf(charge, found, {
      busy: busy.has(charge.id),
      refunded: (refunds.get(charge.id) ?? []).reduce((sum, { amount }) => sum + amount, 0),
    });
    if (difference) breaches.push({ rule: 2, what: `a charge succeeded here; at the provider ${difference}`, ids: [shown('ch', charge.id), charge.reference] });
  }
  return breaches;
}

function differenceOf(charge: ChargeRow, found: LedgerPayment[], { busy, refunded }: { busy: boolean; refunded: number }): string | null {
  const payment = found.find(({ id }) => id === charge.processor_payment);
  if (!payment) return found.length === 0 ? 'it is unknown' : `it has another id than ${charge.processor_payment}`;
  const expected = charge.voided ? ['voided'] : ['authorized', 'captured', ...(busy ? ['voided'] : [])];
  if (!expected.includes(payment.status)) return `it is ${payment.status}`;
  if (payment.currency !== charge.currency || payment.authorized !== charge.authorized) return `${payment.authorized} ${payment.currency} were authorised, not ${charge.authorized}`;
  if (payment.captured !== charge.captured && !(busy && payment.captured > charge.captured)) return `${payment.captured} were captured, not ${charge.captured}`;
  if (payment.refunded < refunded) return `${payment.refunded} were refunded, not ${refunded}`;
  return null;
}

/** Every success that anybody was told: each by its own words, whatever the rows say now. */
function wrongWords(records: Records): Breach[] {
  const payments = indexed(records.payments, ({ id }) => id);
  const operations = indexed(records.operations, ({ id }) => id);
  const words: { told: Told; from: string }[] = records.heard.map(({ told, eventId }) => ({ told, from: eventId }));
  for (const call of records.calls) {
    if (call.status !== null && call.status < 300 && call.answer?.object) words.push({ told: toldBy(call.answer), from: `call ${call.number}` });
  }
  const breaches: Breach[] = [];
  for (const { told, from } of words) {
    const wrong = wrongWord(told, payments, operations);
    if (wrong) breaches.push({ rule: 2, what: `${told.object} was told as succeeded; ${wrong}`, ids: [told.id, from] });
  }
  return unrepeated(breaches);
}

function wrongWord(told: Told, payments: ReadonlyMap<string, LedgerPayment>, operations: ReadonlyMap<string, LedgerOperation>): string | null {
  if (told.status !== 'succeeded' || told.outOfBand) return null;
  if (told.object === 'refund') {
    const operation = operations.get(told.processorRefundId ?? '');
    if (!operation || operation.kind !== 'refund') return 'the provider made no such refund';
    if (operation.status !== 'succeeded') return `the provider's refund is ${operation.status}`;
    return operation.amount === told.amounts.amount ? null : `the provider refunded ${operation.amount}`;
  }
  if (told.object !== 'payment_intent' && told.object !== 'charge') return null;
  const payment = payments.get(told.processorPaymentId ?? '');
  if (!payment) return 'the provider has no such payment';
  if (!['authorized', 'captured', 'voided'].includes(payment.status)) return `it is ${payment.status} at the provider`;
  const captured = told.amounts.received ?? told.amounts.captured ?? 0;
  return captured === 0 || captured === payment.captured ? null : `the provider captured ${payment.captured}, told were ${captured}`;
}

function unrepeated(breaches: Breach[]): Breach[] {
  return [...indexed(breaches, ({ what, ids }) => `${what} ${ids[0]}`).values()];
}
