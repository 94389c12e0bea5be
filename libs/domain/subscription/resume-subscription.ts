import { DomainError } from '../../errors/domain-error.js';
import { addSeconds, secondsBetween, startOfSecond } from '../period/period.js';
import { blockOf, shiftDunning } from './dunning.js';
import { chargesAutomatically, enterPeriod, intoNextInterval, invoiceFor, plan, type Facts, type InvoiceFacts, type Plan } from './plan.js';
import { assertMayMove, moved } from './subscription.machine.js';
import { hasFixedAnchor, intervalOf, isInTrial, periodFrom, type BilledPeriod, type SubscriptionState } from './subscription.state.js';

export interface ResumeInput {
  /** By its own date: it begins at that date, and without a method it waits instead of being refused. */
  automatic: boolean;
  /** `none`: the rest of a running cycle is free. */
  proration: 'create_prorations' | 'none';
}

/** Back to what it was with the time it kept, or to a new period that must be paid first. */
export function planResume(s: SubscriptionState, input: ResumeInput, facts: Facts): Plan {
  assertMayMove(s, 'resume');
  const at = input.automatic && s.resumesAt ? s.resumesAt : facts.now;
  if (s.keptTime?.owed && facts.openInvoices.length > 0) return planCollect(s, input, facts);
  if (s.keptTime && s.keptTime.seconds !== null) return plan(moved(s, 'resume', resumedState(s, at)), ['resumed']);
  return planNewPeriod(s, input, { ...facts, now: at });
}

/** The kept seconds run again from `at`: period end and anchor move there, a suspended dunning run goes on. */
export function resumedState(s: SubscriptionState, at: Date): SubscriptionState {
  const end = addSeconds(at, s.keptTime?.seconds ?? 0);
  const pausedMs = at.getTime() - (s.pausedAt ?? at).getTime();
  const running: SubscriptionState = {
    ...s,
    status: s.keptTime?.from ?? 'active',
    pausedAt: null,
    resumesAt: null,
    keptTime: null,
    resuming: false,
    dunning: s.dunning && shiftDunning(s.dunning, pausedMs),
    chargeAt: s.dunning && s.chargeAt ? new Date(s.chargeAt.getTime() + pausedMs) : s.chargeAt,
  };
  if (s.billingStatus === 'scheduled') return { ...running, ...rescheduled(s, end) };
  return { ...running, currentPeriodEnd: end, anchorAt: end, periodIndex: -1, trialEnd: isInTrial(s) ? end : s.trialEnd };
}

function rescheduled(s: SubscriptionState, start: Date): Partial<SubscriptionState> {
  const shift = start.getTime() - s.initialStart.getTime();
  const later = (date: Date) => new Date(date.getTime() + shift);
  const trialEnd = s.trialEnd && later(s.trialEnd);
  const end = trialEnd ?? periodFrom(start, intervalOf(s), start).end;
  return {
    initialStart: start,
    startsAt: start,
    trialStart: s.trialStart && start,
    trialEnd,
    anchorAt: trialEnd ?? start,
    currentPeriodStart: start,
    currentPeriodEnd: end,
  };
}

/** Paused by dunning: its open invoices first. Collected by invoice it waits for the customer: nothing is charged, no method is needed. */
function planCollect(s: SubscriptionState, input: ResumeInput, facts: Facts): Plan {
  if (!chargesAutomatically(s)) return plan(moved(s, 'resume', { ...s, resuming: true, resumesAt: null }), ['updated']);
  if (!mayCharge(s, input, facts)) return planWithoutMethod(s, input, facts);
  return plan(moved(s, 'resume', { ...s, resuming: true, resumesAt: null, chargeAt: facts.now }), ['updated']);
}

/** A period that an earlier try to resume has begun goes on while it lasts; once over it is void, as it passed in the pause. */
function planNewPeriod(paused: SubscriptionState, input: ResumeInput, facts: Facts): Plan {
  const begun = hasBegunResuming(paused) ? facts.openInvoices.find((open) => open.periodStart >= paused.currentPeriodStart) : undefined;
  if (begun ? isRunning(begun, facts) : isSettledBegun(paused, facts)) return planCollect(paused, input, facts);
  const s = intoNextInterval(begun ? { ...paused, completedCycles: paused.completedCycles - 1 } : paused, facts, facts.now);
  const period = resumedPeriod(s, input, facts.now);
  const reason = s.completedCycles === 0 ? 'subscription_create' : 'subscription_cycle';
  const invoice = invoiceFor(s, facts, period, reason);
  const closed = begun ? [{ invoiceId: begun.id, as: 'void' as const }] : [];
  const older = facts.openInvoices.find((open) => open.id !== begun?.id);
  if (invoice.status === 'paid' && !older) {
    return plan(moved(s, 'resume', activeAgain(enterPeriod(s, period))), resumedEvents(s), { invoice, closed });
  }
  if (!chargesAutomatically(s)) {
    const next = moved(s, 'resume', { ...activeAgain(enterPeriod(s, period)), chargeAt: (older ?? invoice).dueDate });
    return plan(next, resumedEvents(s), { invoice, closed });
  }
  if (!mayCharge(s, input, facts)) return planWithoutMethod(paused, input, facts);
  const waiting: SubscriptionState = { ...enterPeriod(s, period), resuming: true, resumesAt: null, chargeAt: facts.now };
  return plan(moved(s, 'resume', waiting), ['updated'], { invoice, closed });
}

