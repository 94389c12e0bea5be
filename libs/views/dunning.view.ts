import { incompleteEndsAt, dunningEndsAt, policyOf } from '../domain/subscription/dunning.js';
import type { DunningPolicy } from '../domain/subscription/dunning-policy.js';
import type { Dunning, SubscriptionState } from '../domain/subscription/subscription.state.js';

/** The run that is under way. `ends_at`: when `final_action` follows, unless it is paid before. */
export function dunningView(row: SubscriptionState, dunning: Dunning) {
  const first = row.billingStatus === 'incomplete';
  return {
    started_at: dunning.startedAt,
    failures: dunning.failures,
    next_attempt_at: row.chargeAt?.toISOString() ?? null,
    blocked: dunning.blocked,
    ends_at: (first ? incompleteEndsAt(row) : dunningEndsAt(dunning)).toISOString(),
    final_action: first ? 'cancel' : policyOf(dunning).finalAction,
  };
}

/** Whole hours: retries and end from the first failure, reminders from the due date. */
export function dunningPolicyView(policy: DunningPolicy) {
  return {
    retry_hours: policy.retryHours,
    ends_after_hours: policy.endsAfterHours,
    final_action: policy.finalAction,
    reminder_hours: policy.reminderHours,
  };
}
