import { and, asc, eq, isNull, or, sql } from 'drizzle-orm';
import { itemAmount } from '../domain/invoice/invoice.draft.js';
import { DomainError, invalidField } from '../errors/domain-error.js';
import { kindName } from '../views/ids.js';
import type { Db, Tx } from './client.js';
import { findWithoutCompanion } from './price-references.queries.js';
import { customers, invoiceItems, prices, products, type CustomerRow, type InvoiceItemRow, type PriceRow, type ProductRow } from './schema/index.js';
import { assertAttached } from './subscription-prices.queries.js';
import { backed } from './subscription-lines.queries.js';
import { findSubscription } from './subscription.queries.js';

/** A person's wish for an invoice after its ids were read; all ids are UUIDs. */
export interface ManualInvoice {
  /** Minted by the caller, so that a retry makes the same invoice. */
  id: string;
  customerId: string;
  subscriptionId: string | null;
  items: { priceId: string; quantity: number; description: string | null }[];
  /** Takes the lines that wait for the customer's next invoice; with a subscription, that one's too. */
  takesPending: boolean;
  collectionMethod: 'charge_automatically' | 'send_invoice';
  netD: number | null;
  paymentMethodId: string | null;
  emailOnFinalization: boolean;
  description: string;
  customFields: Record<string, unknown> | null;
}

export interface SoldOnce {
  price: PriceRow;
  product: ProductRow;
  quantity: number;
  description: string | null;
  amountAtom: number;
}

export interface ResolvedInvoice {
  customer: CustomerRow;
  sold: SoldOnce[];
  pending: InvoiceItemRow[];
  currency: string;
  netD: number | null;
}

const field = 'selected_product_price_quantity';
const mostPending = 250;

/**
 * Everything that a new invoice names, checked; pending lines are locked where `lock` says so.
 * @throws DomainError 422 naming the field: an unknown id, an archived or recurring price, prices of different currencies, a
 * price without one that it must be bought with, a payment method that is not the customer's; or nothing to bill.
 */
export async function resolveInvoice(db: Db | Tx, accountId: string, wish: ManualInvoice, { lock }: { lock: boolean }): Promise<ResolvedInvoice> {
  const customer = await findBilled(db, accountId, wish);
  if (wish.paymentMethodId) await assertAttached(db, accountId, { paymentMethodId: wish.paymentMethodId, customerId: customer.id });
  const sold = await readSoldOnce(db, accountId, wish);
  const other = sold.findIndex(({ price }) => price.currency !== sold[0]!.price.currency);
  if (other >= 0) throw invalidField([field, other, 'price_id'], 'All prices must share one currency');
  const pending = wish.takesPending ? await pendingLines(db, accountId, wish, { lock, currency: sold[0]?.price.currency ?? null }) : [];
  const currency = sold[0]?.price.currency ?? pending[0]?.currency;
  if (currency === undefined) throw invalidField(field, wish.takesPending ? 'No price is named and no line is pending' : 'No price is named');
  const netD = wish.collectionMethod === 'send_invoice' ? (wish.netD ?? sold.find(({ price }) => price.defaultNetD !== null)?.price.defaultNetD ?? customer.invoiceSettings?.default_net_d ?? null) : null;
  return { customer, sold, pending, currency, netD };
}

/** The customer, and that a named subscription is theirs. @throws DomainError 422 naming the field. */
export async function findBilled(db: Db | Tx, accountId: string, { customerId, subscriptionId }: Pick<ManualInvoice, 'customerId' | 'subscriptionId'>): Promise<CustomerRow> {
  const [customer] = await db
    .select()
    .from(customers)
    .where(and(eq(customers.id, customerId), eq(customers.accountId, accountId), isNull(customers.deletedAt)));
  if (!customer) throw invalidField('customer_id', `No such ${kindName('cus')}`, 'unknown_reference');
  const subscription = subscriptionId ? await findSubscription(db, accountId, subscriptionId) : null;
  if (subscription === undefined) throw invalidField('subscription_id', `No such ${kindName('sub')}`, 'unknown_reference');
  if (subscription && subscription.customerId !== customerId) throw invalidField('subscription_id', 'The subscription belongs to another customer');
  return customer;
}

