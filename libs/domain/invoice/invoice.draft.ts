import { DomainError } from '../../errors/domain-error.js';
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
}

export interface InvoiceLine {
  subscriptionItemId: string;
  priceId: string;
  productId: string;
  name: string;
  description: string | null;
  quantity: number;
  amountAtom: number;
  proration: boolean;
  periodStart: Date;
  periodEnd: Date;
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
  isInitialForTrial: boolean;
}

export interface DraftInput {
  items: readonly BillableItem[];
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

/** Lines of one period; a period shorter than its interval is prorated to the second, each line half-even. */
export function draftInvoice(input: DraftInput): InvoiceDraft {
  const { period } = input;
  const proration = period.billedSeconds < period.wholeSeconds;
  const lines = input.items.map((item) => ({
    subscriptionItemId: item.id,
    priceId: item.priceId,
    productId: item.productId,
    name: item.name,
    description: item.description,
    quantity: item.quantity,
    amountAtom: prorate(itemAmount(item), period.billedSeconds, period.wholeSeconds),
    proration,
    periodStart: period.start,
    periodEnd: period.end,
  }));
  const totalAtom = lines.reduce((sum, line) => sum + line.amountAtom, 0);
  const appliedBalanceAtom = input.collectible ? Math.min(Math.max(input.balanceAtom, 0), totalAtom) : 0;
  const dueAtom = totalAtom - appliedBalanceAtom;
  return {
    billingReason: input.billingReason,
    status: !input.collectible ? 'draft' : dueAtom === 0 ? 'paid' : 'open',
    periodStart: period.start,
    periodEnd: period.end,
    dueDate: new Date(input.at.getTime() + input.netD * 86_400_000),
    finalizedAt: input.at,
    lines,
    totalAtom,
    appliedBalanceAtom,
    dueAtom,
    isInitialForTrial: input.isInitialForTrial,
  };
}
