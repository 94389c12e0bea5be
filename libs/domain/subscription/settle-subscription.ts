import { cancelledState } from './begin-subscription.js';
import { moneyBack } from './cancel-subscription.js';
import { blockOf, chargePaceMs, dunningEndsAt, failureEmails, incompleteRetryMs, nextRetry, policyInForce, policyOf, type Failure } from './dunning.js';
import { chargesAutomatically, plan, type Facts, type InvoiceFacts, type Plan, type SubscriptionEvent } from './plan.js';
import { hasBegunResuming, planResumePaid } from './resume-subscription.js';
import { settlePending } from './settle-pending.js';
import { moved, type Move } from './subscription.machine.js';
import { wasScheduled, type Dunning, type DunningBlock, type SubscriptionState } from './subscription.state.js';

/** The outcome of the payment that was begun, once it is known; null while it is not. */
export function planSettlement(s: SubscriptionState, facts: Facts): Plan | null {
  const invoice = facts.charging;
  if (!invoice || invoice.payment === 'unresolved') return null;
  const settled: SubscriptionState = { ...s, chargingInvoiceId: null };
  if (s.status === 'cancelled') return planAfterCancel(settled, invoice, facts);
  if (invoice.status === 'paid') return planPaid(settled, facts);
  if (invoice.status === 'void') return s.status === 'trialing' || s.resuming ? plan(settled) : planPaid(settled, facts);
  if (!chargesAutomatically(s)) return plan({ ...settled, chargeAt: facts.openInvoices[0]?.dueDate ?? null });
  return planFailed(settled, invoice.failure, facts);
}

/** Paid by hand, out of band, or voided, while nothing was begun here; null when money is still owed or never was. */
export function planPaidElsewhere(s: SubscriptionState, facts: Facts): Plan | null {
  if (s.chargingInvoiceId !== null || s.status === 'cancelled') return null;
  if (facts.openInvoices.length > 0) return planOverduePaid(s, facts);
  if (s.billingStatus === 'past_due' || s.billingStatus === 'unpaid') return planPaid(s, facts);
  const latest = facts.latestInvoice;
  if (latest?.status !== 'paid' || latest.periodStart.getTime() !== s.currentPeriodStart.getTime()) return null;
  const awaited = s.resuming ? latest.periodStart >= (s.pausedAt ?? latest.periodStart) : s.status === 'trialing' && s.billingStatus !== 'scheduled';
  return awaited ? planPaid(s, facts) : null;
}

/** Collected by invoice: what was overdue is paid, so dunning waits until the next invoice is overdue. */
function planOverduePaid(s: SubscriptionState, facts: Facts): Plan | null {
  const dueDate = facts.openInvoices[0]?.dueDate;
  if (chargesAutomatically(s) || s.status !== 'active' || !s.dunning || !dueDate || dueDate <= facts.now) return null;
  return plan({ ...s, dunning: null, chargeAt: dueDate }, ['dunning_recovered']);
}

function planPaid(s: SubscriptionState, facts: Facts): Plan {
  const owed = facts.openInvoices[0];
  if (owed) return plan({ ...s, chargeAt: chargesAutomatically(s) ? nextCharge(s, owed, facts.now) : owed.dueDate });
  if (s.status === 'paused') return isResumePaid(s) ? planResumePaid(s, facts) : planPaidWhilePaused(s);
  const first = s.status === 'trialing';
  if (!first && s.billingStatus === 'current') return plan(s);
  const next: SubscriptionState = { ...s, status: 'active', billingStatus: 'current', dunning: null, chargeAt: null };
  if (first) return plan(moved(s, 'first_paid', next), ['activated']);
  return plan(moved(s, 'all_paid', next), [...recovered(s), 'updated']);
}

function recovered(s: SubscriptionState): SubscriptionEvent[] {
  return s.dunning && s.billingStatus === 'past_due' ? ['dunning_recovered'] : [];
}

/** Not by what was owed before a pause at the period's end: there a new period must be paid. */
function isResumePaid(s: SubscriptionState): boolean {
  return s.resuming && (s.keptTime?.owed === true || hasBegunResuming(s));
}

/** Other invoices are owed: in dunning, and for a change that is charged now, at once; after downtime one in 24 hours. */
function nextCharge(s: SubscriptionState, owed: InvoiceFacts, now: Date): Date {
  if (s.dunning || s.resuming || !s.lastChargeAt || owed.billingReason === 'subscription_update') return now;
  return new Date(Math.max(now.getTime(), s.lastChargeAt.getTime() + chargePaceMs));
}

function planPaidWhilePaused(s: SubscriptionState): Plan {
  const keptTime = s.keptTime && { ...s.keptTime, from: 'active' as const, owed: false };
  if (s.billingStatus === 'incomplete') return plan(s);
  const next: SubscriptionState = { ...s, billingStatus: 'current', dunning: null, chargeAt: null, keptTime };
  return plan(moved(s, 'paid_while_paused', next), s.billingStatus === 'current' ? [] : [...recovered(s), 'updated']);
}

