import type { InvoiceDraft } from '../invoice/invoice.draft.js';
import { enterPeriod, intoNextInterval, invoiceFor, type Facts } from './plan.js';
import { firstPeriod, intervalOf, isInTrial, periodFrom, type SubscriptionState } from './subscription.state.js';

const dayMs = 86_400_000;

/** The invoice that the end of the current trial or period will make; null where none follows. */
export function nextInvoice(before: SubscriptionState, facts: Facts): InvoiceDraft | null {
  const begins = before.billingStatus === 'scheduled' ? (before.trialEnd ?? before.initialStart) : before.currentPeriodEnd;
  const s = intoNextInterval(before, facts, begins);
  const isToStart = s.billingStatus === 'scheduled' && !s.trialEnd;
  if (s.status === 'cancelled' || s.status === 'paused' || (!isToStart && !goesOn(s))) return null;
  const at = s.billingStatus === 'scheduled' ? s.initialStart : s.currentPeriodEnd;
  const first = isInTrial(s) || s.billingStatus === 'scheduled';
  const start = s.billingStatus === 'scheduled' && s.trialEnd ? s.trialEnd : at;
  const period = first ? firstPeriod(s, start) : periodFrom(s.anchorAt, intervalOf(s), at);
  const draft = invoiceFor(enterPeriod(s, period), { ...facts, now: start }, period, first ? 'subscription_create' : 'upcoming');
  return { ...draft, billingReason: 'upcoming' };
}

/** When the renewal at the period's end is announced; null: not, or no more. A period shorter than the notice has none. */
export function upcomingAt(s: SubscriptionState): Date | null {
  if (s.status !== 'active' || s.upcomingDays === 0 || s.billingStatus === 'unpaid' || !goesOn(s)) return null;
  if (s.upcomingSentFor?.getTime() === s.currentPeriodEnd.getTime()) return null;
  const at = new Date(s.currentPeriodEnd.getTime() - s.upcomingDays * dayMs);
  return at > s.currentPeriodStart ? at : null;
}

/** A period follows the current one by itself. */
function goesOn(s: SubscriptionState): boolean {
  const last = s.totalBillingCycles !== null && s.completedCycles >= s.totalBillingCycles;
  return !s.cancelAtEnd && !s.pauseAtEnd && !last;
}
