import { prorate } from '../period/proration.js';
import { secondsBetween } from '../period/period.js';
import { cancelledState } from './begin-subscription.js';
import { plan, type Facts, type InvoiceFacts, type Plan } from './plan.js';
import { moved } from './subscription.machine.js';
import { isInTrial, type CancelOptions, type SubscriptionState } from './subscription.state.js';

export interface CancelInput extends CancelOptions {
  details: Record<string, unknown> | null;
}

/**
 * Cancel now: commits at once. Open invoices stay payable by hand, or are voided; one whose payment is unresolved waits for
 * its outcome, and then the same options hold.
 */
export function planCancel(s: SubscriptionState, input: CancelInput, facts: Facts): Plan {
  const { details, cancelUnpaidInvoices, fullRefund, prorate: credit } = input;
  const options: CancelOptions = { cancelUnpaidInvoices, fullRefund, prorate: credit };
  const unresolved = facts.openInvoices.find((invoice) => invoice.payment === 'unresolved' || invoice.id === s.chargingInvoiceId);
  const next: SubscriptionState = {
    ...cancelledState(s, facts.now),
    cancellationDetails: details,
    cancelOptions: options,
    chargingInvoiceId: unresolved?.id ?? null,
  };
  const closed = options.cancelUnpaidInvoices
    ? facts.openInvoices.filter((invoice) => invoice !== unresolved).map((invoice) => ({ invoiceId: invoice.id, as: 'void' as const }))
    : [];
  const paid = facts.latestInvoice?.status === 'paid' ? facts.latestInvoice : null;
  return plan(moved(s, 'cancel', next), ['canceled'], { closed, ...moneyBack(s, options, { paid, at: facts.now }) });
}

interface PaidPeriod {
  paid: InvoiceFacts | null;
  at: Date;
}

/** Balance credit for the unused paid seconds, or the whole current period back. */
export function moneyBack(s: SubscriptionState, options: CancelOptions, { paid, at }: PaidPeriod): Pick<Plan, 'creditAtom' | 'refund'> {
  const current = paid && !isInTrial(s) && paid.periodEnd > paid.periodStart && isFor(s, paid) ? paid : null;
  if (!current) return { creditAtom: 0, refund: null };
  if (options.fullRefund) {
    const amountAtom = current.paidOutOfBand ? 0 : current.paidAtom - current.refundedAtom;
    // What was paid from the balance goes back there, and what no processor took.
    return { creditAtom: current.totalAtom - current.dueAtom + (current.paidOutOfBand ? current.paidAtom : 0), refund: amountAtom > 0 ? { invoiceId: current.id, amountAtom } : null };
  }
  if (!options.prorate) return { creditAtom: 0, refund: null };
  const whole = secondsBetween(current.periodStart, current.periodEnd);
  const left = s.keptTime ? (s.keptTime.seconds ?? 0) : secondsBetween(at, s.currentPeriodEnd);
  const worth = Math.max(0, current.totalAtom - current.refundedAtom);
  return { creditAtom: prorate(worth, Math.min(left, whole), whole), refund: null };
}

/** A period that was paid after its end began with its money, later than its invoice says. */
function isFor(s: SubscriptionState, paid: InvoiceFacts): boolean {
  const isLater = paid.periodEnd < s.currentPeriodStart && sameTime(s.anchorAt, s.currentPeriodEnd);
  return isLater || sameTime(paid.periodStart, s.currentPeriodStart);
}

function sameTime(a: Date, b: Date): boolean {
  return a.getTime() === b.getTime();
}
