import { holdsMoney, isOpen } from '../ledger.js';
import type { Breach, ChargeRow, Records } from '../records.js';
import { awaited, groupedBy, indexed, intentReference, meeting, shown } from './known.js';

/** 1: per intent and invoice at most one success that is neither voided, refunded nor a reported late one on its way back. */
export function oneCharge(records: Records): Breach[] {
  const { books } = records;
  const owner = new Map(books.intents.map((intent) => [intent.reference, intent.invoice ? `invoice ${intent.invoice}` : `intent ${intent.id}`]));
  const ownerById = new Map(books.intents.map((intent) => [intent.id, intent.invoice ? `invoice ${intent.invoice}` : `intent ${intent.id}`]));
  const charges = indexed(books.charges, meeting);
  const returning = returningCharges(records);
  const breaches: Breach[] = [];

  const taken = records.payments.filter((payment) => holdsMoney(payment) || isOpen(payment));
  for (const [wish, found] of groupedBy(taken, (payment) => owner.get(intentReference(payment.reference)) ?? payment.reference)) {
    const kept = found.filter((payment) => !returning.has(charges.get(meeting(payment))?.id ?? ''));
    if (kept.length > 1 && kept.some(holdsMoney)) {
      breaches.push({ rule: 1, what: `the provider holds ${kept.length} payments of one ${wish}`, ids: kept.map(({ id, reference }) => `${reference} (${id})`) });
    }
  }
  const counted = books.charges.filter((charge) => isKept(charge) && !returning.has(charge.id));
  for (const [wish, found] of groupedBy(counted, (charge) => ownerById.get(charge.intent) ?? charge.intent)) {
    if (found.length > 1) breaches.push({ rule: 1, what: `our books hold ${found.length} successes of one ${wish}`, ids: found.map((charge) => shown('ch', charge.id)) });
  }
  return breaches;
}

function isKept(charge: ChargeRow): boolean {
  return charge.status === 'succeeded' && !charge.voided && (charge.captured === 0 || charge.refunded < charge.captured);
}

/** Late successes whose way back is under way, or waits for a person. */
function returningCharges(records: Records): Set<string> {
  const waiting = awaited(records);
  const { charges, operations } = records.books;
  const onTheWay = new Set(operations.filter(({ type, status }) => type !== 'capture' && status === 'pending').map(({ charge }) => charge));
  return new Set(charges.filter((charge) => onTheWay.has(charge.id) || (charge.late && waiting.has(charge.intent))).map(({ id }) => id));
}