async function readSoldOnce(db: Db | Tx, accountId: string, wish: Pick<ManualInvoice, 'items' | 'customerId'>): Promise<SoldOnce[]> {
  const sold: SoldOnce[] = [];
  for (const [index, { priceId, quantity, description }] of wish.items.entries()) {
    const found = await findSaleable(db, accountId, { priceId, customerId: wish.customerId, loc: [field, index, 'price_id'] });
    sold.push({ ...found, quantity, description, amountAtom: amountOf(found, quantity, [field, index, 'quantity']) });
  }
  const alone = findWithoutCompanion(sold.map(({ price }) => price));
  if (alone >= 0) throw invalidField([field, alone, 'price_id'], 'The price is sold only with another one that is missing here');
  const total = sold.reduce((sum, { amountAtom }) => sum + amountAtom, 0);
  if (!Number.isSafeInteger(total)) throw invalidField(field, 'The total exceeds 2^53 - 1 atoms');
  return sold;
}

interface Asked {
  priceId: string;
  customerId: string;
  loc: (string | number)[];
}

/** A price that may stand on an invoice made by hand. @throws DomainError 422 at `loc`. */
export async function findSaleable(db: Db | Tx, accountId: string, { priceId, customerId, loc }: Asked): Promise<{ price: PriceRow; product: ProductRow }> {
  const [found] = await db
    .select({ price: prices, product: products })
    .from(prices)
    .innerJoin(products, eq(products.id, prices.productId))
    .where(and(eq(prices.accountId, accountId), isNull(prices.deletedAt), eq(prices.id, priceId)));
  if (!found) throw invalidField(loc, 'No such price', 'unknown_reference');
  if (!found.price.isActive) throw invalidField(loc, 'The price is archived');
  if (found.price.priceType !== 'one_time') throw invalidField(loc, 'An invoice made by hand takes one-time prices only');
  const chosen = found.price.listedExclusivelyForCustomers;
  if (chosen.length > 0 && !chosen.includes(customerId)) throw invalidField(loc, 'The price is listed for other customers');
  return found;
}

/** @throws DomainError 422 at `loc` for more than a number holds exactly. */
export function amountOf({ price, product }: { price: PriceRow; product: ProductRow }, quantity: number, loc: (string | number)[]): number {
  const { unitAmountAtom, pricingModel, transformQuantityDivideBy } = price;
  const item = { id: '', priceId: price.id, productId: product.id, name: product.name, description: null, quantity };
  try {
    return itemAmount({ ...item, unitAmountAtom, pricingModel, transformQuantityDivideBy });
  } catch (error) {
    if (error instanceof DomainError) throw invalidField(loc, 'The amount exceeds 2^53 - 1 atoms');
    throw error;
  }
}

/** Lines that wait for the customer's next invoice and may be taken into it, oldest first; without a currency, those in the currency of the oldest. */
async function pendingLines(
  db: Db | Tx,
  accountId: string,
  { customerId, subscriptionId }: Pick<ManualInvoice, 'customerId' | 'subscriptionId'>,
  { lock, currency }: { lock: boolean; currency: string | null },
): Promise<InvoiceItemRow[]> {
  const free = isNull(invoiceItems.subscriptionId);
  const waiting = and(eq(invoiceItems.accountId, accountId), eq(invoiceItems.customerId, customerId), isNull(invoiceItems.invoiceId), isNull(invoiceItems.deletedAt));
  const query = db
    .select()
    .from(invoiceItems)
    .where(and(
      waiting,
      backed,
      subscriptionId ? or(free, eq(invoiceItems.subscriptionId, subscriptionId)) : free,
      currency ? eq(invoiceItems.currency, currency) : sql`true`,
    ))
    .orderBy(asc(invoiceItems.id))
    .limit(mostPending);
  const rows = lock ? await query.for('update') : await query;
  return rows.filter((row) => row.currency === rows[0]!.currency);
}

/** The lines of an invoice, in their order. */
export async function linesOf(db: Db | Tx, invoiceId: string): Promise<InvoiceItemRow[]> {
  return db
    .select()
    .from(invoiceItems)
    .where(and(eq(invoiceItems.invoiceId, invoiceId), isNull(invoiceItems.deletedAt)))
    .orderBy(asc(invoiceItems.id));
}
