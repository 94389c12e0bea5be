import { and, arrayOverlaps, eq, inArray, isNull, ne, type SQL } from 'drizzle-orm';
import type { Environment } from '../domain/environment.js';
import { publicId } from '../views/ids.js';
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

interface Place {
  accountId: string;
  environment: Environment;
}

const mostAddOns = 100;

/** Active prices that can be bought only together with this one or its product. */
export async function findAddOns(db: Db | Tx, place: Place, price: PriceRow): Promise<PriceRow[]> {
  const others = and(namingOneOf(place, namesOf(place, price)), ne(prices.id, price.id));
  return db.select().from(prices).where(others).orderBy(prices.id).limit(mostAddOns);
}

/** The ids of what `findAddOns` finds, by price id, for many prices at once. */
export async function addOnsOfPrices(db: Db | Tx, place: Place, rows: PriceRow[]): Promise<Map<string, string[]>> {
  if (rows.length === 0) return new Map();
  const names = [...new Set(rows.flatMap((row) => namesOf(place, row)))];
  const columns = { id: prices.id, goesWith: prices.canOnlyBePurchasedWith };
  const found = await db.select(columns).from(prices).where(namingOneOf(place, names)).orderBy(prices.id);
  const byName = new Map<string, string[]>(names.map((name) => [name, []]));
  for (const { id, goesWith } of found) for (const name of goesWith) byName.get(name)?.push(id);
  return new Map(rows.map((row) => {
    const addOns = new Set(namesOf(place, row).flatMap((name) => byName.get(name)!));
    addOns.delete(row.id);
    return [row.id, [...addOns].sort().slice(0, mostAddOns)];
  }));
}

/** The public ids by which another price may name this one. */
function namesOf({ environment }: Place, price: PriceRow): string[] {
  return [publicId('price', environment, price.id), publicId('product', environment, price.productId)];
}

function namingOneOf({ accountId }: Place, names: string[]): SQL | undefined {
  const own = and(eq(prices.accountId, accountId), isNull(prices.deletedAt), eq(prices.isActive, true));
  return and(own, arrayOverlaps(prices.canOnlyBePurchasedWith, names));
}
