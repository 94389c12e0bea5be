import { and, eq, inArray, isNull } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { Environment } from '../domain/environment.js';
import { DomainError, invalidField } from '../errors/domain-error.js';
import { priceView, type PriceProduct } from '../views/price.view.js';
import type { Tx } from './client.js';
import { appendEvents, previousValues } from './event.writes.js';
import { checkPriceReferences } from './price-references.queries.js';
import { productKind } from './product.record.js';
import { createRecord, deleteRecord, lockRecord, updateRecord, type RecordKind } from './record.writes.js';
import { prices, products, type PriceRow, type ProductRow } from './schema/index.js';

export type PriceFields = Omit<typeof prices.$inferInsert, 'id' | 'accountId' | 'version' | 'createdAt' | 'updatedAt' | 'deletedAt' | 'usedAt'>;

/** What a price that was used still may change: the rest is what somebody agreed to pay. */
const alwaysFree = new Set<keyof PriceFields>([
  'name', 'internalDescription', 'isActive', 'customFields', 'metadata', 'isExclusive', 'canOnlyBePurchasedWith', 'listedExclusivelyForCustomers',
]);

/**
 * Event `price.created`; `asDefault` makes it the product's default, with events `product.updated` and `price.updated` of the
 * default before. @throws DomainError 422 naming what is unknown.
 */
export async function createPrice(
  tx: Tx,
  change: Change,
  { id, fields, asDefault }: { id: string; fields: PriceFields; asDefault: boolean },
): Promise<{ price: PriceRow; product: ProductRow }> {
  const product = await lockProduct(tx, change, fields.productId);
  await checkPriceReferences(tx, change.accountId, fields);
  const now = new Date();
  const kind = kindWith(asDefault ? { ...product, defaultPriceId: id } : product);
  const price = await createRecord(tx, change, kind, { ...fields, id, accountId: change.accountId, createdAt: now, updatedAt: now });
  if (!asDefault) return { price, product };
  const after = await updateRecord(tx, change, productKind, { id: product.id, patch: () => ({ defaultPriceId: id }) });
  if (product.defaultPriceId) await tellDefault(tx, change, { priceId: product.defaultPriceId, before: product, after });
  return { price, product: after };
}

/**
 * Event `price.updated`. @throws DomainError 404; 409 when it was used and the change would alter what is paid; 422 naming what
 * is unknown.
 */
export async function updatePrice(
  tx: Tx,
  change: Change,
  { id, patch }: { id: string; patch: (before: PriceRow) => Partial<PriceFields> },
): Promise<{ price: PriceRow; product: ProductRow }> {
  const product = await productOf(tx, change, id);
  const price = await updateRecord(tx, change, kindWith(product), {
    id,
    patch: async (before) => {
      const fields = patch(before);
      if (before.usedAt) refuseChangesOfTerms(before, fields);
      await checkPriceReferences(tx, change.accountId, fields, before);
      return fields;
    },
  });
  return { price, product };
}

/** Deletes a price that nobody used, else archives it (`is_active: false`). Event `price.deleted` or `price.updated`. */
export async function deletePrice(tx: Tx, change: Change, id: string): Promise<{ archived: boolean }> {
  const product = await productOf(tx, change, id);
  const { archived } = await removePrice(tx, change, { product, id });
  if (product.defaultPriceId === id && !archived) {
    await updateRecord(tx, change, productKind, { id: product.id, patch: () => ({ defaultPriceId: null }) });
  }
  return { archived };
}

/** As `deletePrice`, but leaves the product to the caller, who holds its lock. */
export async function removePrice(
  tx: Tx,
  change: Change,
  { product, id }: { product: ProductRow; id: string },
): Promise<{ archived: boolean }> {
  const before = await lockRecord(tx, change, kindWith(product), id);
  if (before.usedAt) await updateRecord(tx, change, kindWith(product), { id, patch: () => ({ isActive: false }) });
  else await deleteRecord(tx, change, kindWith(product), id);
  return { archived: before.usedAt !== null };
}

/** Event `price.updated` of a price that became or ceased to be its product's default. The caller holds the product's lock. */
export async function tellDefault(
  tx: Tx,
  change: Change,
  { priceId, before, after }: { priceId: string; before: ProductRow; after: ProductRow },
): Promise<void> {
  if ((before.defaultPriceId === priceId) === (after.defaultPriceId === priceId)) return;
  const [price] = await tx.select().from(prices).where(and(eq(prices.id, priceId), isNull(prices.deletedAt))).for('update');
  if (!price) return;
  const stamps = { version: price.version + 1, updatedAt: new Date() };
  await tx.update(prices).set(stamps).where(eq(prices.id, priceId));
  const data = priceView({ ...price, ...stamps }, after, change.environment);
  const previous = previousValues(priceView(price, before, change.environment), data);
  await appendEvents(tx, change, [{ type: 'price.updated', kind: 'price', objectId: priceId, data, previous }]);
}

function kindWith(product: PriceProduct): RecordKind<typeof prices> {
  return { table: prices, kind: 'price', name: 'price', view: (row, environment: Environment) => priceView(row, product, environment) };
}

async function lockProduct(tx: Tx, change: Change, productId: string): Promise<ProductRow> {
  const own = and(eq(products.accountId, change.accountId), eq(products.id, productId), isNull(products.deletedAt));
  const [row] = await tx.select().from(products).where(own).for('update');
  if (!row) throw invalidField('product_id', 'No such product', 'unknown_reference');
  return row;
}

async function productOf(tx: Tx, change: Change, priceId: string): Promise<ProductRow> {
  const own = and(eq(prices.accountId, change.accountId), eq(prices.id, priceId), isNull(prices.deletedAt));
  const [found] = await tx
    .select({ product: products })
    .from(prices)
    .innerJoin(products, eq(products.id, prices.productId))
    .where(own)
    .for('update', { of: products });
  if (!found) throw new DomainError('not_found', 'No such price.');
  return found.product;
}

function refuseChangesOfTerms(before: PriceRow, fields: Partial<PriceFields>): void {
  for (const [key, value] of Object.entries(fields)) {
    const known = before[key as keyof PriceRow];
    if (alwaysFree.has(key as keyof PriceFields) || JSON.stringify(value) === JSON.stringify(known)) continue;
    throw new DomainError('conflict', 'The price is in use: make a new one, and archive this one, to change what is paid.');
  }
}

/** Prices that somebody agreed to: from now on their terms stand, and they are archived, never deleted. */
export async function markPricesUsed(tx: Tx, ids: readonly string[], at: Date): Promise<void> {
  if (ids.length > 0) await tx.update(prices).set({ usedAt: at }).where(and(inArray(prices.id, [...ids]), isNull(prices.usedAt)));
}
