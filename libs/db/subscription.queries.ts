import { and, asc, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Environment } from '../domain/environment.js';
import type { BillableItem } from '../domain/invoice/invoice.draft.js';
import type { Facts, ItemPrice } from '../domain/subscription/plan.js';
import { priceView } from '../views/price.view.js';
import { subscriptionItemView } from '../views/subscription-item.view.js';
import { subscriptionView, type SubscriptionView } from '../views/subscription.view.js';
import { billingRules } from './billing-rules.queries.js';
import type { Db, Tx } from './client.js';
import { owedFirst, readInvoiceFacts } from './invoice.queries.js';
import { readBilledLines, readMinimum, readPendingLines, readPeriodInvoices } from './subscription-lines.queries.js';
import {
  customerBalanceTransactions,
  customers,
  paymentMethods,
  prices,
  products,
  subscriptionItems,
  subscriptions,
  type PriceRow,
  type ProductRow,
  type SubscriptionItemRow,
  type SubscriptionRow,
} from './schema/index.js';

export interface PricedItem {
  item: SubscriptionItemRow;
  price: PriceRow;
  product: ProductRow;
}

export async function findSubscription(db: Db | Tx, accountId: string, id: string): Promise<SubscriptionRow | undefined> {
  const [row] = await db
    .select()
    .from(subscriptions)
    .where(and(eq(subscriptions.id, id), eq(subscriptions.accountId, accountId)));
  return row;
}

export async function readPricedItems(db: Db | Tx, subscriptionIds: string[]): Promise<PricedItem[]> {
  if (subscriptionIds.length === 0) return [];
  return db
    .select({ item: subscriptionItems, price: prices, product: products })
    .from(subscriptionItems)
    .innerJoin(prices, eq(prices.id, subscriptionItems.priceId))
    .innerJoin(products, eq(products.id, subscriptionItems.productId))
    .where(and(inArray(subscriptionItems.subscriptionId, subscriptionIds), isNull(subscriptionItems.removedAt)))
    .orderBy(asc(subscriptionItems.id));
}

/** One item that stands. */
export async function readPricedItem(db: Db, accountId: string, id: string): Promise<PricedItem | undefined> {
  const [found] = await db
    .select({ item: subscriptionItems, price: prices, product: products })
    .from(subscriptionItems)
    .innerJoin(prices, eq(prices.id, subscriptionItems.priceId))
    .innerJoin(products, eq(products.id, subscriptionItems.productId))
    .where(and(eq(subscriptionItems.id, id), eq(subscriptionItems.accountId, accountId), isNull(subscriptionItems.removedAt)));
  return found;
}

/** Published subscriptions with their items, in the order of the rows. */
export async function subscriptionViews(db: Db | Tx, rows: SubscriptionRow[], environment: Environment): Promise<SubscriptionView[]> {
  const items = await readPricedItems(db, rows.map(({ id }) => id));
  return rows.map((row) => viewWithItems(row, items.filter(({ item }) => item.subscriptionId === row.id), environment));
}

export function viewWithItems(row: SubscriptionRow, items: PricedItem[], environment: Environment): SubscriptionView {
  return subscriptionView(row, items.map((priced) => pricedItemView(priced, environment)), environment);
}

export function pricedItemView({ item, price, product }: PricedItem, environment: Environment) {
  return subscriptionItemView(item, priceView(price, product, environment), environment);
}

export function billableItem({ item, price, product }: PricedItem): BillableItem {
  const { id, description, quantity, addAtPeriodEnd, dropAtEnd, customFields } = item;
  return { id, ...itemPrice(price, product), description, quantity, addAtPeriodEnd, dropAtEnd, customFields };
}

export function itemPrice(price: PriceRow, product: ProductRow): ItemPrice {
  return {
    priceId: price.id,
    productId: product.id,
    name: price.name ?? product.name,
    unitAmountAtom: price.unitAmountAtom,
    pricingModel: price.pricingModel,
    transformQuantityDivideBy: price.transformQuantityDivideBy,
    currency: price.currency,
    interval: { unit: price.billingInterval!, count: price.billingIntervalCount! },
  };
}

export interface Clockwork {
  now: Date;
  jitterSeconds: number;
}

/**
 * Everything a plan needs to know about a subscription that exists. `prices`: those that a command names; what was billed is
 * read for commands, and once cancelled.
 */
