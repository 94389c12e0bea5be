import { chargesAutomatically, enterPeriod, intoNextInterval, invoiceFor, plan, type Facts, type Plan } from './plan.js';
import { settlePending } from './settle-pending.js';
import { moved } from './subscription.machine.js';
import { firstPeriod, resumptionAfter, type SubscriptionState } from './subscription.state.js';

/** The scheduled start has come: the trial begins, or without one the first period. */
export function planStart(s: SubscriptionState, facts: Facts): Plan {
  if (s.trialEnd && s.trialEnd > s.initialStart) {
    const next: SubscriptionState = { ...s, billingStatus: 'current', currentPeriodStart: s.initialStart, currentPeriodEnd: s.trialEnd };
    return plan(moved(s, 'start', next), ['trialing']);
  }
  const started = moved(s, 'start', { ...s, billingStatus: 'incomplete' });
  return planFirstPeriod(started, facts, s.initialStart);
}

/** The trial is over: the first paid period begins, whenever its money arrives. */
export function planTrialEnd(s: SubscriptionState, facts: Facts): Plan {
  const end = s.currentPeriodEnd;
  if (s.cancelAtEnd) {
    return plan(moved(s, 'cancel_at_end_reached', cancelledState(s, facts.now)), ['canceled'], settlePending(s, facts, { unusedSeconds: 0, forgives: false }));
  }
  if (s.pauseAtEnd) return planPauseAtEnd(s);
  const first = planFirstPeriod(s, facts, end);
  const owed = (first.invoice?.dueAtom ?? 0) > 0;
  if (!owed || !chargesAutomatically(s) || facts.paymentMethodId) return first;
  if (s.missingPaymentMethod === 'cancel') {
    const pending = settlePending(s, facts, { unusedSeconds: 0, forgives: true });
    return plan(moved(s, 'trial_without_method', cancelledState(s, facts.now)), ['canceled'], pending);
  }
  const paused: SubscriptionState = {
    ...s,
    status: 'paused',
    billingStatus: 'incomplete',
    pausedAt: facts.now,
    keptTime: { from: 'trialing', seconds: null },
  };
  return plan(moved(s, 'trial_without_method', paused), ['paused']);
}

function planFirstPeriod(before: SubscriptionState, facts: Facts, from: Date): Plan {
  const s = intoNextInterval(before, facts, from);
  const period = firstPeriod(s, from);
  const entered = enterPeriod(s, period);
  const invoice = invoiceFor(s, facts, period, 'subscription_create');
  if (invoice.status === 'paid') {
    const next = moved(s, 'first_paid', { ...entered, status: 'active', billingStatus: 'current' });
    return plan(next, ['activated'], { invoice });
  }
  if (!chargesAutomatically(s)) {
    const next = moved(s, 'finalise_by_invoice', { ...entered, status: 'active', billingStatus: 'current', chargeAt: invoice.dueDate });
    return plan(next, ['activated'], { invoice });
  }
  return plan({ ...entered, chargeAt: facts.now }, ['updated'], { invoice });
}

/** A pause for cycles begins: no time is kept, the anchor stays. */
export function planPauseAtEnd(s: SubscriptionState): Plan {
  const next: SubscriptionState = {
    ...s,
    status: 'paused',
    pauseAtEnd: false,
    pausedAt: s.currentPeriodEnd,
    resumesAt: resumptionAfter(s, s.pauseForCycles ?? 1),
    keptTime: { from: s.status === 'trialing' ? 'trialing' : 'active', seconds: null },
  };
  return plan(moved(s, 'pause_at_end_reached', next), ['paused']);
}

export function cancelledState(s: SubscriptionState, at: Date): SubscriptionState {
  return {
    ...s,
    status: 'cancelled',
    billingStatus: null,
    cancelledAt: at,
    cancelAtEnd: s.cancelAtEnd,
    pauseAtEnd: false,
    resumesAt: null,
    resuming: false,
    dunning: null,
    chargeAt: null,
  };
}
