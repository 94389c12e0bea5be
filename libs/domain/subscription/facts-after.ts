import { isOwed } from '../invoice/invoice.machine.js';
import type { Facts, InvoiceFacts, Plan } from './plan.js';
import type { SubscriptionState } from './subscription.state.js';

/**
 * The facts once a plan is written, where they follow from it; null where they must be read again. `invoice`: the one that the plan
 * drew, as it was stored.
 */
export function factsAfter(facts: Facts, plan: Plan, next: SubscriptionState, invoice: InvoiceFacts | null): Facts | null {
  if (!isPlain(plan, facts) || (plan.invoice !== null) !== (invoice !== null)) return null;
  const known = [...facts.openInvoices, ...[facts.charging, facts.latestInvoice].filter((each) => each !== null)];
  const all = invoice ? [...known, invoice] : known;
  const charging = all.find(({ id }) => id === next.chargingInvoiceId) ?? null;
  if (next.chargingInvoiceId !== null && charging === null) return null;
  if (!invoice) return { ...facts, charging };
  const openInvoices = isOwed(invoice.status) ? [...facts.openInvoices, invoice].sort(byPeriod) : facts.openInvoices;
  return { ...facts, openInvoices, charging, latestInvoice: latest(facts.latestInvoice, invoice) };
}

/** It changes the row and at most adds an invoice of the items alone. */
export function isPlain({ invoice, closed, charge, creditAtom, refunds, reminded, items, pending, dropped }: Plan, facts: Facts): boolean {
  const rows = [closed, refunds, reminded, items, pending, dropped];
  if (charge !== null || creditAtom !== 0 || rows.some((list) => list.length > 0)) return false;
  if (!invoice) return true;
  const { turnover, appliedBalanceAtom, creditedAtom, carried } = invoice;
  return facts.pending.length === 0 && turnover.length === 0 && appliedBalanceAtom === 0 && creditedAtom === 0 && !carried;
}

function latest(before: InvoiceFacts | null, invoice: InvoiceFacts): InvoiceFacts | null {
  if (!invoice.beginsPeriod || !invoice.finalizedAt) return before;
  return before && byPeriod(before, invoice) > 0 ? before : invoice;
}

function byPeriod(a: InvoiceFacts, b: InvoiceFacts): number {
  return a.periodStart.getTime() - b.periodStart.getTime() || (a.id < b.id ? -1 : 1);
}