export async function readFacts(db: Db | Tx, row: SubscriptionRow, clock: Clockwork, named?: { price: PriceRow; product: ProductRow }[]): Promise<Facts> {
  const givesBack = named !== undefined || row.status === 'cancelled';
  const [items, paymentMethodId, balanceAtom, invoices] = [
    await readPricedItems(db, [row.id]),
    await usableMethod(db, row),
    await customerCredit(db, row),
    await readInvoiceFacts(db, row.id),
  ];
  return {
    ...clock,
    rules: await billingRules(db, row.accountId),
    items: items.map(billableItem),
    paymentMethodId,
    balanceAtom,
    openInvoices: owedFirst(invoices),
    charging: invoices.find(({ id }) => id === row.chargingInvoiceId) ?? null,
    latestInvoice: invoices.findLast(({ beginsPeriod }) => beginsPeriod) ?? null,
    pending: await readPendingLines(db, row),
    billed: givesBack ? await readBilledLines(db, row.id) : [],
    periodInvoices: givesBack ? await readPeriodInvoices(db, row.id) : [],
    prices: (named ?? []).map(({ price, product }) => itemPrice(price, product)),
    minimumAtom: await readMinimum(db, row.accountId, row.currency),
  };
}

type Payer = Pick<SubscriptionRow, 'accountId' | 'customerId' | 'defaultPaymentMethodId' | 'currency'>;

/** The subscription's method, else the customer's default; only one that is attached to the customer. */
export async function usableMethod(db: Db | Tx, payer: Payer): Promise<string | null> {
  const [row] = await db
    .select({ id: paymentMethods.id })
    .from(customers)
    .innerJoin(
      paymentMethods,
      sql`${paymentMethods.id} = coalesce(${sql.param(payer.defaultPaymentMethodId)}::uuid, ${customers.defaultPaymentMethodId})`,
    )
    .where(
      and(
        eq(customers.id, payer.customerId),
        eq(customers.accountId, payer.accountId),
        eq(paymentMethods.customerId, payer.customerId),
        eq(paymentMethods.status, 'attached'),
      ),
    );
  return row?.id ?? null;
}

/** The customer's credit in the currency, in atoms. */
export async function customerCredit(db: Db | Tx, payer: Payer): Promise<number> {
  const [row] = await db
    .select({ sum: sql<string>`coalesce(sum(${customerBalanceTransactions.amountAtom}), 0)` })
    .from(customerBalanceTransactions)
    .where(
      and(
        eq(customerBalanceTransactions.accountId, payer.accountId),
        eq(customerBalanceTransactions.customerId, payer.customerId),
        eq(customerBalanceTransactions.currency, payer.currency),
      ),
    );
  return Number(row?.sum ?? 0);
}

/** Hash of the id, spread over `seconds`: when a renewal's charge begins after its period has. */
export function jitterOf(id: string, seconds: number): number {
  return seconds <= 0 ? 0 : Number(BigInt(`0x${id.replaceAll('-', '').slice(-12)}`) % BigInt(seconds));
}

const lateSeconds = 10;

/**
 * Subscriptions that should have moved and did not: their workflow is missing, late, or was not told of a settled payment, a
 * paid invoice or a new payment method. Uses `subscriptions_due` and `subscriptions_money`.
 */
export async function subscriptionsToWake(db: Db, limit: number): Promise<SubscriptionRow[]> {
  const late = sql`now() - make_interval(secs => ${lateSeconds})`;
  const settledPayment = sql`exists (select 1 from invoices i left join payment_intents p on p.id = i.payment_intent_id
    where i.id = s.charging_invoice_id and (i.status in ('paid', 'void') or p.status in ('requires_payment_method', 'requires_action', 'canceled', 'succeeded')))`;
  const paidElsewhere = sql`s.billing_status in ('past_due', 'incomplete', 'unpaid') and s.status <> 'cancelled'
    and exists (select 1 from invoices i where i.subscription_id = s.id and i.status = 'paid' and (i.paid_at > s.updated_at or (s.test_clock_id is not null and i.paid_at = s.updated_at)))`;
  const newMethod = sql`(s.dunning is not null or s.resuming) and s.status <> 'cancelled' and s.collection_method = 'charge_automatically'
    and exists (select 1 from customers c join payment_methods m on m.id = coalesce(s.default_payment_method_id, c.default_payment_method_id)
      where c.id = s.customer_id and m.customer_id = c.id and m.status = 'attached' and m.id is distinct from s.charged_method_id)`;
  const { rows } = await db.execute<{ id: string }>(sql`
    (select s.id from subscriptions s where s.status <> 'cancelled' and s.test_clock_id is null and s.next_action_at < ${late} order by s.next_action_at limit ${limit})
    union
    (select s.id from subscriptions s
      where (s.charging_invoice_id is not null or s.dunning is not null or s.resuming or s.billing_status in ('past_due', 'incomplete', 'unpaid'))
        and ((s.charging_invoice_id is not null and (s.updated_at < ${late} or s.test_clock_id is not null) and ${settledPayment})
          or (s.charging_invoice_id is null and ((${paidElsewhere}) or (${newMethod}))))
      limit ${limit})`);
  if (rows.length === 0) return [];
  return db.select().from(subscriptions).where(inArray(subscriptions.id, rows.map(({ id }) => id)));
}
