import type { FallbackClass, FallbackPolicy } from '../route/route.document.js';
import { mayBeRetriedNow } from './decline-class.js';
import type { RetryAdvice } from './network-advice.js';
import type { OutcomeClass } from './outcome.js';
import type { ChargeStatus } from './payment-status.js';

/** Whether the same payment may be tried at another connection. */
export type ElsewhereRule =
  | 'never'
  /** The route's policy decides. */
  | 'by_policy'
  /** By policy, and only after the processor confirmed that this attempt is cancelled. */
  | 'after_confirmed_cancel';

interface ClassRule {
  /** What the attempt shows as. */
  charge: ChargeStatus;
  elsewhere: ElsewhereRule;
  /** What an unattended payment does with it later: retry by dunning, wait for another method or for the customer. */
  later: 'nothing' | 'resolve' | 'dunning' | 'new_method' | 'customer';
}

/** What may follow each outcome class. */
export const outcomeRules: Record<OutcomeClass, ClassRule> = {
  approved: { charge: 'succeeded', elsewhere: 'never', later: 'nothing' },
  pending: { charge: 'pending', elsewhere: 'never', later: 'resolve' },
  action_required: { charge: 'pending', elsewhere: 'after_confirmed_cancel', later: 'customer' },
  soft_decline: { charge: 'failed', elsewhere: 'by_policy', later: 'dunning' },
  insufficient_funds: { charge: 'failed', elsewhere: 'never', later: 'dunning' },
  hard_decline: { charge: 'failed', elsewhere: 'never', later: 'new_method' },
  authentication_required: { charge: 'failed', elsewhere: 'never', later: 'customer' },
  risk_refused: { charge: 'failed', elsewhere: 'never', later: 'nothing' },
  partial_approval: { charge: 'failed', elsewhere: 'after_confirmed_cancel', later: 'dunning' },
  not_sent: { charge: 'failed', elsewhere: 'by_policy', later: 'dunning' },
  processor_error: { charge: 'failed', elsewhere: 'by_policy', later: 'dunning' },
  mismatch: { charge: 'pending', elsewhere: 'never', later: 'nothing' },
  unknown: { charge: 'pending', elsewhere: 'never', later: 'resolve' },
};

export interface LastAttempt {
  outcomeClass: OutcomeClass;
  declineCode?: string | null;
  retryAdvice?: RetryAdvice | null;
}

/** Whether the route lets another connection be tried after `attempts` attempts, the last of which ended like this. */
export function mayTryElsewhere(last: LastAttempt, policy: FallbackPolicy, attempts: number): boolean {
  if (outcomeRules[last.outcomeClass].elsewhere === 'never' || attempts >= policy.max_attempts) return false;
  if (last.retryAdvice === 'never' || !mayBeRetriedNow(last.declineCode)) return false;
  return policy.on.includes(last.outcomeClass as FallbackClass);
}
