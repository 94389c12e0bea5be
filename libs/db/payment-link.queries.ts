import { and, asc, eq, inArray, isNull } from 'drizzle-orm';
import { linkTotal, lineAmount } from '../domain/payment-link/payment-link.js';
import type { PaymentLinkParts } from '../views/payment-link.view.js';
import type { Db, Tx } from './client.js';
import { accounts, customers, paymentLinkItems, paymentLinks, prices, products, type PaymentLinkItemRow, type PaymentLinkRow } from './schema/index.js';

export async function findPaymentLink(db: Db | Tx, accountId: string, id: string): Promise<PaymentLinkRow | null> {
  const [row] = await db
    .select()
    .from(paymentLinks)
    .where(and(eq(paymentLinks.accountId, accountId), eq(paymentLinks.id, id), isNull(paymentLinks.deletedAt)));
  return row ?? null;
}

/** The link that the keyed hash of a page's token names, of whatever account: the token is the credential. */
export async function findPaymentLinkByToken(db: Db, tokenHash: string): Promise<PaymentLinkRow | null> {
  const [row] = await db.select().from(paymentLinks).where(and(eq(paymentLinks.tokenHash, tokenHash), isNull(paymentLinks.deletedAt)));
  return row ?? null;
}

/** What the view shows around each link, by the link's id. */
export async function readLinkParts(db: Db | Tx, links: readonly PaymentLinkRow[]): Promise<Map<string, PaymentLinkParts>> {
  if (links.length === 0) return new Map();
  const ids = links.map((link) => link.id);
  const customerIds = links.flatMap((link) => (link.customerId ? [link.customerId] : []));
  const items = await db.select().from(paymentLinkItems).where(inArray(paymentLinkItems.paymentLinkId, ids)).orderBy(asc(paymentLinkItems.id));
  const named = await db
    .select({ id: accounts.id, name: accounts.name })
    .from(accounts)
    .where(inArray(accounts.id, links.map((link) => link.accountId)));
  const known = customerIds.length === 0 ? [] : await db.select({ id: customers.id, email: customers.email }).from(customers).where(inArray(customers.id, customerIds));
  const names = new Map(named.map((row) => [row.id, row.name]));
  const emails = new Map(known.map((row) => [row.id, row.email]));
  return new Map(
    links.map((link) => [
      link.id,
      {
        items: items.filter((item) => item.paymentLinkId === link.id),
        accountName: names.get(link.accountId) ?? '',
        customerEmail: link.customerId ? (emails.get(link.customerId) ?? null) : null,
      },
    ]),
  );
}

export interface LinkLine {
  item: PaymentLinkItemRow;
  name: string;
  unitAmountAtom: number;
  amountAtom: number;
}

export interface LinkOffer {
  accountName: string;
  customerEmail: string | null;
  lines: LinkLine[];
  /** Null if it can no longer be sold: a price or product is archived, or the customer is gone. */
  amountAtom: number | null;
}

/** What a link sells now. */
export async function readLinkOffer(db: Db, link: PaymentLinkRow): Promise<LinkOffer> {
  const [parts, rows, customer] = await Promise.all([
    readLinkParts(db, [link]),
    db
      .select({ item: paymentLinkItems, price: prices, product: products })
      .from(paymentLinkItems)
      .innerJoin(prices, eq(prices.id, paymentLinkItems.priceId))
      .innerJoin(products, eq(products.id, prices.productId))
      .where(eq(paymentLinkItems.paymentLinkId, link.id))
      .orderBy(asc(paymentLinkItems.id)),
    link.customerId ? db.select({ deletedAt: customers.deletedAt }).from(customers).where(eq(customers.id, link.customerId)) : [],
  ]);
  const priced = rows.map(({ item, price, product }) => {
    const line = { quantity: item.quantity, unitAmountAtom: price.unitAmountAtom, divideBy: price.transformQuantityDivideBy };
    return { item, line, name: price.name ?? product.name, sold: price.isActive && !price.deletedAt && product.isActive && !product.deletedAt };
  });
  const { accountName, customerEmail } = parts.get(link.id)!;
  const sold = priced.length > 0 && priced.every((entry) => entry.sold) && customer.every((row) => row.deletedAt === null);
  return {
    accountName,
    customerEmail,
    lines: priced.map(({ item, line, name }) => ({ item, name, unitAmountAtom: line.unitAmountAtom, amountAtom: lineAmount(line) })),
    amountAtom: sold ? linkTotal(priced.map((entry) => entry.line)) : null,
  };
}
