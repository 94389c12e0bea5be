import { and, asc, eq, inArray, isNull } from 'drizzle-orm';
import type { Db, Tx } from './client.js';
import { prices, productFamilies, products, type PriceRow, type ProductFamilyRow, type ProductRow } from './schema/index.js';

export async function findProduct(db: Db | Tx, accountId: string, id: string): Promise<ProductRow | null> {
  const own = and(eq(products.accountId, accountId), eq(products.id, id), isNull(products.deletedAt));
  const [row] = await db.select().from(products).where(own);
  return row ?? null;
}

/** The undeleted prices of these products, oldest first, by product. */
export async function pricesOfProducts(db: Db | Tx, productIds: string[]): Promise<Map<string, PriceRow[]>> {
  const found = new Map<string, PriceRow[]>(productIds.map((id) => [id, []]));
  if (productIds.length === 0) return found;
  const own = and(inArray(prices.productId, productIds), isNull(prices.deletedAt));
  for (const row of await db.select().from(prices).where(own).orderBy(asc(prices.id))) found.get(row.productId)?.push(row);
  return found;
}

/** The given ids that name no product of the account. */
export async function unknownProducts(db: Db | Tx, accountId: string, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const own = and(eq(products.accountId, accountId), inArray(products.id, ids), isNull(products.deletedAt));
  const known = new Set((await db.select({ id: products.id }).from(products).where(own)).map((row) => row.id));
  return ids.filter((id) => !known.has(id));
}

export async function findProductFamily(db: Db | Tx, accountId: string, id: string): Promise<ProductFamilyRow | null> {
  const own = and(eq(productFamilies.accountId, accountId), eq(productFamilies.id, id), isNull(productFamilies.deletedAt));
  const [row] = await db.select().from(productFamilies).where(own);
  return row ?? null;
}
