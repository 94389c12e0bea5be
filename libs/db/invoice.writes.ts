import { sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { InvoiceDraft } from '../domain/invoice/invoice.draft.js';
import { moveInvoice, refusedInvoice } from '../domain/invoice/invoice.machine.js';
import { DomainError, notFound } from '../errors/domain-error.js';
import { invoiceView } from '../views/invoice.view.js';
import { raiseAttention } from './attention.writes.js';
import { orFail } from './batch.js';
import type { Tx } from './client.js';
import { enterBalance } from './customer-balance.writes.js';
import { defer, NeedsTransaction } from './deferred.js';
import { mailInvoice } from './email.writes.js';
import { appendEvents, previousValues, type EventDraft } from './event.writes.js';
import { invoiceViews } from './invoice.queries.js';
import { newId } from './mint.js';
import { insertStatement, updateStatement } from './statement.js';
import { createdEvent, lineRow, releaseLines, takePendingLines } from './pending-line.writes.js';
import { invoiceItems, invoiceNumbers, invoices, type InvoiceItemRow, type InvoiceRow, type SubscriptionRow } from './schema/index.js';

export interface InvoiceOutcome {
  invoiceId: string;
  paymentIntentId: string;
  /** `refunded`: `amountAtom` of what was paid left again. */
  outcome: 'paid' | 'failed' | 'refunded' | 'recheck';
  amountAtom: number;
  /** For people, of a failed payment. */
  failureMessage: string | null;
  at: Date;
}

/**
 * What an invoice learns from its payment, in the transaction of the payment's own outcome. Events `invoice.*`.
 * @returns the invoice where it was not owed any more when its payment succeeded; else null.
 */
export async function settleInvoice(tx: Tx, change: Change, outcome: InvoiceOutcome): Promise<InvoiceRow | null> {
  const row = await lockInvoice(tx, change.accountId, outcome.invoiceId);
  if (outcome.outcome === 'refunded') await returnMoney(tx, change, { row, outcome });
  else if (outcome.outcome === 'failed') await failInvoice(tx, change, { row, message: outcome.failureMessage, at: outcome.at });
  else if (outcome.outcome === 'recheck') return takesNoMoneyOf(row, outcome.paymentIntentId) ? row : null;
  else if (!(await markPaid(tx, change, { row, ...outcome }))) return row;
  return null;
}

type Paid = Pick<InvoiceOutcome, 'paymentIntentId' | 'at'> & Pick<InvoiceUpdate, 'row' | 'lines' | 'refundIds'>;

/** Event `invoice.paid`. False, and nothing was written, where the invoice is not owed. */
export async function markPaid(tx: Tx, change: Change, { row, paymentIntentId, at, lines, refundIds }: Paid): Promise<boolean> {
  const status = moveInvoice(row.status, 'pay');
  if (!status) return false;
  const set = { status, paidAtom: row.dueAtom, paidAt: at, paymentIntentId, latestFailureMessage: null };
  await updateInvoice(tx, change, { row, set, at, event: 'invoice.paid', lines, refundIds });
  return true;
}

/** Void, or paid by another payment than this one. */
function takesNoMoneyOf(row: InvoiceRow, paymentIntentId: string): boolean {
  return row.status === 'void' || (row.status === 'paid' && row.paymentIntentId !== paymentIntentId);
}

/** Money that came for an invoice that was closed meanwhile goes back without having been the invoice's. */
async function returnMoney(tx: Tx, change: Change, { row, outcome }: { row: InvoiceRow; outcome: InvoiceOutcome }): Promise<void> {
  const refundedAtom = Math.min(row.paidAtom, row.refundedAtom + outcome.amountAtom);
  if (refundedAtom !== row.refundedAtom) await updateInvoice(tx, change, { row, set: { refundedAtom }, at: outcome.at, event: 'invoice.updated' });
}

/** A line for people: the money of a payment that its invoice does not take could not be sent back by itself. */
export function raiseUnowed(tx: Tx, row: InvoiceRow, at: Date): Promise<void> {
  const reason = `A payment succeeded for an invoice that is ${row.status}.`;
  const line = { accountId: row.accountId, type: 'invoice_paid_twice', kind: 'inv', objectId: row.id, reason, actions: ['Refund the payment.'] };
  return raiseAttention(tx, line, at);
}

interface Failure {
  row: InvoiceRow;
  message: string | null;
  at: Date;
}

async function failInvoice(tx: Tx, change: Change, { row, message, at }: Failure): Promise<void> {
  const status = moveInvoice(row.status, 'fail');
  if (!status) return;
  const first = status !== row.status;
  if (!first && message === row.latestFailureMessage) return;
  const set = { status, latestFailureMessage: message };
  await updateInvoice(tx, change, { row, set, at, event: first ? 'invoice.past_due' : 'invoice.updated' });
}

/** Past due without an attempt: no method, or the due date passed. */
export async function markPastDue(tx: Tx, change: Change, { invoiceId, message, at }: { invoiceId: string; message: string | null; at: Date }): Promise<void> {
  await failInvoice(tx, change, { row: await lockInvoice(tx, change.accountId, invoiceId), message, at });
}

/** Event `invoice.reminder`: the customer is asked again to pay. */
export async function markReminded(tx: Tx, change: Change, { invoiceId, at }: { invoiceId: string; at: Date }): Promise<void> {
  const row = await lockInvoice(tx, change.accountId, invoiceId);
  await updateInvoice(tx, change, { row, set: { reminderSentAt: at }, at, event: 'invoice.reminder' });
}

interface Closing {
  invoiceId: string;
  as: 'void' | 'uncollectible';
  at: Date;
  comment?: string | null;
}

const mostComments = 200;

/** The comments of the invoice with another one. @throws DomainError 409 for too many. */
export function commented(row: InvoiceRow, comment: string, at: Date): InvoiceRow['comments'] {
  if (row.comments.length >= mostComments) throw new DomainError('conflict', `An invoice keeps at most ${mostComments} comments.`);
  return [...row.comments, { comment, created_at: at.toISOString(), user_email: null }];
}

/** @throws DomainError 409 when the invoice is paid, void already, or its payment is unresolved. */
export async function closeInvoice(tx: Tx, change: Change, { invoiceId, as, at, comment }: Closing): Promise<void> {
  const row = await lockInvoice(tx, change.accountId, invoiceId);
  const move = as === 'void' ? 'void' : 'write_off';
  const status = moveInvoice(row.status, move);
  if (!status) throw refusedInvoice(row.status, move);
  const set = { status, voidedAt: as === 'void' ? at : null, ...(comment ? { comments: commented(row, comment, at) } : {}) };
  await updateInvoice(tx, change, { row, set, at, event: as === 'void' ? 'invoice.voided' : 'invoice.uncollectible' });
  if (as === 'void' && row.appliedBalanceAtom > 0) await unapply(tx, change, { row, at });
  if (as === 'void') await releaseLines(tx, change, row, at);
}

/** Credit that a voided invoice had used is the customer's again. */
async function unapply(tx: Tx, change: Change, { row, at }: { row: InvoiceRow; at: Date }): Promise<void> {
  const { customerId, currency, appliedBalanceAtom: amountAtom, id: invoiceId } = row;
  const description = `Returned from voided invoice ${row.number}`;
  await enterBalance(tx, change, { customerId, currency, amountAtom, invoiceId, type: 'unapplied_from_invoice', description }, at);
}

interface InvoiceUpdate {
  row: InvoiceRow;
  /** Where they are known, so that nothing need be read: the write finds the version that was read. */
  lines?: InvoiceItemRow[] | null;
  refundIds?: string[];
  set: Partial<InvoiceRow>;
  at: Date;
  event: string;
}

export async function updateInvoice(tx: Tx, change: Change, { row, set, at, event, lines, refundIds = [] }: InvoiceUpdate): Promise<InvoiceRow> {
  const next = { ...set, version: row.version + 1, updatedAt: at };
  const where = { text: 'id = ? and version = ?', values: [row.id, row.version], returning: 'id' };
  const isDeferred = lines && defer(tx, () => orFail(updateStatement(invoices, next, where), []));
  const [written] = isDeferred
    ? [{ ...row, ...next }]
    : await tx.update(invoices).set(next).where(sql`${invoices.id} = ${row.id} and ${invoices.version} = ${row.version}`).returning();
  if (!written) throw new DomainError('version_conflict');
  const shown = [row, written];
  const [before, after] = lines
    ? shown.map((each) => invoiceView(each, { lines, refundIds }, change.environment))
    : await invoiceViews(tx, shown, change.environment);
  await mailInvoice(tx, change, written, event);
  await appendEvents(tx, change, [
    {
      type: event,
      kind: 'inv',
      objectId: row.id,
      customerId: row.customerId,
      data: after!,
      previous: previousValues(before!, after!),
      step: `${event}:${row.version}`,
    },
  ]);
  return written;
}

export async function lockInvoice(tx: Tx, accountId: string, id: string): Promise<InvoiceRow> {
  const [row] = await tx.select().from(invoices).where(sql`${invoices.id} = ${id} and ${invoices.accountId} = ${accountId}`).for('update');
  if (!row) throw notFound('invoice');
  return row;
}

/** Rows of an invoice that a plan drew; `number` is null for a draft. */
export function invoiceRows(
  subscription: Pick<SubscriptionRow, 'id' | 'accountId' | 'customerId' | 'currency' | 'collectionMethod' | 'netD' | 'defaultPaymentMethodId'>,
  draft: InvoiceDraft,
  number: number | null,
): { row: InvoiceRow; lines: InvoiceItemRow[] } {
  const at = draft.finalizedAt;
  const stamps = { version: 1, createdAt: at, updatedAt: at };
  const invoiceId = newId();
  const owner = { accountId: subscription.accountId, customerId: subscription.customerId, subscriptionId: subscription.id };
  const paid = draft.status === 'paid';
  const row: InvoiceRow = {
    id: invoiceId,
    ...owner,
    periodKey: draft.beginsPeriod ? periodKeyOf(draft, invoiceId) : null,
    number,
    status: draft.status,
    billingReason: draft.billingReason,
    collectionMethod: subscription.collectionMethod,
    currency: subscription.currency,
    totalAtom: draft.totalAtom,
    appliedBalanceAtom: draft.appliedBalanceAtom,
    dueAtom: draft.dueAtom,
    paidAtom: paid ? draft.dueAtom : 0,
    refundedAtom: 0,
    periodStart: draft.periodStart,
    periodEnd: draft.periodEnd,
    dueDate: draft.dueDate,
    netD: subscription.netD,
    finalizedAt: draft.status === 'draft' ? null : at,
    paidAt: paid ? at : null,
    voidedAt: null,
    paidOutOfBand: false,
    isInitialForTrial: draft.isInitialForTrial,
    paymentIntentId: null,
    defaultPaymentMethodId: subscription.defaultPaymentMethodId,
    latestFailureMessage: null,
    emailOnFinalization: false,
    creditedAtom: draft.creditedAtom,
    reminderSentAt: null,
    description: null,
    comments: [],
    customFields: null,
    metadata: null,
    ...stamps,
  };
  const lines = draft.lines.map((line) => lineRow(subscription, line, { invoiceId, at }));
  return { row, lines };
}

/** A change may begin a period at the moment where another one began; the calendar's periods begin once. */
function periodKeyOf({ billingReason, periodStart }: InvoiceDraft, invoiceId: string): string {
  const key = `period:${periodStart.toISOString()}`;
  return billingReason === 'subscription_update' ? `${key}:${invoiceId}` : key;
}

export interface NewInvoice {
  row: InvoiceRow;
  /** Null where some of them were there before. */
  lines: InvoiceItemRow[] | null;
}

const given = new WeakMap<Tx, number>();

/** Runs `work`, which must draw one invoice: it gets this number. @throws NeedsTransaction where it did not. */
export async function withNumber<T>(tx: Tx, number: number, work: () => Promise<T>): Promise<T> {
  given.set(tx, number);
  const result = await work();
  if (given.has(tx)) throw new NeedsTransaction();
  return result;
}

function givenNumber(tx: Tx): number | undefined {
  const number = given.get(tx);
  given.delete(tx);
  return number;
}

/** Stores a drawn invoice; takes its number in this transaction, so that numbers have no gaps. */
export async function insertInvoice(tx: Tx, change: Change, subscription: SubscriptionRow, draft: InvoiceDraft): Promise<NewInvoice> {
  const number = draft.status === 'draft' ? null : (givenNumber(tx) ?? (await nextNumber(tx, change.accountId)));
  const { row, lines } = invoiceRows(subscription, draft, number);
  if (!defer(tx, () => insertStatement(invoices, [row]))) await tx.insert(invoices).values(row);
  const pendingIds = draft.lines.flatMap(({ pendingId }) => pendingId ?? []);
  const fresh = lines.filter(({ id }) => !pendingIds.includes(id));
  if (fresh.length > 0 && !defer(tx, () => insertStatement(invoiceItems, fresh))) await tx.insert(invoiceItems).values(fresh);
  await takePendingLines(tx, change, { ids: pendingIds, at: row.createdAt, invoiceId: row.id });
  const [view] = pendingIds.length > 0 ? await invoiceViews(tx, [row], change.environment) : [invoiceView(row, { lines, refundIds: [] }, change.environment)];
  const event = (type: string): EventDraft => ({ type, kind: 'inv', objectId: row.id, customerId: row.customerId, data: view!, previous: null });
  const drafts = [event('invoice.created')];
  if (number !== null) drafts.push({ ...event('invoice.finalized'), previous: { status: 'draft' } });
  if (row.status === 'paid') drafts.push({ ...event('invoice.paid'), previous: { status: 'open' } });
  const created = fresh.map((line) => createdEvent(change, line));
  if (number !== null) await mailInvoice(tx, change, row, 'invoice.finalized');
  await appendEvents(tx, change, [...drafts, ...created]);
  return { row, lines: pendingIds.length > 0 ? null : lines };
}

/** Takes the account's next number, until the transaction ends: whoever fails gives it back. */
export async function nextNumber(tx: Tx, accountId: string): Promise<number> {
  const [row] = await tx
    .insert(invoiceNumbers)
    .values({ accountId, last: 1 })
    .onConflictDoUpdate({ target: invoiceNumbers.accountId, set: { last: sql`${invoiceNumbers.last} + 1` } })
    .returning({ last: invoiceNumbers.last });
  return row!.last;
}

/** Which intent collects the invoice, known once its payment begins. */
export async function linkIntent(
  tx: Tx,
  change: Change,
  { invoiceId, paymentIntentId, at, fresh }: { invoiceId: string; paymentIntentId: string; at: Date; fresh?: NewInvoice | null },
): Promise<void> {
  const row = fresh?.row ?? (await lockInvoice(tx, change.accountId, invoiceId));
  const update = { row, set: { paymentIntentId }, at, event: 'invoice.updated', lines: fresh?.lines };
  if (row.paymentIntentId !== paymentIntentId) await updateInvoice(tx, change, update);
}
