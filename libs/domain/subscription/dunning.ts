import type { OutcomeClass } from '../payment/outcome.js';
import type { Dunning, DunningBlock } from './subscription.state.js';

const hour = 3_600_000;
const day = 24 * hour;

/** After the first failure; the last retry is also the end of the run. */
export const retryOffsetsMs: readonly number[] = [6 * hour, day, 3 * day, 5 * day, 7 * day, 10 * day, 14 * day];
export const dunningLastsMs = 14 * day;

/** The first payment of a subscription without a trial: one retry, then the end. */
export const incompleteRetryMs = 6 * hour;
export const incompleteLastsMs = 23 * hour;

export const trialWillEndMs = 3 * day;
/** After downtime, the least time between two unattended charges of one subscription. */
export const chargePaceMs = day;
/** More missed periods than this need a person. */
export const missedPeriodsAllowed = 3;

/** What a failed payment means for the next unattended try; null: retry by the schedule. */
export function blockOf(failure: OutcomeClass | 'no_payment_method' | 'send_invoice' | null): DunningBlock | null {
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

/** The next scheduled retry after `now`; null when the schedule is exhausted. */
export function nextRetry(dunning: Dunning, now: Date): Date | null {
  const start = Date.parse(dunning.startedAt);
  const offset = retryOffsetsMs.find((ms) => start + ms > now.getTime());
  return offset === undefined ? null : new Date(start + offset);
}

export function dunningEndsAt(dunning: Dunning): Date {
  return new Date(Date.parse(dunning.startedAt) + dunningLastsMs);
}

/** A suspended run goes on where it stood. */
export function shiftDunning(dunning: Dunning, ms: number): Dunning {
  return { ...dunning, startedAt: new Date(Date.parse(dunning.startedAt) + ms).toISOString() };
}
