import { and, eq, inArray, isNull } from 'drizzle-orm';
import type { NewSubscription } from '../domain/subscription/create-subscription.js';
import type { ItemInput } from '../domain/subscription/item-changes.js';
import type { NewSubscriptionJson } from '../domain/subscription/subscription.command.js';
import { DomainError, invalidField } from '../errors/domain-error.js';
import type { Db, Tx } from './client.js';
import { newId } from './mint.js';
import { findWithoutCompanion } from './price-references.queries.js';
import { readPricedItems } from './subscription.queries.js';
import { customers, paymentMethods, paymentRoutes, prices, products, type CustomerRow, type PriceRow, type ProductRow, type SubscriptionRow } from './schema/index.js';

/** A request for a subscription after its ids were read; all ids are UUIDs, times are instants. */
export type SubscriptionRequest = Omit<NewSubscriptionJson, 'startsAt' | 'trialEnd'> & { startsAt: Date | null; trialEnd: Date | null };

export interface PricedRequestItem {
  id: string;
  price: PriceRow;
  product: ProductRow;
  quantity: number;
  description: string | null;
  customFields: Record<string, unknown> | null;
}

export interface ResolvedSubscription {
  input: NewSubscription;
  customer: CustomerRow;
  items: PricedRequestItem[];
  name: string;
}

const field = 'selected_product_price_quantity';

/**
 * Everything a new subscription names, checked.
 * @throws DomainError 422 naming the field: an unknown id, an archived or one-time price, prices of different currency or
 * interval, a price without one that it must be bought with, a payment method that is not the customer's.
 */
export async function resolveSubscription(db: Db | Tx, accountId: string, request: SubscriptionRequest): Promise<ResolvedSubscription> {
  const customer = await findPayer(db, accountId, request.customerId);
  const items = await priceItems(db, accountId, request);
  await checkMethod(db, accountId, request);
  await checkRoute(db, accountId, request.paymentRouteId);
  const [first] = items;
  const { billingInterval, billingIntervalCount, currency } = first!.price;
  const priceTrial = request.trialFromPrice ? Math.max(...items.map(({ price }) => price.trialPeriodDays)) : 0;
  const input: NewSubscription = {
    id: request.id,
    currency,
    billingInterval: billingInterval!,
    billingIntervalCount: billingIntervalCount!,
    startsAt: request.startsAt,
    trialEnd: request.trialEnd,
    trialDays: request.trialPeriodDays ?? priceTrial,
    missingPaymentMethod: request.missingPaymentMethod,
    collectionMethod: request.collectionMethod,
    netD: request.netD ?? first!.price.defaultNetD ?? customer.invoiceSettings?.default_net_d ?? null,
    description: request.description,
    customFields: request.customFields,
    defaultPaymentMethodId: request.paymentMethodId,
    paymentRouteId: request.paymentRouteId,
    cancelAtEnd: request.cancelAtEnd,
    totalBillingCycles: request.totalBillingCycles,
    skipInvoicePayment: request.skipInvoicePayment,
    dunningPolicy: request.dunningPolicy ?? null,
  };
  return { input, customer, items, name: items.map(({ price, product }) => price.name ?? product.name).join(', ').slice(0, 500) };
}

async function findPayer(db: Db | Tx, accountId: string, id: string): Promise<CustomerRow> {
  const [row] = await db
    .select()
    .from(customers)
    .where(and(eq(customers.id, id), eq(customers.accountId, accountId), isNull(customers.deletedAt)));
  if (!row) throw invalidField('customer_id', 'No such cus', 'unknown_reference');
  return row;
}

function assertSubscribable(price: PriceRow | undefined, customerId: string, at: (string | number)[]): void {
  if (!price) throw invalidField(at, 'No such price', 'unknown_reference');
  if (!price.isActive) throw invalidField(at, 'The price is archived');
  if (price.priceType !== 'recurring') throw invalidField(at, 'A subscription takes recurring prices only');
  if (price.usageType === 'metered') throw invalidField(at, 'Metered prices cannot be subscribed to yet');
  const chosen = price.listedExclusivelyForCustomers;
  if (chosen.length > 0 && !chosen.includes(customerId)) throw invalidField(at, 'The price is listed for other customers');
}

/**
 * The prices that changes of items name.
 * @throws DomainError 422 naming the field: an unknown, archived or one-time price, one of other customers, one that is sold only
 * with another one that is missing.
 */
