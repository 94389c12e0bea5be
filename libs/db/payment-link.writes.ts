import { and, asc, count, eq, gt, inArray, isNull } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { windowStart, type Limit } from '../domain/payment-link/attempt-limit.js';
import { linkTotal } from '../domain/payment-link/payment-link.js';
import { DomainError, invalidField, notFound } from '../errors/domain-error.js';
import { paymentLinkView, type PaymentLinkView } from '../views/payment-link.view.js';
import { raiseAttention } from './attention.writes.js';
import type { Tx } from './client.js';
import { oncePerCommand } from './command.writes.js';
import { appendEvents, previousValues } from './event.writes.js';
import { newId } from './mint.js';
import { readLinkParts } from './payment-link.queries.js';
import { findWithoutCompanion } from './price-references.queries.js';
import { markPricesUsed } from './price.writes.js';
import { customers, paymentLinkAttempts, paymentLinkItems, paymentLinks, paymentRoutes, prices, products, type PaymentLinkRow } from './schema/index.js';

/** The line on the attention list that a self-paused link opens; resolving it reopens the link. */
export const linkPausedAttention = 'payment_link_paused';

export interface NewLinkItem {
  priceId: string;
  quantity: number;
  description: string | null;
  customFields: Record<string, unknown> | null;
}

export interface NewPaymentLink {
  id: string;
  tokenHash: string;
  tokenSealed: string;
  customerId: string | null;
  alwaysCreateNewCustomer: boolean;
  paymentRouteId: string | null;
  successUrl: string | null;
  checkoutPreferences: Record<string, unknown> | null;
  customFields: Record<string, unknown> | null;
  metadata: Record<string, unknown> | null;
  items: NewLinkItem[];
}

/**
 * A link of mode `payment`; event `payment_link.created`. Its prices count as used from now on.
 * @throws DomainError 422 naming the line, customer or route that does not fit.
 */
export async function createPaymentLink(tx: Tx, change: Change, { items, ...values }: NewPaymentLink): Promise<void> {
  await oncePerCommand(tx, change, { objectId: values.id, step: 'create' }, async () => {
    await checkReferences(tx, change.accountId, values);
    const currency = await takePrices(tx, change, { items, customerId: values.customerId });
    const at = new Date();
    const stamps = { createdAt: at, updatedAt: at };
    const [row] = await tx.insert(paymentLinks).values({ ...values, accountId: change.accountId, mode: 'payment', currency, ...stamps }).returning();
    await tx.insert(paymentLinkItems).values(items.map((item) => ({ ...item, id: newId(), paymentLinkId: values.id, ...stamps })));
    const data = await viewOf(tx, row!, change);
    await appendEvents(tx, change, [{ type: 'payment_link.created', kind: 'plink', objectId: row!.id, customerId: row!.customerId, data, previous: null }]);
    return null;
  });
}

/** Locks the prices, checks that they can be sold together, marks them as used; answers their currency. */
async function takePrices(tx: Tx, change: Change, { items, customerId }: { items: NewLinkItem[]; customerId: string | null }): Promise<string> {
  const ids = [...new Set(items.map((item) => item.priceId))];
  const rows = await tx
    .select({ price: prices, product: products })
    .from(prices)
    .innerJoin(products, eq(products.id, prices.productId))
    .where(and(eq(prices.accountId, change.accountId), inArray(prices.id, ids), isNull(prices.deletedAt)))
    .orderBy(asc(prices.id))
    .for('update', { of: prices });
  const known = new Map(rows.map((row) => [row.price.id, row]));
  const lines = items.map((item, index) => {
    const at = ['line_items', index, 'price_id'];
    const found = known.get(item.priceId);
    if (!found) throw invalidField(at, 'No such price', 'unknown_reference');
    const { price, product } = found;
    if (price.priceType !== 'one_time') throw invalidField(at, 'A link of mode payment sells one-time prices only');
    if (!price.isActive || !product.isActive || product.deletedAt) throw invalidField(at, 'This price or its product is archived');
    if (price.currency !== rows[0]!.price.currency) throw invalidField(at, 'All prices of a link share one currency');
    const exclusive = price.listedExclusivelyForCustomers;
    if (exclusive.length > 0 && !(customerId && exclusive.includes(customerId))) throw invalidField(at, 'This price is listed for other customers only');
    return { quantity: item.quantity, unitAmountAtom: price.unitAmountAtom, divideBy: price.transformQuantityDivideBy };
  });
  const alone = findWithoutCompanion(items.map((item) => known.get(item.priceId)!.price));
  if (alone >= 0) throw invalidField(['line_items', alone, 'price_id'], 'This price is sold only with another one that is missing here');
  const total = linkTotal(lines);
  if (total === null) throw invalidField('line_items', 'The lines add up to more than can be charged');
  if (total === 0) throw invalidField('line_items', 'The lines add up to nothing');
  await markPricesUsed(tx, ids, new Date());
  return rows[0]!.price.currency;
}

