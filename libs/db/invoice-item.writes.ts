import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { assertInvoiceMay } from '../domain/invoice/invoice.machine.js';
import { invalidField, notFound } from '../errors/domain-error.js';
import type { Tx } from './client.js';
import { appendEvents } from './event.writes.js';
import { lockInvoice, updateInvoice } from './invoice.writes.js';
import { amountOf, findBilled, findSaleable, linesOf } from './manual-invoice.queries.js';
import { soldLine, totalOf } from './manual-invoice.record.js';
import { itemEvent } from './manual-invoice.writes.js';
import { markPricesUsed } from './price.writes.js';
import { invoiceItems, type InvoiceItemRow } from './schema/index.js';
import { nowOf } from './test-clock.queries.js';

/** A person's wish for a line on the customer's next invoice; ids are UUIDs. */
export interface PendingLine {
  id: string;
  customerId: string;
  subscriptionId: string | null;
  priceId: string;
  quantity: number;
  /** Atoms of the price's currency, instead of its amount; negative gives back. */
  amountAtom: number | null;
  description: string | null;
}

/**
 * A line that waits for the next invoice; event `invoice_item.created`. A retry of the same command finds it.
 * @throws DomainError 422 naming the field.
 */
export async function createPendingLine(tx: Tx, change: Change, wish: PendingLine, now: Date): Promise<InvoiceItemRow> {
  const [known] = await tx.select().from(invoiceItems).where(and(eq(invoiceItems.id, wish.id), eq(invoiceItems.accountId, change.accountId)));
  if (known) return known;
  await findBilled(tx, change.accountId, wish);
  const found = await findSaleable(tx, change.accountId, { ...wish, loc: ['price_id'] });
  if (found.price.canOnlyBePurchasedWith.length > 0) throw invalidField('price_id', 'The price is sold only with another one');
  const amountAtom = wish.amountAtom ?? amountOf(found, wish.quantity, ['quantity']);
  const line = { ...soldLine(change.accountId, wish, { ...found, ...wish, amountAtom }, now), id: wish.id };
  await tx.insert(invoiceItems).values(line);
  await markPricesUsed(tx, [line.priceId], now);
  await appendEvents(tx, change, [itemEvent(change, 'created', line)]);
  return line;
}

/**
 * Takes a line off a draft, or one that is pending; events `invoice_item.deleted` and, of its draft, `invoice.updated`.
 * @throws DomainError 404, 409 for a line of an invoice that is no draft any more.
 */
export async function deleteLine(tx: Tx, change: Change, id: string): Promise<void> {
  const [seen] = await tx.select().from(invoiceItems).where(and(eq(invoiceItems.id, id), eq(invoiceItems.accountId, change.accountId)));
  const invoice = seen?.invoiceId ? await lockInvoice(tx, change.accountId, seen.invoiceId) : null;
  const before = await lockLine(tx, change.accountId, id);
  if (before.invoiceId !== (invoice?.id ?? null)) return deleteLine(tx, change, id);
  const now = await nowOf(tx, before.customerId);
  if (invoice) assertInvoiceMay(invoice.status, 'edit');
  const [after] = await tx
    .update(invoiceItems)
    .set({ deletedAt: now, updatedAt: now, version: sql`${invoiceItems.version} + 1` })
    .where(eq(invoiceItems.id, id))
    .returning();
  await appendEvents(tx, change, [itemEvent(change, 'deleted', after!, before)]);
  if (!invoice) return;
  const totalAtom = totalOf(await linesOf(tx, invoice.id));
  await updateInvoice(tx, change, { row: invoice, set: { totalAtom, dueAtom: Math.max(totalAtom, 0) }, at: now, event: 'invoice.updated' });
}

async function lockLine(tx: Tx, accountId: string, id: string): Promise<InvoiceItemRow> {
  const own = and(eq(invoiceItems.id, id), eq(invoiceItems.accountId, accountId), isNull(invoiceItems.deletedAt));
  const [row] = await tx.select().from(invoiceItems).where(own).for('update');
  if (!row) throw notFound('invoice item');
  return row;
}
