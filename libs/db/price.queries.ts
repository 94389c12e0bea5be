import { and, arrayOverlaps, eq, inArray, isNull } from 'drizzle-orm';
import type { Db, Tx } from './client.js';
import { prices, products, type PriceRow, type ProductRow } from './schema/index.js';

export interface PriceWithProduct {
  price: PriceRow;
  product: ProductRow;
}

export async function findPrice(db: Db | Tx, accountId: string, id: string): Promise<PriceWithProduct | null> {
  const own = and(eq(prices.accountId, accountId), eq(prices.id, id), isNull(prices.deletedAt));
  const [row] = await db.select({ price: prices, product: products }).from(prices).innerJoin(products, eq(products.id, prices.productId)).where(own);
  return row ?? null;
}

/** The products of these prices, by product id. */
export async function productsOfPrices(db: Db | Tx, rows: PriceRow[]): Promise<Map<string, ProductRow>> {
  const ids = [...new Set(rows.map((row) => row.productId))];
  const found = ids.length === 0 ? [] : await db.select().from(products).where(inArray(products.id, ids));
  return new Map(found.map((row) => [row.id, row]));
}

/** Active prices that can be bought only together with one of these objects (public ids of a price or product). */
export async function findAddOns(db: Db | Tx, accountId: string, publicIds: string[]): Promise<PriceRow[]> {
  const own = and(eq(prices.accountId, accountId), isNull(prices.deletedAt), eq(prices.isActive, true));
  return db.select().from(prices).where(and(own, arrayOverlaps(prices.canOnlyBePurchasedWith, publicIds))).orderBy(prices.id).limit(100);
}