async function checkReferences(tx: Tx, accountId: string, values: { customerId?: string | null; paymentRouteId?: string | null }): Promise<void> {
  if (values.customerId) {
    const [row] = await tx
      .select({ id: customers.id })
      .from(customers)
      .where(and(eq(customers.accountId, accountId), eq(customers.id, values.customerId), isNull(customers.deletedAt)));
    if (!row) throw invalidField('customer_id', 'No such cus', 'unknown_reference');
  }
  if (values.paymentRouteId) {
    const [row] = await tx
      .select({ id: paymentRoutes.id })
      .from(paymentRoutes)
      .where(and(eq(paymentRoutes.accountId, accountId), eq(paymentRoutes.id, values.paymentRouteId), isNull(paymentRoutes.deletedAt)));
    if (!row) throw invalidField('payment_route_id', 'No such route', 'unknown_reference');
  }
}

export type PaymentLinkPatch = Partial<
  Pick<PaymentLinkRow, 'active' | 'alwaysCreateNewCustomer' | 'paymentRouteId' | 'successUrl' | 'customFields' | 'metadata'>
>;

/**
 * Event `payment_link.updated`; none if nothing changes.
 * @throws DomainError 404; 409 when a link that paused itself is to be switched on: its attention item is resolved instead.
 */
export async function updatePaymentLink(tx: Tx, change: Change, { id, patch }: { id: string; patch: PaymentLinkPatch }): Promise<void> {
  await oncePerCommand(tx, change, { objectId: id, step: 'update' }, async () => {
    const before = await lockLink(tx, change.accountId, id);
    await checkReferences(tx, change.accountId, patch);
    if (patch.active === true && before.inactiveReason === 'declines') {
      throw new DomainError('conflict', 'This link paused itself after too many declines. Resolve its attention item to reopen it.');
    }
    const inactiveReason = patch.active === undefined || patch.active === before.active ? before.inactiveReason : patch.active ? null : 'request';
    await store(tx, change, { before, patch: { ...patch, inactiveReason }, type: 'payment_link.updated' });
    return null;
  });
}

/** Takes payments again after a pause by declines; what was declined before does not count towards the next one. */
export async function reopenPaymentLink(tx: Tx, change: Change, id: string): Promise<void> {
  const before = await lockLink(tx, change.accountId, id);
  if (before.inactiveReason !== 'declines') return;
  const patch = { active: true, inactiveReason: null, declinesSince: new Date() };
  await store(tx, change, { before, patch, type: 'payment_link.updated' });
}

/** Pauses the link if its declines reached the limit: `active: false`, event `payment_link.paused` and a line for a person. */
export async function pauseOnDeclines(tx: Tx, change: Change, { id, limit, now }: { id: string; limit: Limit; now: Date }): Promise<boolean> {
  const before = await lockLink(tx, change.accountId, id);
  if (!before.active) return before.inactiveReason === 'declines';
  const since = windowStart(limit, now);
  const from = before.declinesSince && before.declinesSince > since ? before.declinesSince : since;
  const [declined] = await tx
    .select({ count: count() })
    .from(paymentLinkAttempts)
    .where(and(eq(paymentLinkAttempts.paymentLinkId, id), eq(paymentLinkAttempts.outcome, 'declined'), gt(paymentLinkAttempts.createdAt, from)));
  if ((declined?.count ?? 0) < limit.count) return false;
  await store(tx, change, { before, patch: { active: false, inactiveReason: 'declines' }, type: 'payment_link.paused' });
  await raiseAttention(
    tx,
    {
      accountId: change.accountId,
      type: linkPausedAttention,
      kind: 'plink',
      objectId: id,
      reason: `The link was declined ${declined!.count} times within ${limit.seconds} seconds and paused itself: somebody may be testing stolen cards.`,
      details: { declines: declined!.count, seconds: limit.seconds },
      actions: ['Look at the declined charges of this link', 'Resolve this item to reopen the link, or leave the link paused'],
    },
    now,
  );
  return true;
}

async function lockLink(tx: Tx, accountId: string, id: string): Promise<PaymentLinkRow> {
  const [row] = await tx
    .select()
    .from(paymentLinks)
    .where(and(eq(paymentLinks.accountId, accountId), eq(paymentLinks.id, id), isNull(paymentLinks.deletedAt)))
    .for('update');
  if (!row) throw notFound('payment link');
  return row;
}

interface LinkStep {
  before: PaymentLinkRow;
  patch: Partial<PaymentLinkRow>;
  type: 'payment_link.updated' | 'payment_link.paused';
}

async function store(tx: Tx, change: Change, { before, patch, type }: LinkStep): Promise<void> {
  const old = await viewOf(tx, before, change);
  const next = await viewOf(tx, { ...before, ...patch }, change);
  if (Object.keys(previousValues(old, next)).length === 0) return;
  const [row] = await tx
    .update(paymentLinks)
    .set({ ...patch, version: before.version + 1, updatedAt: new Date() })
    .where(and(eq(paymentLinks.id, before.id), eq(paymentLinks.version, before.version)))
    .returning();
  if (!row) throw new DomainError('version_conflict');
  const data = await viewOf(tx, row, change);
  const previous = previousValues(old, data);
  await appendEvents(tx, change, [{ type, kind: 'plink', objectId: row.id, customerId: row.customerId, data, previous }]);
}

async function viewOf(tx: Tx, row: PaymentLinkRow, change: Change): Promise<PaymentLinkView> {
  const parts = await readLinkParts(tx, [row]);
  return paymentLinkView(row, parts.get(row.id)!, change.environment);
}
