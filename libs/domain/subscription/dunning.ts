import type { OutcomeClass } from '../payment/outcome.js';
import type { EmailWish } from '../email/email.js';
import { defaultDunningPolicy, retryOffsetsMs, runLastsMs, type DunningPolicy } from './dunning-policy.js';
import type { Facts } from './plan.js';
import type { Dunning, DunningBlock, SubscriptionState } from './subscription.state.js';

const hour = 3_600_000;
const day = 24 * hour;

/** The first payment of a subscription without a trial: one retry, then the end. */
export const incompleteRetryMs = 6 * hour;
export const incompleteLastsMs = 23 * hour;

export const trialWillEndMs = 3 * day;
/** Days before a renewal at which it is announced, where the account says nothing. */
export const defaultUpcomingDays = 3;
/** After downtime, the least time between two unattended charges of one subscription. */
export const chargePaceMs = day;
/** More missed periods than this need a person. */
export const missedPeriodsAllowed = 3;

export type Failure = OutcomeClass | 'no_payment_method' | 'send_invoice' | null;

/** What a failed payment means for the next unattended try; null: retry by the schedule. */
export function blockOf(failure: Failure): DunningBlock | null {
  switch (failure) {
    case 'hard_decline':
    case 'risk_refused':
    case 'no_payment_method':
    case 'send_invoice':
      return failure;
    case 'authentication_required':
    case 'action_required':
      return 'authentication_required';
    default:
      return null;
  }
}

/** The run's own policy; before a run the subscription's, else the account's. */
export function policyInForce(s: SubscriptionState, facts: Pick<Facts, 'rules'>): DunningPolicy {
  return s.dunning?.policy ?? s.dunningPolicy ?? facts.rules.dunningPolicy;
}

/** Runs that began before policies could be chosen keep the default. */
export function policyOf(dunning: Dunning): DunningPolicy {
  return dunning.policy ?? defaultDunningPolicy;
}

/** The next scheduled retry after `now`; null when the schedule is exhausted. */
export function nextRetry(dunning: Dunning, now: Date): Date | null {
  const start = Date.parse(dunning.startedAt);
  const offset = retryOffsetsMs(policyOf(dunning)).find((ms) => start + ms > now.getTime());
  return offset === undefined ? null : new Date(start + offset);
}

export function dunningEndsAt(dunning: Dunning): Date {
  return new Date(Date.parse(dunning.startedAt) + runLastsMs(policyOf(dunning)));
}

/** A suspended run goes on where it stood. */
export function shiftDunning(dunning: Dunning, ms: number): Dunning {
  return { ...dunning, startedAt: new Date(Date.parse(dunning.startedAt) + ms).toISOString() };
}

/** What the customer is told of a failed unattended payment; of an overdue invoice the reminders tell. */
export function failureEmails(failure: Failure, facts: Facts): EmailWish[] {
  const invoiceId = facts.charging?.id ?? facts.openInvoices[0]?.id ?? null;
  if (failure === 'send_invoice' || invoiceId === null) return [];
  return [{ kind: blockOf(failure) === 'authentication_required' ? 'action_needed' : 'payment_failed', invoiceId }];
}

/** Reminders are sent while the customer is asked to pay an invoice themselves. */
export function mayRemind(s: SubscriptionState): boolean {
  return s.collectionMethod === 'send_invoice' && s.status === 'active' && s.billingStatus !== 'unpaid';
}

/** The limit of a first payment that was not made; no policy moves it. */
export function incompleteEndsAt(s: Pick<SubscriptionState, 'initialStart'>): Date {
  return new Date(s.initialStart.getTime() + incompleteLastsMs);
}