/** The new period has begun and waits for its money. */
export function hasBegunResuming(s: SubscriptionState): boolean {
  return s.resuming && s.pausedAt !== null && s.currentPeriodStart >= s.pausedAt;
}

function isRunning(begun: InvoiceFacts, facts: Facts): boolean {
  return begun.periodEnd > facts.now || begun.payment === 'unresolved';
}

/** Nothing is owed for the new period, but for older ones: it stands if it is paid, or still lasts. */
function isSettledBegun(s: SubscriptionState, facts: Facts): boolean {
  if (!hasBegunResuming(s) || facts.openInvoices.length === 0) return false;
  const latest = facts.latestInvoice;
  const paid = latest?.status === 'paid' && latest.periodStart.getTime() === s.currentPeriodStart.getTime();
  return paid || s.currentPeriodEnd > facts.now;
}

/** An automatic resume is an unattended try: not with a method that was refused for good. */
function mayCharge(s: SubscriptionState, input: ResumeInput, facts: Facts): boolean {
  if (!facts.paymentMethodId) return false;
  if (!input.automatic || facts.paymentMethodId !== s.chargedMethodId) return true;
  const blocks = [s.dunning?.blocked, ...facts.openInvoices.map(({ failure }) => blockOf(failure))];
  return !blocks.some((block) => block === 'hard_decline' || block === 'risk_refused' || block === 'authentication_required');
}

function resumedPeriod(s: SubscriptionState, input: ResumeInput, at: Date): BilledPeriod {
  const neverPaid = s.billingStatus === 'incomplete' && !hasFixedAnchor(s);
  const anchor = neverPaid ? at : isInTrial(s) && !hasFixedAnchor(s) ? s.currentPeriodEnd : s.anchorAt;
  const period = periodFrom(anchor, intervalOf(s), at);
  const partial = period.billedSeconds < period.wholeSeconds;
  return partial && input.proration === 'none' ? { ...period, billedSeconds: 0 } : period;
}

function planWithoutMethod(s: SubscriptionState, input: ResumeInput, facts: Facts): Plan {
  if (!input.automatic) throw new DomainError('payment_method_required_to_resume', undefined, { extra: { code: 'payment_method_required' } });
  const next: SubscriptionState = { ...s, resuming: true, resumesAt: null, chargeAt: null, chargedMethodId: facts.paymentMethodId };
  return plan(moved(s, 'resume', next), ['resume_failed']);
}

/** The money of a resume has arrived. */
export function planResumePaid(s: SubscriptionState, facts: Facts): Plan {
  const restored = s.keptTime?.owed ? { ...resumedState(s, facts.now), status: 'active' as const } : fromPayment(s, facts.now);
  return plan(moved(s, 'resume_paid', activeAgain(restored)), resumedEvents(s));
}

/** A period that was over before its money came begins with the money, as long as it was. */
function fromPayment(s: SubscriptionState, now: Date): SubscriptionState {
  if (s.currentPeriodEnd > now) return s;
  const start = startOfSecond(now);
  const end = addSeconds(start, secondsBetween(s.currentPeriodStart, s.currentPeriodEnd));
  return { ...s, currentPeriodStart: start, currentPeriodEnd: end, anchorAt: end, periodIndex: -1 };
}

function activeAgain(s: SubscriptionState): SubscriptionState {
  return {
    ...s,
    status: 'active',
    billingStatus: 'current',
    pausedAt: null,
    resumesAt: null,
    keptTime: null,
    resuming: false,
    dunning: null,
    chargeAt: null,
    pauseForCycles: null,
  };
}

function resumedEvents(s: SubscriptionState): Plan['events'] {
  return s.keptTime?.from === 'trialing' ? ['resumed', 'activated'] : ['resumed'];
}
