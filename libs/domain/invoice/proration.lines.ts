import { prorate } from '../period/proration.js';
import { secondsBetween } from '../period/period.js';
import { itemAmount, type BillableItem, type InvoiceLine } from './invoice.draft.js';
import type { InvoiceStatus } from './invoice.machine.js';

/** A debit that is not given back yet. */
export interface BilledLine extends InvoiceLine {
  id: string;
  /** Null: it waits for an invoice. */
  invoice: { id: string; status: InvoiceStatus; totalAtom: number; refundedAtom: number } | null;
}

/** The rest of a period from `at` on. */
export interface Rest {
  at: Date;
  end: Date;
  seconds: number;
  /** Seconds of the whole interval, for which a price is. */
  wholeSeconds: number;
}

/** Gives back the unused part of what was billed; the used part is the rest of it, to the atom. Null where that is nothing. */
export function creditLine(billed: BilledLine, rest: Rest): InvoiceLine | null {
  const { id, invoice: _invoice, pendingId: _pendingId, ...line } = billed;
  const amountAtom = -unusedPart(billed, rest.seconds);
  if (amountAtom === 0) return null;
  const description = `Unused time of ${quantified(line)} from ${timeOf(rest.at)}`;
  return { ...line, description, amountAtom, proration: true, periodStart: rest.at, periodEnd: rest.end, debitItemId: id };
}

/** A credit for what was never paid is worth nothing yet; one for what waits as well is taken in together with it. */
export function isBacked({ debitItemId }: Pick<InvoiceLine, 'debitItemId'>, billed: readonly BilledLine[]): boolean {
  const debit = billed.find(({ id }) => id === debitItemId);
  return !debit?.invoice || debit.invoice.status === 'paid';
}

/** What of the line still stands after its share of the invoice's refunds. */
function worthOf({ amountAtom, invoice }: BilledLine): number {
  if (!invoice || invoice.refundedAtom === 0) return amountAtom;
  return Math.max(0, amountAtom - prorate(invoice.refundedAtom, amountAtom, invoice.totalAtom));
}

/** Of what was billed and not refunded, never more. */
function unusedPart(line: BilledLine, seconds: number): number {
  const span = secondsBetween(line.periodStart, line.periodEnd);
  return prorate(worthOf(line), Math.min(seconds, span), span);
}

/** Of several lines: those of one invoice and one period are one amount, rounded once. */
export function unusedSum(lines: readonly BilledLine[], seconds: number): number {
  const keyOf = ({ invoice, periodStart, periodEnd }: BilledLine) => `${invoice?.id} ${periodStart.getTime()} ${periodEnd.getTime()}`;
  const groups = new Map<string, BilledLine[]>();
  for (const line of lines) groups.set(keyOf(line), [...(groups.get(keyOf(line)) ?? []), line]);
  return [...groups.values()].reduce((sum, group) => {
    const [first] = group;
    const span = secondsBetween(first!.periodStart, first!.periodEnd);
    return sum + prorate(group.reduce((worth, line) => worth + worthOf(line), 0), Math.min(seconds, span), span);
  }, 0);
}

/** Bills an item for the rest of the period. Null where that is nothing. */
export function debitLine(item: BillableItem, rest: Rest): InvoiceLine | null {
  const amountAtom = prorate(itemAmount(item), rest.seconds, rest.wholeSeconds);
  if (amountAtom === 0) return null;
  const { id: subscriptionItemId, priceId, productId, name, quantity } = item;
  const description = `Remaining time of ${quantified(item)} from ${timeOf(rest.at)}`;
  const period = { periodStart: rest.at, periodEnd: rest.end };
  return { subscriptionItemId, priceId, productId, name, description, quantity, amountAtom, proration: true, ...period, debitItemId: null };
}

function quantified({ quantity, name }: { quantity: number; name: string }): string {
  return quantity === 1 ? name : `${quantity} × ${name}`;
}

function timeOf(at: Date): string {
  return `${at.toISOString().slice(0, 19)}Z`;
}
