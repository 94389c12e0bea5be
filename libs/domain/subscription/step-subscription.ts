import { secondsBetween } from '../period/period.js';
import { cancelledState, planPauseAtEnd, planStart, planTrialEnd } from './begin-subscription.js';
import { chargePaceMs, missedPeriodsAllowed } from './dunning.js';
import { chargesAutomatically, enterPeriod, intoNextInterval, invoiceFor, plan, type Facts, type Plan } from './plan.js';
import { nextInvoice } from './next-invoice.js';
import { planRemind, planReminders } from './remind.js';
import { planResume } from './resume-subscription.js';
import { settlePending } from './settle-pending.js';
import { planDunningEnd, planFailed, planPaidElsewhere, planSettlement } from './settle-subscription.js';
import { moved } from './subscription.machine.js';
import { nextDue, type Due } from './subscription.schedule.js';
import { intervalOf, isLastCycle, periodFrom, type SubscriptionState } from './subscription.state.js';

const punctualMs = 3_600_000;

/** The next fact that time, a payment or a new method has brought about; null when there is none. One call, one fact. */
export function planStep(s: SubscriptionState, facts: Facts): Plan | null {
  const settled = planSettlement(s, facts) ?? planPaidElsewhere(s, facts) ?? planNewMethod(s, facts) ?? planReminders(s, facts);
  if (settled) return settled;
  const due = nextDue(s);
  return due && due.at <= facts.now ? planDue(s, due, facts) : null;
}

function planDue(s: SubscriptionState, due: Due, facts: Facts): Plan {
  switch (due.kind) {
    case 'start':
      return planStart(s, facts);
    case 'trial_will_end':
      return plan({ ...s, trialWillEndSentAt: facts.now }, ['trial_will_end'], { emails: [{ kind: 'trial_ending', invoiceId: null }] });
    case 'trial_end':
      return planTrialEnd(s, facts);
    case 'upcoming':
      return planUpcoming(s, facts);
    case 'remind':
      return planRemind(s, facts);
    case 'renew':
      return planPeriodEnd(s, facts);
    case 'charge':
      return planCharge(s, facts);
    case 'expire':
      return held(s, facts) ?? planExpire(s, facts);
    case 'dunning_end':
      return held(s, facts) ?? planDunningEnd(s, facts);
    case 'resume':
      return planResume(s, { automatic: true, proration: 'create_prorations' }, facts);
  }
}

/** Announced once per period; not where the account switched it off meanwhile, nor where the renewal is due already. */
function planUpcoming(s: SubscriptionState, facts: Facts): Plan {
  const told: SubscriptionState = { ...s, upcomingSentFor: s.currentPeriodEnd };
  const late = facts.rules.upcomingDays === 0 || facts.now >= s.currentPeriodEnd;
  return plan(told, [], { upcoming: late ? null : nextInvoice(s, facts) });
}

/** A payment somebody else began is unresolved: wait for it like for one of our own. */
function held(s: SubscriptionState, facts: Facts): Plan | null {
  const unresolved = facts.openInvoices.find((invoice) => invoice.payment === 'unresolved');
  return unresolved ? plan({ ...s, chargingInvoiceId: unresolved.id, chargeAt: null }) : null;
}

function planExpire(s: SubscriptionState, facts: Facts): Plan {
  const closed = facts.openInvoices.map((invoice) => ({ invoiceId: invoice.id, as: 'void' as const }));
  const pending = settlePending(s, facts, { unusedSeconds: 0, forgives: true });
  return plan(moved(s, 'expire', cancelledState(s, facts.now)), ['canceled'], { closed, ...pending });
}

function planPeriodEnd(s: SubscriptionState, facts: Facts): Plan {
  if (s.cancelAtEnd || isLastCycle(s)) {
    const pending = settlePending(s, facts, { unusedSeconds: 0, forgives: false });
    return held(s, facts) ?? plan(moved(s, 'cancel_at_end_reached', cancelledState(s, facts.now)), ['canceled'], pending);
  }
  if (s.pauseAtEnd) return held(s, facts) ?? planPauseAtEnd(s);
  return planRenewal(s, facts);
}

