import { and, eq, inArray, isNull } from 'drizzle-orm';
import { invalidField } from '../errors/domain-error.js';
import { kindName, uuidOf } from '../views/ids.js';
import type { Db, Tx } from './client.js';
import { customers, prices, products, type PriceRow } from './schema/index.js';

type Named = Pick<PriceRow, 'listedExclusivelyForCustomers' | 'canOnlyBePurchasedWith'>;

interface Reference {
  field: string;
  kind: 'cus' | 'price' | 'product';
  id: string;
}

/**
 * Every customer, price and product that a price names is one of the account. What it named `before` is not asked again, for
 * that may have been deleted since.
 * @throws DomainError 422 naming the field with its index.
 */
export async function checkPriceReferences(db: Db | Tx, accountId: string, fields: Partial<Named>, before?: Named): Promise<void> {
  const references = referencesOf(fields, before);
  const known = new Set([
    ...(await knownIds(db, customers, accountId, idsOf(references, 'cus'))),
    ...(await knownIds(db, prices, accountId, idsOf(references, 'price'))),
    ...(await knownIds(db, products, accountId, idsOf(references, 'product'))),
  ]);
  const unknown = references.find(({ id }) => !known.has(id));
  if (unknown) throw invalidField(unknown.field, `No such ${kindName(unknown.kind)}`, 'unknown_reference');
}

/** The index of the first of these prices, sold together, that is not to be sold without another one that is absent; -1 if none. */
export function findWithoutCompanion(sold: PriceRow[]): number {
  return sold.findIndex((price) => {
    const companions = new Set(price.canOnlyBePurchasedWith.map(uuidOf));
    return companions.size > 0 && !sold.some((other) => other.id !== price.id && (companions.has(other.id) || companions.has(other.productId)));
  });
}

function referencesOf(fields: Partial<Named>, before?: Named): Reference[] {
  const references: Reference[] = [];
  fields.listedExclusivelyForCustomers?.forEach((id, index) => {
    if (before?.listedExclusivelyForCustomers.includes(id)) return;
    references.push({ field: `listed_exclusively_for_customers.${index}`, kind: 'cus', id });
  });
  fields.canOnlyBePurchasedWith?.forEach((publicId, index) => {
    if (before?.canOnlyBePurchasedWith.includes(publicId)) return;
    const kind = publicId.startsWith('product_') ? 'product' : 'price';
    references.push({ field: `can_only_be_purchased_with.${index}`, kind, id: uuidOf(publicId) });
  });
  return references;
}

function idsOf(references: Reference[], kind: Reference['kind']): string[] {
  return references.filter((reference) => reference.kind === kind).map(({ id }) => id);
}

type Owned = typeof customers | typeof prices | typeof products;

async function knownIds(db: Db | Tx, table: Owned, accountId: string, ids: string[]): Promise<string[]> {
  if (ids.length === 0) return [];
  const rows = await db
    .select({ id: table.id })
    .from(table)
    .where(and(eq(table.accountId, accountId), inArray(table.id, ids), isNull(table.deletedAt)));
  return rows.map((row) => row.id);
}
