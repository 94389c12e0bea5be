import type { Facts, InvoiceFacts, Plan } from './plan.js';
import { planStep } from './step-subscription.js';
import type { SubscriptionState } from './subscription.state.js';

/** Where the plan leads if the payment that it begins is taken at once. */
export function assumePaid({ next, invoice }: Plan, facts: Facts): SubscriptionState {
  if (!invoice || invoice.status !== 'open' || !next.chargeAt || next.chargeAt > facts.now) return next;
  const paid: InvoiceFacts = {
    id: 'preview',
    status: 'paid',
    periodStart: invoice.periodStart,
    periodEnd: invoice.periodEnd,
    dueDate: invoice.dueDate,
    totalAtom: invoice.totalAtom,
    dueAtom: invoice.dueAtom,
    paidAtom: invoice.dueAtom,
    refundedAtom: 0,
    payment: 'succeeded',
    failure: null,
  };
  return planStep(next, { ...facts, openInvoices: [], charging: null, latestInvoice: paid })?.next ?? next;
}