export async function resolveItemPrices(db: Db | Tx, row: SubscriptionRow, items: readonly ItemInput[]): Promise<SoldPrice[]> {
  const named = items.filter(({ priceId }) => priceId !== undefined);
  if (named.length === 0) return [];
  const found = await db
    .select({ price: prices, product: products })
    .from(prices)
    .innerJoin(products, eq(products.id, prices.productId))
    .where(and(eq(prices.accountId, row.accountId), isNull(prices.deletedAt), inArray(prices.id, named.map(({ priceId }) => priceId!))));
  const held = await readPricedItems(db, [row.id]);
  for (const { id, path, priceId } of named) {
    const isKept = held.some(({ item }) => item.id === id && item.priceId === priceId);
    if (!isKept) assertSubscribable(found.find(({ price }) => price.id === priceId)?.price, row.customerId, [...path, 'price_id']);
  }
  const left = held.filter(({ item }) => !items.some(({ id }) => id === item.id)).map(({ price }) => price);
  const sold = [...found.map(({ price }) => price), ...left];
  const alone = sold[findWithoutCompanion(sold)];
  const guilty = named.find(({ priceId }) => priceId === alone?.id);
  if (guilty) throw invalidField([...guilty.path, 'price_id'], 'The price is sold only with another one that is missing here');
  return found;
}

export interface SoldPrice {
  price: PriceRow;
  product: ProductRow;
}

async function priceItems(db: Db | Tx, accountId: string, request: SubscriptionRequest): Promise<PricedRequestItem[]> {
  const rows = await db
    .select({ price: prices, product: products })
    .from(prices)
    .innerJoin(products, eq(products.id, prices.productId))
    .where(and(eq(prices.accountId, accountId), isNull(prices.deletedAt), inArray(prices.id, request.items.map(({ priceId }) => priceId))));
  const items = request.items.map(({ priceId, ...item }, index) => {
    const found = rows.find(({ price }) => price.id === priceId);
    assertSubscribable(found?.price, request.customerId, [field, index, 'price_id']);
    return { ...found!, ...item, id: newId() };
  });
  const [first] = items;
  items.forEach(({ price }, index) => {
    if (price.currency !== first!.price.currency) throw invalidField([field, index, 'price_id'], 'All prices must share one currency');
    const same = price.billingInterval === first!.price.billingInterval && price.billingIntervalCount === first!.price.billingIntervalCount;
    if (!same) throw invalidField([field, index, 'price_id'], 'All prices must share one billing interval');
  });
  const alone = findWithoutCompanion(items.map(({ price }) => price));
  if (alone >= 0) throw invalidField([field, alone, 'price_id'], 'The price is sold only with another one that is missing here');
  return items;
}

async function checkMethod(db: Db | Tx, accountId: string, { paymentMethodId, customerId }: SubscriptionRequest): Promise<void> {
  if (paymentMethodId !== null) await assertAttached(db, accountId, { paymentMethodId, customerId });
}

/** @throws DomainError 422 naming `payment_method_id` unless the method is attached to the customer. */
export async function assertAttached(db: Db | Tx, accountId: string, { paymentMethodId, customerId }: { paymentMethodId: string; customerId: string }): Promise<void> {
  const [row] = await db
    .select({ status: paymentMethods.status, customerId: paymentMethods.customerId })
    .from(paymentMethods)
    .where(and(eq(paymentMethods.id, paymentMethodId), eq(paymentMethods.accountId, accountId)));
  if (!row) throw invalidField('payment_method_id', 'No such pm', 'unknown_reference');
  if (row.status !== 'attached' || row.customerId !== customerId) {
    throw invalidField('payment_method_id', 'The payment method is not attached to this customer');
  }
}

/** @throws DomainError 422 naming `payment_route_id`. */
export async function checkRoute(db: Db | Tx, accountId: string, routeId: string | null): Promise<void> {
  if (routeId === null) return;
  const [row] = await db
    .select({ id: paymentRoutes.id })
    .from(paymentRoutes)
    .where(and(eq(paymentRoutes.id, routeId), eq(paymentRoutes.accountId, accountId), isNull(paymentRoutes.deletedAt)));
  if (!row) throw invalidField('payment_route_id', 'No such route', 'unknown_reference');
}

/** @throws DomainError 422 when the caller expected another amount than the first invoice's. */
export function checkExpectedTotal(expected: number | null, actual: number): void {
  if (expected === null || expected === actual) return;
  throw new DomainError('invalid_request', `total_amount_atom: the first invoice is ${actual}`, {
    errors: [{ loc: ['body', 'total_amount_atom'], msg: `The first invoice is ${actual}`, type: 'value_error' }],
  });
}

/** The request as it travels as JSON: times are RFC 3339 texts. */
export function readRequest(json: NewSubscriptionJson): SubscriptionRequest {
  const instant = (text: string | null) => (text === null ? null : new Date(text));
  return { ...json, startsAt: instant(json.startsAt), trialEnd: instant(json.trialEnd) };
}
