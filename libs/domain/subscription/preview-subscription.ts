import type { InvoiceDraft } from '../invoice/invoice.draft.js';
import { enterPeriod, invoiceFor, type Facts, type InvoiceFacts, type Plan } from './plan.js';
import { planStep } from './step-subscription.js';
import { firstPeriod, intervalOf, isInTrial, periodFrom, type SubscriptionState } from './subscription.state.js';

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

/** The invoice that the end of the current trial or period will make; null where none follows. */
export function nextInvoice(s: SubscriptionState, facts: Facts): InvoiceDraft | null {
  const last = s.totalBillingCycles !== null && s.completedCycles >= s.totalBillingCycles;
  if (s.status === 'cancelled' || s.status === 'paused' || s.cancelAtEnd || s.pauseAtEnd || last) return null;
  const at = s.billingStatus === 'scheduled' ? s.initialStart : s.currentPeriodEnd;
  const first = isInTrial(s) || s.billingStatus === 'scheduled';
  const start = s.billingStatus === 'scheduled' && s.trialEnd ? s.trialEnd : at;
  const period = first ? firstPeriod(s, start) : periodFrom(s.anchorAt, intervalOf(s), at);
  const draft = invoiceFor(enterPeriod(s, period), { ...facts, now: start }, period, first ? 'subscription_create' : 'upcoming');
  return { ...draft, billingReason: 'upcoming' };
}
