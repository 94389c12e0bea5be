import { DomainError } from '../../errors/domain-error.js';
import type { Interval } from '../period/period.js';
import { prorate } from '../period/proration.js';

export const billingReasons = ['manual', 'subscription_create', 'subscription_cycle', 'subscription_threshold', 'subscription_update', 'upcoming'] as const;
export type BillingReason = (typeof billingReasons)[number];

/** One item of a subscription with the price it is sold at; ids are UUIDs. */
export interface BillableItem {
  id: string;
  priceId: string;
  productId: string;
  name: string;
  description: string | null;
  quantity: number;
  unitAmountAtom: number;
  /** `package`: the unit amount is for so many pieces, begun packages count whole. */
  pricingModel: string;
  transformQuantityDivideBy: number;
  /** How often its price is billed; absent: as its subscription. */
  interval?: Interval;
  currency?: string;
  /** Begins with the next period. */
  addAtPeriodEnd?: boolean;
  /** Ends with the current period. */
  dropAtEnd?: boolean;
  customFields?: Record<string, unknown> | null;
}

/** What becomes of an item; `item` is the item afterwards. */
export interface ItemChange {
  kind: 'added' | 'updated' | 'removed';
  item: BillableItem;
}

export interface InvoiceLine {
  subscriptionItemId: string | null;
  priceId: string;
  productId: string;
  name: string;
  description: string | null;
  quantity: number;
  amountAtom: number;
  proration: boolean;
  periodStart: Date;
  periodEnd: Date;
  /** UUID of the line that this one gives back. */
  debitItemId?: string | null;
  /** UUID of the invoice that an amount was carried from. */
  carriedFromInvoiceId?: string | null;
  /** UUID of the pending line that the invoice takes in; a line that is new has none. */
  pendingId?: string;
  /** False for a pending line that belongs to the customer, not to the subscription. */
  isOwn?: boolean;
  /** Default: recurring. */
  priceType?: string;
}

/** A line that waits for the next invoice. */
export interface PendingLine extends InvoiceLine {
  pendingId: string;
  /** Belongs to the subscription itself, not to its customer only. */
  isOwn: boolean;
  /** What a credit gives back was paid, or is pending too; true for every debit. The others wait on. */
  isBacked: boolean;
  /** UUID of the invoice with the line that this one gives back; null where there is none. */
  debitInvoiceId: string | null;
}

/** An invoice as it will be finalised: what a preview shows and a write stores. Amounts in atoms. */
export interface InvoiceDraft {
  billingReason: BillingReason;
  /** `draft` where nothing may be charged, `paid` where nothing is due. */
  status: 'draft' | 'open' | 'paid';
  periodStart: Date;
  periodEnd: Date;
  dueDate: Date;
  finalizedAt: Date;
  lines: InvoiceLine[];
  totalAtom: number;
  appliedBalanceAtom: number;
  dueAtom: number;
  /** What a negative total gives to the customer's balance, positive. */
  creditedAtom: number;
  /** An amount that no processor takes, put off to the next invoice. */
  carried: InvoiceLine | null;
  /** Items that begin or end with the invoice's period. */
  turnover: ItemChange[];
  /** The period of the invoice is a new one of the subscription. */
  beginsPeriod: boolean;
  isInitialForTrial: boolean;
}

export interface DraftInput {
  /** Billed for the period; none for an invoice of other lines only. */
  items: readonly BillableItem[];
  /** Beside the items: pending lines and prorations. */
  lines?: readonly InvoiceLine[];
  turnover?: ItemChange[];
  /** The least amount that can be charged, in atoms. */
  minimumAtom?: number;
  billingReason: BillingReason;
  period: { start: Date; end: Date; billedSeconds: number; wholeSeconds: number };
  /** The customer's credit, positive. */
  balanceAtom: number;
  at: Date;
  netD: number;
  isInitialForTrial: boolean;
  collectible: boolean;
}

