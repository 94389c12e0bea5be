import type { Breach, Records } from '../records.js';
import { groupedBy, shown } from './known.js';

/** 7: captured ≤ authorised, refunded ≤ captured: in the rows, at the provider, and in what was told. */
export function sums({ books, payments, heard }: Records): Breach[] {
  const breaches: Breach[] = [];
  const check = (what: string, ids: string[], { authorized, captured, refunded }: { authorized: number; captured: number; refunded: number }): void => {
    if (captured > authorized) breaches.push({ rule: 7, what: `${what}: ${captured} captured of ${authorized}`, ids });
    if (refunded > captured) breaches.push({ rule: 7, what: `${what}: ${refunded} refunded of ${captured}`, ids });
  };
  const refunds = groupedBy(books.refunds.filter(({ status }) => status !== 'failed'), ({ charge }) => charge);
  for (const charge of books.charges) {
    check('our books', [shown('ch', charge.id)], charge);
    const sum = (refunds.get(charge.id) ?? []).reduce((total, { amount }) => total + amount, 0);
    check('our refunds', [shown('ch', charge.id)], { ...charge, refunded: sum });
  }
  for (const intent of books.intents) check('our books', [shown('pi', intent.id)], { authorized: intent.amount, captured: intent.received, refunded: intent.refunded });
  for (const payment of payments) check('the provider', [payment.reference, payment.id], payment);
  for (const { told, eventId } of heard) {
    const { authorized, captured, refunded } = told.amounts;
    if (told.object === 'charge') check('an event', [told.id, eventId], { authorized: authorized ?? 0, captured: captured ?? 0, refunded: refunded ?? 0 });
  }
  return breaches;
}
