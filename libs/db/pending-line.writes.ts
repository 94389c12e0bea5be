import { and, asc, eq, inArray, isNull, lt, sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { InvoiceLine } from '../domain/invoice/invoice.draft.js';
import { DomainError } from '../errors/domain-error.js';
import { invoiceItemView } from '../views/invoice.view.js';
import type { Tx } from './client.js';
import { enterBalance } from './customer-balance.writes.js';
import { appendEvents, type EventDraft } from './event.writes.js';
import { newId } from './mint.js';
import { backed } from './subscription-lines.queries.js';
import { invoiceItems, invoices, subscriptions, type InvoiceItemRow, type InvoiceRow, type SubscriptionRow } from './schema/index.js';

type Owner = Pick<SubscriptionRow, 'id' | 'accountId' | 'customerId' | 'currency'>;

export function lineRow(owner: Owner, line: InvoiceLine, { invoiceId, at }: { invoiceId: string | null; at: Date }): InvoiceItemRow {
  const { pendingId, debitItemId, carriedFromInvoiceId, ...fields } = line;
  return {
    id: pendingId ?? newId(),
    accountId: owner.accountId,
    customerId: owner.customerId,
    invoiceId,
    subscriptionId: line.isOwn === false ? null : owner.id,
    priceType: line.priceType ?? 'recurring',
    currency: owner.currency,
    subscriptionItemId: fields.subscriptionItemId,
    priceId: fields.priceId,
    productId: fields.productId,
    name: fields.name,
    description: fields.description,
    quantity: fields.quantity,
    amountAtom: fields.amountAtom,
    proration: fields.proration,
    periodStart: fields.periodStart,
    periodEnd: fields.periodEnd,
    debitItemId: debitItemId ?? null,
    carriedFromInvoiceId: carriedFromInvoiceId ?? null,
    deletedAt: null,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
}

/** Lines that wait for the next invoice. Events `invoice_item.created`. */
export async function addPendingLines(tx: Tx, change: Change, owner: Owner, { lines, at }: { lines: InvoiceLine[]; at: Date }): Promise<InvoiceItemRow[]> {
  if (lines.length === 0) return [];
  const rows = lines.map((line) => lineRow(owner, line, { invoiceId: null, at }));
  await tx.insert(invoiceItems).values(rows);
  await appendEvents(tx, change, rows.map((row) => createdEvent(change, row)));
  return rows;
}

export function createdEvent({ environment }: Change, row: InvoiceItemRow): EventDraft {
  return { type: 'invoice_item.created', kind: 'ii', objectId: row.id, customerId: row.customerId, data: invoiceItemView(row, environment), previous: null };
}

interface Waiting {
  ids: string[];
  at: Date;
}

/** The invoice takes lines in that waited for it; another invoice may have been faster. Events `invoice_item.updated`. */
export async function takePendingLines(tx: Tx, change: Change, { ids, at, invoiceId }: Waiting & { invoiceId: string }): Promise<void> {
  const event = { type: 'invoice_item.updated', previous: { invoice_id: null } };
  await changeWaiting(tx, change, { ids, set: { invoiceId, updatedAt: at }, event });
}

/** No invoice will take them. Events `invoice_item.deleted`. */
export async function dropPendingLines(tx: Tx, change: Change, { ids, at }: Waiting): Promise<void> {
  await changeWaiting(tx, change, { ids, set: { deletedAt: at, updatedAt: at }, event: { type: 'invoice_item.deleted', previous: { is_deleted: false } } });
}

async function changeWaiting(
  tx: Tx,
  change: Change,
  { ids, set, event }: { ids: string[]; set: Partial<InvoiceItemRow>; event: Pick<EventDraft, 'type' | 'previous'> },
): Promise<void> {
  if (ids.length === 0) return;
  const rows = await tx
    .update(invoiceItems)
    .set({ ...set, version: sql`${invoiceItems.version} + 1` })
    .where(and(inArray(invoiceItems.id, ids), isNull(invoiceItems.invoiceId), isNull(invoiceItems.deletedAt)))
    .returning();
  if (rows.length !== ids.length) throw new DomainError('version_conflict');
  const inOrder = rows.sort((a, b) => (a.id < b.id ? -1 : 1));
  await appendEvents(tx, change, inOrder.map((row) => ({ ...event, kind: 'ii', objectId: row.id, customerId: row.customerId, data: invoiceItemView(row, change.environment) })));
}

/**
 * What a voided invoice leaves behind. Lines that it had taken in wait again, as copies, for it forgives its own lines only. What
 * gives back one of its lines has lost its ground: waiting credits are dropped, those on other invoices are charged back.
 */
export async function releaseLines(tx: Tx, change: Change, invoice: InvoiceRow, at: Date): Promise<void> {
  const taken = await tx
    .select({ row: invoiceItems, backed })
    .from(invoiceItems)
    .where(and(eq(invoiceItems.invoiceId, invoice.id), isNull(invoiceItems.deletedAt), lt(invoiceItems.id, invoice.id)))
    .orderBy(asc(invoiceItems.id));
  const hasEnd = await hasEnded(tx, invoice);
  if (hasEnd) await creditTaken(tx, change, { invoice, at, sum: taken.reduce((sum, line) => sum + (line.backed ? line.row.amountAtom : 0), 0) });
  else await waitAgain(tx, change, { invoice, at, taken: taken.map(({ row }) => row) });
  const given = await dropUnfounded(tx, change, invoice, at);
  if (!hasEnd) await chargeBack(tx, change, given, at);
}

async function hasEnded(tx: Tx, { subscriptionId }: InvoiceRow): Promise<boolean> {
  if (subscriptionId === null) return false;
  const [row] = await tx.select({ status: subscriptions.status }).from(subscriptions).where(eq(subscriptions.id, subscriptionId));
  return row?.status === 'cancelled';
}

interface Released {
  invoice: InvoiceRow;
  at: Date;
}

/** No invoice follows that could take the lines: what is to the customer's credit goes to the balance, the rest is forgiven. */
async function creditTaken(tx: Tx, change: Change, { invoice, at, sum }: Released & { sum: number }): Promise<void> {
  if (sum >= 0) return;
  const entry = { customerId: invoice.customerId, currency: invoice.currency, amountAtom: -sum, invoiceId: invoice.id };
  await enterBalance(tx, change, { ...entry, type: 'unapplied_from_invoice', description: `Returned from voided invoice ${invoice.number}` }, at);
}

async function waitAgain(tx: Tx, change: Change, { invoice, at, taken }: Released & { taken: InvoiceItemRow[] }): Promise<void> {
  const copies = taken.map((row) => ({ ...row, id: newId(), invoiceId: null, version: 1, createdAt: at, updatedAt: at }));
  if (copies.length > 0) await tx.insert(invoiceItems).values(copies);
  for (const [index, row] of taken.entries()) {
    await tx.update(invoiceItems).set({ debitItemId: copies[index]!.id }).where(and(eq(invoiceItems.debitItemId, row.id), sql`${invoiceItems.invoiceId} is distinct from ${invoice.id}`));
  }
  await appendEvents(tx, change, copies.map((row) => createdEvent(change, row)));
}

/** Answers the credits that other invoices have given. */
async function dropUnfounded(tx: Tx, change: Change, invoice: InvoiceRow, at: Date): Promise<InvoiceItemRow[]> {
  const own = tx.select({ id: invoiceItems.id }).from(invoiceItems).where(eq(invoiceItems.invoiceId, invoice.id));
  const credits = await tx
    .select({ row: invoiceItems, status: invoices.status })
    .from(invoiceItems)
    .leftJoin(invoices, eq(invoices.id, invoiceItems.invoiceId))
    .where(and(inArray(invoiceItems.debitItemId, own), isNull(invoiceItems.deletedAt), sql`${invoiceItems.invoiceId} is distinct from ${invoice.id}`))
    .orderBy(asc(invoiceItems.id));
  const waiting = credits.filter(({ row }) => row.invoiceId === null).map(({ row }) => row.id);
  await dropPendingLines(tx, change, { ids: waiting, at });
  return credits.filter(({ status }) => status !== null && status !== 'void').map(({ row }) => row);
}

async function chargeBack(tx: Tx, change: Change, given: InvoiceItemRow[], at: Date): Promise<void> {
  const back = given.map((row) => ({
    ...row, id: newId(), invoiceId: null, amountAtom: -row.amountAtom, name: `Charged back: ${row.name}`, debitItemId: row.id, version: 1, createdAt: at, updatedAt: at,
  }));
  if (back.length === 0) return;
  await tx.insert(invoiceItems).values(back);
  await appendEvents(tx, change, back.map((row) => createdEvent(change, row)));
}
