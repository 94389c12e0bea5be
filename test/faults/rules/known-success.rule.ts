import { holdsMoney, isOpen, type LedgerOperation, type LedgerPayment } from '../ledger.js';
import type { Breach, ChargeRow, OperationRow, Records } from '../records.js';
import { awaited, groupedBy, indexed, meeting, shown } from './known.js';

/** 3: a success at a processor is known here, or is being looked up, or is on the attention list. */
export function knownSuccess(records: Records): Breach[] {
  const charges = indexed(records.books.charges, meeting);
  const waiting = awaited(records);
  return [...unknownPayments(records, charges, waiting), ...unknownOperations(records, charges, waiting)];
}

function unknownPayments({ payments, books }: Records, charges: ReadonlyMap<string, ChargeRow>, waiting: ReadonlySet<string>): Breach[] {
  const operations = groupedBy(books.operations, ({ charge }) => charge);
  const breaches: Breach[] = [];
  for (const payment of payments) {
    if (!holdsMoney(payment) && !isOpen(payment)) continue;
    const charge = charges.get(meeting(payment));
    const lost = charge ? lostBy(charge, operations.get(charge.id) ?? [], waiting) : 'no attempt has its reference';
    if (lost) breaches.push({ rule: 3, what: `a payment is ${payment.status} at the provider; here ${lost}`, ids: [payment.reference, payment.id] });
  }
  return breaches;
}

function lostBy(charge: ChargeRow, operations: OperationRow[], waiting: ReadonlySet<string>): string | null {
  const looked = charge.next_lookup !== null || operations.some(({ status, next_lookup }) => status === 'pending' && next_lookup !== null);
  if (looked || waiting.has(charge.intent)) return null;
  if (charge.status === 'succeeded') return charge.voided ? 'it is voided' : null;
  if (charge.status === 'failed') return 'it failed';
  return charge.outcome === 'action_required' ? null : 'it is unresolved and nobody looks it up';
}

/** What a person did at the provider shows on the charge, or as a refund of its own. */
function isBooked(made: LedgerOperation, payment: LedgerPayment, { charge, books }: { charge: ChargeRow | undefined; books: Records['books'] }): boolean {
  if (made.kind === 'refund') return books.refunds.some(({ processor_refund }) => processor_refund === made.id);
  if (made.kind === 'capture') return charge?.captured === payment.captured;
  return charge !== undefined && (charge.voided || charge.status === 'failed');
}

/** Captures, voids and refunds that the provider made. */
function unknownOperations(records: Records, charges: ReadonlyMap<string, ChargeRow>, waiting: ReadonlySet<string>): Breach[] {
  const payments = indexed(records.payments, ({ id }) => id);
  const ours = indexed(records.books.operations, ({ charge, reference }) => `${charge} ${reference}`);
  const breaches: Breach[] = [];
  for (const made of records.operations) {
    const payment = payments.get(made.payment ?? '');
    const charge = payment ? charges.get(meeting(payment)) : undefined;
    if (!payment || made.status !== 'succeeded' || (made.kind === 'void' && payment.status === 'declined')) continue;
    const known = charge && ours.get(`${charge.id} ${made.reference}`);
    const fine = known && (known.status === 'succeeded' || (known.status === 'pending' && (known.next_lookup !== null || waiting.has(known.intent))));
    if (fine || (made.outOfBand && isBooked(made, payment, { charge, books: records.books })) || (charge && waiting.has(charge.intent))) continue;
    const here = known ? `it is ${known.status}` : 'it is unknown';
    breaches.push({ rule: 3, what: `the provider made a ${made.kind}; here ${here}`, ids: [made.reference || payment.reference, made.id, ...(charge ? [shown('ch', charge.id)] : [])] });
  }
  return breaches;
}
