import type { Facts, Plan } from './plan.js';
import { planStep } from './step-subscription.js';
import { nextDue } from './subscription.schedule.js';
import type { SubscriptionState } from './subscription.state.js';

/**
 * What a test clock makes happen next: what `facts.now` has brought about, else what is due next, at its own time and at most at
 * `until`. Time does not go on while a payment has no outcome. Null when nothing happens before `until`.
 */
export function planStepUntil(s: SubscriptionState, facts: Facts, until: Date): { plan: Plan; facts: Facts } | null {
  const now = planStep(s, facts);
  if (now) return { plan: now, facts };
  const due = s.chargingInvoiceId === null ? nextDue(s) : null;
  if (!due || due.at > until) return null;
  const then = { ...facts, now: due.at };
  const plan = planStep(s, then);
  return plan && { plan, facts: then };
}