export function itemAmount(item: BillableItem): number {
  const packages = item.pricingModel === 'package' && item.transformQuantityDivideBy > 1;
  const units = packages ? Math.ceil(item.quantity / item.transformQuantityDivideBy) : item.quantity;
  const amount = BigInt(item.unitAmountAtom) * BigInt(units);
  if (amount > BigInt(Number.MAX_SAFE_INTEGER)) {
    throw new DomainError('invalid_request', 'The amount exceeds 2^53 - 1 atoms.', {
      errors: [{ loc: ['body', 'selected_product_price_quantity'], msg: 'amount exceeds 2^53 - 1 atoms', type: 'value_error' }],
    });
  }
  return Number(amount);
}

/** The items of the next period, and what becomes of those that begin or end with it. */
export function turnOver(items: readonly BillableItem[]): { items: BillableItem[]; turnover: ItemChange[] } {
  const next = items.filter((item) => !item.dropAtEnd).map((item) => (item.addAtPeriodEnd ? { ...item, addAtPeriodEnd: false } : item));
  const turnover = items.flatMap((item): ItemChange[] => {
    if (item.dropAtEnd) return [{ kind: 'removed', item }];
    return item.addAtPeriodEnd ? [{ kind: 'updated', item: { ...item, addAtPeriodEnd: false } }] : [];
  });
  return { items: next, turnover };
}

/**
 * Lines of one period, each prorated to the second and half-even where the period is shorter than its interval, and the lines
 * that wait. A negative total goes to the customer's balance; an amount under the minimum is carried to the next invoice.
 */
export function draftInvoice(input: DraftInput): InvoiceDraft {
  const { period } = input;
  const own = input.items.map((item) => periodLine(item, period));
  const lines = [...own, ...(input.lines ?? [])];
  const sum = lines.reduce((total, line) => total + line.amountAtom, 0);
  const appliedBalanceAtom = input.collectible ? Math.min(Math.max(input.balanceAtom, 0), Math.max(sum, 0)) : 0;
  const rest = Math.max(sum, 0) - appliedBalanceAtom;
  const isCarried = input.collectible && rest > 0 && rest < (input.minimumAtom ?? 0);
  const { off, carried } = isCarried ? carry(lines[0]!, rest, period) : { off: null, carried: null };
  if (off) lines.push(off);
  const dueAtom = carried ? 0 : rest;
  return {
    billingReason: input.billingReason,
    status: !input.collectible ? 'draft' : dueAtom === 0 ? 'paid' : 'open',
    periodStart: period.start,
    periodEnd: period.end,
    dueDate: new Date(input.at.getTime() + input.netD * 86_400_000),
    finalizedAt: input.at,
    lines,
    totalAtom: carried ? appliedBalanceAtom : sum,
    appliedBalanceAtom,
    dueAtom,
    creditedAtom: input.collectible ? Math.max(-sum, 0) : 0,
    carried,
    turnover: input.turnover ?? [],
    beginsPeriod: own.length > 0,
    isInitialForTrial: input.isInitialForTrial,
  };
}

function periodLine(item: BillableItem, period: DraftInput['period']): InvoiceLine {
  return {
    subscriptionItemId: item.id,
    priceId: item.priceId,
    productId: item.productId,
    name: item.name,
    description: item.description,
    quantity: item.quantity,
    amountAtom: prorate(itemAmount(item), period.billedSeconds, period.wholeSeconds),
    proration: period.billedSeconds < period.wholeSeconds,
    periodStart: period.start,
    periodEnd: period.end,
  };
}

/** An amount that no processor takes: the line that takes it off an invoice, and the one that the next invoice takes in. */
export function carry(
  { priceId, productId }: Pick<InvoiceLine, 'priceId' | 'productId'>,
  amountAtom: number,
  { start, end }: { start: Date; end: Date },
): { off: InvoiceLine; carried: InvoiceLine } {
  const line = { subscriptionItemId: null, priceId, productId, description: null, quantity: 1, proration: false, periodStart: start, periodEnd: end };
  return {
    off: { ...line, name: 'Carried to the next invoice', amountAtom: -amountAtom },
    carried: { ...line, name: 'Carried from the previous invoice', amountAtom },
  };
}
