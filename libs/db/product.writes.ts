import { and, asc, eq, isNull } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { invalidField } from '../errors/domain-error.js';
import { productFamilyView } from '../views/product.view.js';
import type { Tx } from './client.js';
import { removePrice, tellDefault } from './price.writes.js';
import { productKind as product } from './product.record.js';
import { createRecord, deleteRecord, lockRecord, updateRecord, type RecordKind } from './record.writes.js';
import { prices, productFamilies, products, type ProductFamilyRow, type ProductRow } from './schema/index.js';

const family: RecordKind<typeof productFamilies> = { table: productFamilies, kind: 'pf', name: 'product_family', view: productFamilyView };

type Own = 'id' | 'accountId' | 'version' | 'createdAt' | 'updatedAt' | 'deletedAt';
export type ProductFields = Omit<typeof products.$inferInsert, Own>;
export type ProductFamilyFields = Omit<typeof productFamilies.$inferInsert, Own>;

/** Event `product.created`. */
export async function createProduct(tx: Tx, change: Change, { id, fields }: { id: string; fields: ProductFields }): Promise<ProductRow> {
  const now = new Date();
  return createRecord(tx, change, product, { ...fields, id, accountId: change.accountId, createdAt: now, updatedAt: now });
}

/**
 * Event `product.updated`, and `price.updated` of the prices that became or ceased to be the default.
 * @throws DomainError 404; 422 when the default price is not one of this product.
 */
export async function updateProduct(tx: Tx, change: Change, { id, fields }: { id: string; fields: Partial<ProductFields> }): Promise<ProductRow> {
  const before = await lockRecord(tx, change, product, id);
  const after = await updateRecord(tx, change, product, {
    id,
    patch: async () => {
      if (fields.defaultPriceId) await checkDefaultPrice(tx, { productId: id, priceId: fields.defaultPriceId });
      return fields;
    },
  });
  const defaults = [before.defaultPriceId, after.defaultPriceId].filter((priceId) => priceId !== null).sort();
  for (const priceId of new Set(defaults)) await tellDefault(tx, change, { priceId, before, after });
  return after;
}

/**
 * Deletes the product and its prices; once a price of it was used, archives them instead (`is_active: false`).
 * Events `product.deleted` or `product.updated`, and of each price `price.deleted` or `price.updated`.
 */
export async function deleteProduct(tx: Tx, change: Change, id: string): Promise<{ archived: boolean }> {
  const before = await lockRecord(tx, change, product, id);
  const own = and(eq(prices.productId, id), isNull(prices.deletedAt));
  const all = await tx.select({ id: prices.id }).from(prices).where(own).orderBy(asc(prices.id));
  const archived = new Set<string>();
  for (const price of all) if ((await removePrice(tx, change, { product: before, id: price.id })).archived) archived.add(price.id);
  if (archived.size === 0) {
    await deleteRecord(tx, change, product, id);
    return { archived: false };
  }
  const defaultPriceId = before.defaultPriceId && archived.has(before.defaultPriceId) ? before.defaultPriceId : null;
  await updateRecord(tx, change, product, { id, patch: () => ({ isActive: false, defaultPriceId }) });
  return { archived: true };
}

async function checkDefaultPrice(tx: Tx, { productId, priceId }: { productId: string; priceId: string }): Promise<void> {
  const [price] = await tx.select({ productId: prices.productId }).from(prices).where(and(eq(prices.id, priceId), isNull(prices.deletedAt)));
  if (price?.productId !== productId) throw invalidField('default_price_id', 'Not a price of this product', 'unknown_reference');
}

/** Event `product_family.created`. */
export async function createProductFamily(tx: Tx, change: Change, { id, fields }: { id: string; fields: ProductFamilyFields }): Promise<ProductFamilyRow> {
  const now = new Date();
  return createRecord(tx, change, family, { ...fields, id, accountId: change.accountId, createdAt: now, updatedAt: now });
}

/** Event `product_family.updated`. @throws DomainError 404 */
export async function updateProductFamily(
  tx: Tx,
  change: Change,
  { id, fields }: { id: string; fields: Partial<ProductFamilyFields> },
): Promise<ProductFamilyRow> {
  return updateRecord(tx, change, family, { id, patch: () => fields });
}

/** Event `product_family.deleted`; its products stay. @throws DomainError 404 */
export async function deleteProductFamily(tx: Tx, change: Change, id: string): Promise<void> {
  await deleteRecord(tx, change, family, id);
}
