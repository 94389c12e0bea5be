import { inArray, sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { assertInvoiceMay, isOwed } from '../domain/invoice/invoice.machine.js';
import { DomainError } from '../errors/domain-error.js';
import { invoiceItemView } from '../views/invoice.view.js';
import type { Tx } from './client.js';
import { enterBalance, lockBalance } from './customer-balance.writes.js';
import { appendEvents, previousValues, type EventDraft } from './event.writes.js';
import { findInvoice, invoiceViews } from './invoice.queries.js';
import { commented, lockInvoice, nextNumber, updateInvoice } from './invoice.writes.js';
import { linesOf, resolveInvoice, type ManualInvoice } from './manual-invoice.queries.js';
import { draftedInvoice, finalisedInvoice, type FinalisedInvoice } from './manual-invoice.record.js';
import { markPricesUsed } from './price.writes.js';
import { readMinimum } from './subscription-lines.queries.js';
import { invoiceItems, invoices, type InvoiceItemRow, type InvoiceRow } from './schema/index.js';

/**
 * A draft made by a person, with its lines; events `invoice.created`, `invoice_item.created` and, of lines that were pending,
 * `invoice_item.updated`. A retry of the same command finds the invoice.
 * @throws DomainError 422 by `resolveInvoice`.
 */
export async function createDraft(tx: Tx, change: Change, wish: ManualInvoice, now: Date): Promise<InvoiceRow> {
  const known = await findInvoice(tx, change.accountId, wish.id);
  if (known) return known;
  const resolved = await resolveInvoice(tx, change.accountId, wish, { lock: true });
  const { row, added, taken } = draftedInvoice(change.accountId, wish, resolved, now);
  await tx.insert(invoices).values(row);
  if (added.length > 0) await tx.insert(invoiceItems).values(added);
  if (taken.length > 0) {
    const ids = taken.map(({ id }) => id);
    await tx.update(invoiceItems).set({ invoiceId: row.id, version: sql`${invoiceItems.version} + 1`, updatedAt: now }).where(inArray(invoiceItems.id, ids));
  }
  await markPricesUsed(tx, added.map(({ priceId }) => priceId), now);
  const [data] = await invoiceViews(tx, [row], change.environment);
  await appendEvents(tx, change, [
    { type: 'invoice.created', kind: 'inv', objectId: row.id, customerId: row.customerId, data: data!, previous: null },
    ...added.map((line) => itemEvent(change, 'created', line)),
    ...taken.map((line, index) => itemEvent(change, 'updated', line, resolved.pending[index])),
  ]);
  return row;
}

export function itemEvent(change: Change, verb: 'created' | 'updated' | 'deleted', line: InvoiceItemRow, before?: InvoiceItemRow): EventDraft {
  const data = invoiceItemView(line, change.environment);
  const previous = before ? previousValues(invoiceItemView(before, change.environment), data) : null;
  return { type: `invoice_item.${verb}`, kind: 'ii', objectId: line.id, customerId: line.customerId, data, previous };
}

/**
 * Gives a draft its number and what is due: the customer's credit is used first, a negative total becomes credit, nothing due
 * is paid at once, and an amount that no processor takes is carried to the next invoice. Events `invoice.finalized`,
 * `invoice.paid` and, of what is carried, `invoice_item.created`. The number is taken last, in the caller's transaction: one that
 * fails leaves no gap.
 * @throws DomainError 404, 409 for what is no draft.
 */
export async function finaliseDraft(tx: Tx, change: Change, { invoiceId, now }: { invoiceId: string; now: Date }): Promise<InvoiceRow> {
  const row = await lockInvoice(tx, change.accountId, invoiceId);
  assertInvoiceMay(row.status, 'finalize');
  const balanceAtom = await lockBalance(tx, change.accountId, row);
  const minimumAtom = await readMinimum(tx, change.accountId, row.currency);
  const { set: plan, carried } = finalisedInvoice(row, await linesOf(tx, row.id), { balanceAtom, minimumAtom, at: now });
  const number = await nextNumber(tx, change.accountId);
  const { status, paidAt, ...fields } = plan;
  if (carried) await carryOver(tx, change, carried);
  const open = await updateInvoice(tx, change, { row, set: { ...fields, number, status: 'open' }, at: now, event: 'invoice.finalized' });
  const entry = { customerId: row.customerId, currency: row.currency, type: 'applied_to_invoice' as const, invoiceId };
  if (plan.appliedBalanceAtom > 0) await enterBalance(tx, change, { ...entry, amountAtom: -plan.appliedBalanceAtom, description: `Applied to invoice ${number}` }, now);
  if (plan.creditedAtom > 0) await enterBalance(tx, change, { ...entry, amountAtom: plan.creditedAtom, description: `Credit of invoice ${number}` }, now);
  if (status === 'open') return open;
  return updateInvoice(tx, change, { row: open, set: { status, paidAt, paidAtom: plan.dueAtom }, at: now, event: 'invoice.paid' });
}

async function carryOver(tx: Tx, change: Change, { off, waiting }: NonNullable<FinalisedInvoice['carried']>): Promise<void> {
  const lines = [off, waiting];
  await tx.insert(invoiceItems).values(lines);
  await appendEvents(tx, change, lines.map((line) => itemEvent(change, 'created', line)));
}

/** What a person may change; absent stays. */
export interface InvoicePatch {
  description?: string | null;
  customFields?: Record<string, unknown> | null;
  emailOnFinalization?: boolean;
  defaultPaymentMethodId?: string | null;
}

/**
 * A draft takes all of it. Later the description and the custom fields still change, the payment method while money is owed.
 * Event `invoice.updated`, none if nothing changes.
 * @throws DomainError 404, 409 naming the field that is settled.
 */
export async function editInvoice(tx: Tx, change: Change, { invoiceId, patch, now }: { invoiceId: string; patch: InvoicePatch; now: Date }): Promise<void> {
  const row = await lockInvoice(tx, change.accountId, invoiceId);
  const changed = Object.entries(patch).filter(([key, value]) => value !== undefined && JSON.stringify(value) !== JSON.stringify(row[key as keyof InvoiceRow]));
  if (changed.length === 0) return;
  const set = Object.fromEntries(changed) as InvoicePatch;
  const owed = isOwed(row.status) || row.status === 'uncollectible';
  const settled = row.status === 'draft' ? null : set.emailOnFinalization !== undefined ? 'email_invoice_on_finalization' : set.defaultPaymentMethodId !== undefined && !owed ? 'payment_method_id' : null;
  if (settled) throw new DomainError('invalid_state_transition', `${settled} of an invoice that is ${row.status} does not change any more; allowed: description, custom_fields${owed ? ', payment_method_id' : ''}.`);
  await updateInvoice(tx, change, { row, set, at: now, event: 'invoice.updated' });
}

/** A note that stays with the invoice, whatever its state; event `invoice.updated`. @throws DomainError 404, 409 for too many. */
export async function commentInvoice(tx: Tx, change: Change, { invoiceId, comment, now }: { invoiceId: string; comment: string; now: Date }): Promise<void> {
  const row = await lockInvoice(tx, change.accountId, invoiceId);
  await updateInvoice(tx, change, { row, set: { comments: commented(row, comment, now) }, at: now, event: 'invoice.updated' });
}
