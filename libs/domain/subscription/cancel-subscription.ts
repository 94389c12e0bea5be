import { unusedSum } from '../invoice/proration.lines.js';
import { secondsBetween } from '../period/period.js';
import { cancelledState } from './begin-subscription.js';
import { plan, type Facts, type InvoiceFacts, type Plan } from './plan.js';
import { settlePending } from './settle-pending.js';
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
  const unusedSeconds = options.prorate ? unusedSecondsOf(s, facts.now) : 0;
  const forgives = options.cancelUnpaidInvoices || options.fullRefund;
  const pending = settlePending(s, facts, { unusedSeconds, forgives, refunds: options.fullRefund, awaits: next.chargingInvoiceId });
  return plan(moved(s, 'cancel', next), ['canceled'], { closed, ...moneyBack(s, options, { facts, at: facts.now }), ...pending });
}

interface PaidPeriod {
  facts: Facts;
  at: Date;
  /** UUID: the money of this invoice only, for the others were given back before. */
  only?: string;
}

/** Balance credit for the unused paid seconds, or the whole current period back. */
export function moneyBack(s: SubscriptionState, options: CancelOptions, { facts, at, only }: PaidPeriod): Pick<Plan, 'creditAtom' | 'refunds'> {
  if (isInTrial(s)) return { creditAtom: 0, refunds: [] };
  const counts = (id: string | undefined) => only === undefined || id === only;
  if (options.fullRefund) return wholePeriod(facts.periodInvoices.filter(({ id }) => counts(id)));
  if (!options.prorate) return { creditAtom: 0, refunds: [] };
  const paid = facts.billed.filter(({ invoice }) => invoice?.status === 'paid' && counts(invoice.id));
  return { creditAtom: unusedSum(paid, unusedSecondsOf(s, at)), refunds: [] };
}

function unusedSecondsOf(s: SubscriptionState, at: Date): number {
  return s.keptTime ? (s.keptTime.seconds ?? 0) : secondsBetween(at, s.currentPeriodEnd);
}

/** What was paid from the balance, by unused time or by other waiting credit goes to the balance, and what no processor took; what the balance was given is taken off. */
function wholePeriod(invoices: readonly InvoiceFacts[]): Pick<Plan, 'creditAtom' | 'refunds'> {
  let given = invoices.reduce((sum, { creditedAtom }) => sum + (creditedAtom ?? 0), 0);
  const less = (amountAtom: number) => {
    const taken = Math.min(given, amountAtom);
    given -= taken;
    return amountAtom - taken;
  };
  const fromBalance = invoices.reduce(
    (sum, { totalAtom, dueAtom, paidAtom, paidOutOfBand, broughtAtom }) => sum + Math.max(0, totalAtom) - dueAtom + (paidOutOfBand ? paidAtom : 0) + (broughtAtom ?? 0),
    0,
  );
  const creditAtom = less(fromBalance);
  const refunds = invoices.flatMap(({ id, paidOutOfBand, paidAtom, refundedAtom }) => {
    const amountAtom = paidOutOfBand ? 0 : less(paidAtom - refundedAtom);
    return amountAtom > 0 ? [{ invoiceId: id, amountAtom }] : [];
  });
  return { creditAtom, refunds };
}