/** A charge failed, could not begin, or its due date passed. */
export function planFailed(s: SubscriptionState, failure: Failure, facts: Facts): Plan {
  const { now } = facts;
  if (s.billingStatus === 'unpaid') return plan(s);
  const blocked = blockOf(failure);
  const dunning = dunningAfter(s, blocked, facts);
  const emails = failureEmails(failure, facts);
  if (s.status === 'paused' && s.resuming) {
    return plan(moved(s, 'resume_refused', { ...s, chargeAt: null }), ['resume_failed'], { emails });
  }
  if (s.billingStatus === 'incomplete') {
    const again = dunning.failures === 1 && !blocked ? new Date(now.getTime() + incompleteRetryMs) : null;
    return plan(moved(s, 'stays_incomplete', { ...s, dunning, chargeAt: again }), [], { emails: isAnsweredToCaller(s) ? [] : emails });
  }
  const retry = blocked ? null : nextRetry(dunning, now);
  const run: SubscriptionState = { ...s, dunning, chargeAt: retry };
  const told = [...pastDueEvents(s), ...runEvents(s, run)];
  if (s.status === 'paused') return planFailedWhilePaused(run, told, emails);
  const move: Move = s.status === 'trialing' ? 'first_failed' : 'charge_failed';
  const pastDue = moved(s, move, { ...run, status: 'active', billingStatus: 'past_due' });
  if (blocked || retry || dunningEndsAt(dunning) > now) return plan(pastDue, told, { emails });
  const ended = planDunningEnd(pastDue, facts);
  return { ...ended, events: [...(s.billingStatus === 'past_due' ? [] : told), ...ended.events], emails };
}

/** The first attempt at once: whoever creates the subscription has its outcome, with the customer before them. */
function isAnsweredToCaller(s: SubscriptionState): boolean {
  return s.dunning === null && !wasScheduled(s);
}

function dunningAfter(s: SubscriptionState, blocked: DunningBlock | null, facts: Facts): Dunning {
  if (s.dunning) return { ...s.dunning, failures: s.dunning.failures + 1, blocked };
  return { startedAt: facts.now.toISOString(), failures: 1, blocked, policy: policyInForce(s, facts) };
}

function pastDueEvents(s: SubscriptionState): SubscriptionEvent[] {
  if (s.billingStatus === 'past_due') return [];
  return s.status === 'trialing' ? ['activated', 'past_due'] : ['past_due'];
}

function runEvents(before: SubscriptionState, { dunning, chargeAt }: SubscriptionState): SubscriptionEvent[] {
  if (!before.dunning) return ['dunning_started'];
  if (chargeAt) return ['dunning_retry_scheduled'];
  return dunning?.blocked && !before.dunning.blocked ? ['dunning_blocked'] : [];
}

function planFailedWhilePaused(s: SubscriptionState, told: SubscriptionEvent[], emails: Plan['emails']): Plan {
  const keptTime = s.keptTime && { ...s.keptTime, from: 'active' as const };
  const next: SubscriptionState = { ...s, billingStatus: 'past_due', keptTime };
  return plan(moved(s, 'failed_while_paused', next), told, { emails });
}

/** The last retry failed, or the last day of a blocked run has come. */
export function planDunningEnd(s: SubscriptionState, facts: Facts): Plan {
  switch (s.dunning ? policyOf(s.dunning).finalAction : policyInForce(s, facts).finalAction) {
    case 'pause': {
      const seconds = Math.max(0, Math.floor((s.currentPeriodEnd.getTime() - facts.now.getTime()) / 1000));
      const next: SubscriptionState = {
        ...s,
        status: 'paused',
        pausedAt: facts.now,
        keptTime: { from: 'active', seconds, owed: true },
        dunning: null,
        chargeAt: null,
        pauseAtEnd: false,
        resumesAt: null,
      };
      return plan(moved(s, 'dunning_ended', next), ['dunning_ended', 'paused']);
    }
    case 'leave_unpaid':
      return plan(moved(s, 'dunning_ended', { ...s, billingStatus: 'unpaid', dunning: null, chargeAt: null }), ['dunning_ended', 'unpaid']);
    default: {
      const closed = facts.openInvoices.map((invoice) => ({ invoiceId: invoice.id, as: 'uncollectible' as const }));
      const pending = settlePending(s, facts, { unusedSeconds: 0, forgives: true });
      return plan(moved(s, 'dunning_ended', cancelledState(s, facts.now)), ['dunning_ended', 'canceled'], { closed, ...pending });
    }
  }
}

/**
 * Cancelled while the payment was unresolved: on success it counts, the refund options apply and what waited to give a part of it back
 * does so; else the cancel's rule holds and nothing waits any more.
 */
function planAfterCancel(s: SubscriptionState, invoice: InvoiceFacts, facts: Facts): Plan {
  const options = s.cancelOptions ?? { cancelUnpaidInvoices: false, fullRefund: false, prorate: false };
  const pending = settlePending(s, facts, { unusedSeconds: 0, forgives: false, refunds: options.fullRefund });
  if (invoice.status === 'paid') {
    return plan(s, [], { ...moneyBack(s, options, { facts, only: invoice.id, at: s.cancelledAt ?? s.currentPeriodEnd }), ...pending });
  }
  const closed = options.cancelUnpaidInvoices ? [{ invoiceId: invoice.id, as: 'void' as const }] : [];
  return plan(s, [], { closed, ...pending });
}
