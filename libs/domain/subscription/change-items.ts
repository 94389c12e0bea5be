import { turnOver, type BillableItem, type InvoiceLine, type ItemChange } from '../invoice/invoice.draft.js';
import { creditLine, debitLine, isBacked, type Rest } from '../invoice/proration.lines.js';
import { boundary, secondsBetween, startOfSecond, type Interval } from '../period/period.js';
import { changesOf, itemsAfter, running, type ChangeItemsInput } from './item-changes.js';
import { chargesAutomatically, draftOf, enterPeriod, plan, takenIn, type Facts, type Plan } from './plan.js';
import { assertMayMove, moved, refusedMove } from './subscription.machine.js';
import { firstPeriod, intervalOf, isInTrial, periodFrom, resumptionAfter, sameInterval, type SubscriptionState } from './subscription.state.js';

/** An item whose price or quantity is another one from now on; null: there is none. */
interface Swap {
  before: BillableItem | null;
  after: BillableItem | null;
}

/**
 * Other items, quantities or prices. What was billed is given back for the rest of the period and what is new is billed for it:
 * with the next invoice, at once, or not at all. A new interval begins a period now; with `none`, at the period's end. What gives
 * back time that is not paid yet waits, whichever way, until it is.
 * Returns null when nothing changes.
 * @throws DomainError 409 while paused unless `none`, for the last item; 422 naming what does not fit.
 */
export function planChangeItems(s: SubscriptionState, input: ChangeItemsInput, facts: Facts): Plan | null {
  assertMayMove(s, 'change_items');
  if (s.status === 'trialing' && !isUnbilled(s)) throw refusedMove(s, 'change_items', 'The first payment is under way.');
  const { items: changes, interval } = changesOf(s, input, facts);
  if (changes.length === 0) return null;
  const wanted = itemsAfter(facts.items, changes);
  if (isUnbilled(s) && (s.status !== 'paused' || input.proration === 'none')) return planUnbilled(s, { changes, interval });
  const swaps = swapsOf(facts.items, wanted);
  if (s.status === 'paused' && input.proration !== 'none' && swaps.length > 0) {
    throw refusedMove(s, 'change_items', 'While paused, items change with proration_behavior none only.');
  }
  if (!sameInterval(interval, intervalOf(s))) return planNewInterval(s, { changes, interval }, { ...facts, items: wanted }, facts.items);
  if (input.proration === 'none' || swaps.length === 0) return plan(moved(s, 'change_items', s), ['updated'], { items: changes });
  const rest = restOf(s, facts);
  const lines = swaps.flatMap((swap) => linesOf(swap, facts, rest));
  if (input.proration === 'create_prorations') return plan(moved(s, 'change_items', s), ['updated'], { items: changes, pending: lines });
  return planInvoiceNow(s, { changes, lines, rest }, facts);
}

interface Changed {
  changes: ItemChange[];
  interval: Interval;
}

/** Nothing was billed for the items yet: they are simply others. */
function isUnbilled(s: SubscriptionState): boolean {
  return s.billingStatus === 'scheduled' || isInTrial(s) || (s.status === 'paused' && s.billingStatus === 'incomplete');
}

function planUnbilled(s: SubscriptionState, { changes, interval }: Changed): Plan {
  const other: SubscriptionState = { ...s, billingInterval: interval.unit, billingIntervalCount: interval.count };
  const next = s.billingStatus === 'scheduled' && !s.trialEnd ? { ...other, ...startOf(other) } : other;
  return plan(moved(s, 'change_items', withResumption(next)), ['updated'], { items: changes });
}

function startOf(s: SubscriptionState): Partial<SubscriptionState> {
  const { anchorAt, end } = firstPeriod(s, s.initialStart);
  return { anchorAt, currentPeriodEnd: end };
}

/** A pause at the period's end is counted from that end. */
function withResumption(s: SubscriptionState): SubscriptionState {
  return s.pauseAtEnd ? { ...s, resumesAt: resumptionAfter(s, s.pauseForCycles ?? 1) } : s;
}