/** The next period begins on time; its charge follows after the jitter, or when older invoices are paid. */
export function planRenewal(before: SubscriptionState, facts: Facts): Plan {
  const s = intoNextInterval(before, facts, before.currentPeriodEnd);
  const period = periodFrom(s.anchorAt, intervalOf(s), s.currentPeriodEnd);
  const entered = enterPeriod(s, period);
  const invoice = invoiceFor(s, facts, period, 'subscription_cycle');
  const missed = Math.floor(secondsBetween(s.currentPeriodEnd, facts.now) / Math.max(1, period.wholeSeconds));
  const attention = missed > missedPeriodsAllowed ? `${missed} periods were missed; each is invoiced, one is charged a day.` : null;
  const next: SubscriptionState = { ...entered, chargeAt: chargeAfterRenewal(s, facts, invoice), upcomingDays: facts.rules.upcomingDays };
  return plan(moved(s, 'renew', next), ['updated'], { invoice, attention });
}

function chargeAfterRenewal(s: SubscriptionState, facts: Facts, invoice: { status: string; dueDate: Date }): Date | null {
  const waits = s.dunning !== null || s.chargingInvoiceId !== null || s.billingStatus === 'unpaid' || facts.openInvoices.length > 0;
  if (waits || invoice.status !== 'open') return s.chargeAt;
  if (!chargesAutomatically(s)) return invoice.dueDate;
  const at = s.currentPeriodEnd.getTime() + facts.jitterSeconds * 1000;
  const late = facts.now.getTime() - s.currentPeriodEnd.getTime() > punctualMs;
  const paced = late && s.lastChargeAt ? Math.max(at, s.lastChargeAt.getTime() + chargePaceMs) : at;
  return new Date(paced);
}

function planCharge(s: SubscriptionState, facts: Facts): Plan {
  const waiting: SubscriptionState = { ...s, chargeAt: null };
  const oldest = facts.openInvoices[0];
  if (!oldest) return plan(waiting);
  const failed = (why: 'send_invoice' | 'no_payment_method', message: string) => ({
    // No method was asked, so whichever comes next is asked at once, also the one that was there before.
    ...planFailed({ ...waiting, chargedMethodId: null }, why, facts),
    closed: [{ invoiceId: oldest.id, as: 'past_due' as const, message }],
  });
  if (!chargesAutomatically(s) && oldest.dueDate > facts.now) return plan({ ...s, chargeAt: oldest.dueDate });
  if (!chargesAutomatically(s)) return failed('send_invoice', 'The due date has passed.');
  if (oldest.payment === 'unresolved') return plan({ ...waiting, chargingInvoiceId: oldest.id });
  if (!facts.paymentMethodId) return failed('no_payment_method', 'There is no payment method.');
  const next: SubscriptionState = {
    ...waiting,
    chargingInvoiceId: oldest.id,
    chargedMethodId: facts.paymentMethodId,
    lastChargeAt: facts.now,
  };
  return plan(next, [], { charge: { invoiceId: oldest.id, paymentMethodId: facts.paymentMethodId } });
}

/** Another method than the one that failed: the money is asked for at once. */
function planNewMethod(s: SubscriptionState, facts: Facts): Plan | null {
  const idle = s.chargingInvoiceId === null && chargesAutomatically(s) && !(s.chargeAt && s.chargeAt <= facts.now);
  if (!idle || !facts.paymentMethodId || facts.paymentMethodId === s.chargedMethodId) return null;
  const dunned = s.status !== 'paused' && s.dunning !== null && s.status !== 'cancelled';
  if (dunned && facts.openInvoices.length === 0) return plan({ ...s, chargedMethodId: facts.paymentMethodId });
  if (dunned) {
    const again: SubscriptionState = { ...s, chargeAt: facts.now, dunning: { ...s.dunning!, blocked: null } };
    return plan(again, s.billingStatus === 'past_due' ? ['dunning_retry_scheduled'] : []);
  }
  if (s.status !== 'paused' || !s.resuming) return null;
  return planResume(s, { automatic: false, proration: 'create_prorations' }, facts);
}
