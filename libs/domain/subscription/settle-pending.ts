import type { InvoiceDraft, InvoiceLine, PendingLine } from '../invoice/invoice.draft.js';
import { creditLine } from '../invoice/proration.lines.js';
import { restOf } from './change-items.js';
import { draftOf, takenIn, type Facts, type Plan } from './plan.js';
import type { SubscriptionState } from './subscription.state.js';

export interface PendingEnd {
  /** Seconds of the period that are left unused, and given back. */
  unusedSeconds: number;
  /** What would be owed is not asked for. */
  forgives: boolean;
  /** The current period is given back whole: its prorations are void. */
  refunds?: boolean;
  /** UUID of an invoice whose payment is unresolved: what gives back its lines waits for the outcome. */
  awaits?: string | null;
}

/**
 * The subscription ends, so no renewal will take its pending lines: a last invoice does. To the customer's credit it goes to the
 * balance; owed, it stays open and is payable by hand, or is dropped. A credit for what was billed and is not paid is dropped: whoever
 * pays by hand afterwards pays what the invoice says.
 */
export function settlePending(s: SubscriptionState, facts: Facts, end: PendingEnd): Pick<Plan, 'invoice' | 'dropped'> {
  const own = facts.pending.filter(({ isOwn, debitInvoiceId }) => isOwn && !(end.awaits && debitInvoiceId === end.awaits));
  const kept = takenIn({ pending: own }).filter((line) => !(end.refunds && line.proration && isOfPeriod(line, facts)));
  const all = own.map(({ pendingId }) => pendingId);
  if (kept.length === 0) return { invoice: null, dropped: all };
  const invoice = lastInvoice(s, facts, [...kept, ...unusedOf(s, facts, end)]);
  if (invoice.totalAtom > 0 && end.forgives) return { invoice: null, dropped: all };
  return { invoice, dropped: own.filter((line) => !kept.includes(line)).map(({ pendingId }) => pendingId) };
}

/** Not the credit for an earlier period, which no refund of this one gives back. */
function isOfPeriod({ debitInvoiceId }: PendingLine, { periodInvoices }: Facts): boolean {
  return debitInvoiceId === null || periodInvoices.some(({ id }) => id === debitInvoiceId);
}

/** The unused part of what was to be billed with the next invoice. */
function unusedOf(s: SubscriptionState, facts: Facts, { unusedSeconds, refunds }: PendingEnd): InvoiceLine[] {
  if (unusedSeconds <= 0 || refunds) return [];
  const rest = { ...restOf(s, facts), seconds: unusedSeconds };
  return facts.billed.filter(({ invoice }) => invoice === null).flatMap((line) => creditLine(line, rest) ?? []);
}

function lastInvoice(s: SubscriptionState, facts: Facts, lines: InvoiceLine[]): InvoiceDraft {
  const { at } = restOf(s, facts);
  const period = { anchorAt: s.anchorAt, periodIndex: s.periodIndex, start: at, end: at, billedSeconds: 0, wholeSeconds: 0 };
  const collectible: SubscriptionState = { ...s, billingStatus: 'current' };
  return draftOf(collectible, { ...facts, minimumAtom: 0 }, { items: [], lines, period, billingReason: 'subscription_update' });
}