function swapsOf(before: readonly BillableItem[], after: readonly BillableItem[]): Swap[] {
  const [old, fresh] = [running(before), running(after)];
  const kept = old.map((item): Swap => ({ before: item, after: fresh.find(({ id }) => id === item.id) ?? null }));
  const added = fresh.filter(({ id }) => !old.some((item) => item.id === id)).map((item): Swap => ({ before: null, after: item }));
  return [...kept, ...added].filter(
    ({ before: was, after: is }) => was === null || is === null || was.priceId !== is.priceId || was.quantity !== is.quantity,
  );
}

function linesOf({ before, after }: Swap, facts: Facts, rest: Rest): InvoiceLine[] {
  const billed = before && facts.billed.find((line) => line.subscriptionItemId === before.id);
  const lines = [billed ? creditLine(billed, rest) : null, after ? debitLine(after, rest) : null];
  return lines.filter((line) => line !== null);
}

/** The seconds from now to the period's end. */
export function restOf(s: SubscriptionState, facts: Facts): Rest {
  const second = startOfSecond(facts.now);
  const at = second < s.currentPeriodStart ? s.currentPeriodStart : second;
  return { at, end: s.currentPeriodEnd, seconds: secondsBetween(at, s.currentPeriodEnd), wholeSeconds: wholeSecondsOf(s, facts) };
}

/** Of the interval that holds the period; time that a pause kept counts as it was billed. */
function wholeSecondsOf(s: SubscriptionState, { latestInvoice }: Facts): number {
  const interval = intervalOf(s);
  const whole = secondsBetween(boundary(s.anchorAt, interval, s.periodIndex), boundary(s.anchorAt, interval, s.periodIndex + 1));
  const wasMoved = s.periodIndex === -1 && latestInvoice !== null;
  return wasMoved ? Math.max(whole, secondsBetween(latestInvoice.periodStart, latestInvoice.periodEnd)) : whole;
}

function planInvoiceNow(s: SubscriptionState, { changes, lines, rest }: { changes: ItemChange[]; lines: InvoiceLine[]; rest: Rest }, facts: Facts): Plan {
  const { due, pending } = parted(lines, facts);
  if (due.length === 0) return plan(moved(s, 'change_items', s), ['updated'], { items: changes, pending });
  const period = { start: rest.at, end: rest.end, billedSeconds: 0, wholeSeconds: 0, anchorAt: s.anchorAt, periodIndex: s.periodIndex };
  const invoice = draftOf(s, facts, { items: [], lines: [...takenIn(facts), ...due], period, billingReason: 'subscription_update' });
  return plan(moved(s, 'change_items', { ...s, chargeAt: chargeNow(s, facts, invoice) }), ['updated'], { items: changes, invoice, pending });
}

/** What an invoice of now takes, and the credits that wait for the money that they give back. */
function parted(lines: readonly InvoiceLine[], { billed }: Facts): { due: InvoiceLine[]; pending: InvoiceLine[] } {
  return { due: lines.filter((line) => isBacked(line, billed)), pending: lines.filter((line) => !isBacked(line, billed)) };
}

/** The period ends now: its unused paid time is given back, and a whole period of the new interval begins and is billed. */
function planNewInterval(s: SubscriptionState, { changes, interval }: Changed, facts: Facts, before: readonly BillableItem[]): Plan {
  const rest = restOf(s, facts);
  const period = periodFrom(rest.at, interval, rest.at);
  const entered = withResumption(enterPeriod({ ...s, billingInterval: interval.unit, billingIntervalCount: interval.count }, period));
  const credits = running(before).flatMap((item) => linesOf({ before: item, after: null }, facts, rest));
  const { due, pending } = parted(credits, facts);
  const { items, turnover } = turnOver(facts.items);
  const drawn = { items, turnover, lines: [...takenIn(facts), ...due], period, billingReason: 'subscription_update' as const };
  const invoice = draftOf(entered, facts, drawn);
  return plan(moved(s, 'change_items', { ...entered, chargeAt: chargeNow(s, facts, invoice) }), ['updated'], { items: changes, invoice, pending });
}

/** At once, unless something older is being collected. */
function chargeNow(s: SubscriptionState, facts: Facts, invoice: { status: string; dueDate: Date }): Date | null {
  const waits = s.chargingInvoiceId !== null || s.dunning !== null || s.billingStatus === 'unpaid';
  if (waits || invoice.status !== 'open') return s.chargeAt;
  return chargesAutomatically(s) ? facts.now : (s.chargeAt ?? invoice.dueDate);
}
