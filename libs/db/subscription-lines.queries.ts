import { and, asc, eq, isNull, or, sql } from 'drizzle-orm';
import type { InvoiceStatus } from '../domain/invoice/invoice.machine.js';
import type { InvoiceLine, PendingLine } from '../domain/invoice/invoice.draft.js';
import { minimumAmount } from '../domain/invoice/minimum-amount.js';
import type { BilledLine } from '../domain/invoice/proration.lines.js';
import type { InvoiceFacts } from '../domain/subscription/plan.js';
import type { Db, Tx } from './client.js';
import { invoiceItems, invoices, paymentProcessors, type InvoiceItemRow, type SubscriptionRow } from './schema/index.js';

type Owner = Pick<SubscriptionRow, 'accountId' | 'customerId' | 'currency'> & { id: string | null };

/** Whether a line's own debit was paid, or waits as well. The outer table is named in full: a column alone would be the inner one's. */
export const backed = sql<boolean>`(invoice_items.debit_item_id is null or exists (
  select 1 from invoice_items d left join invoices i on i.id = d.invoice_id
  where d.id = invoice_items.debit_item_id and d.deleted_at is null and (i.id is null or i.status = 'paid')))`;

/** UUID of the invoice with the line that a line gives back. */
export const debitInvoice = sql<string | null>`(select d.invoice_id from invoice_items d where d.id = invoice_items.debit_item_id)`;

/** What waits for the subscription's invoices: its own lines and its customer's in the same currency, oldest first. */
export async function readPendingLines(db: Db | Tx, owner: Owner): Promise<PendingLine[]> {
  const ofSubscription = owner.id === null ? undefined : eq(invoiceItems.subscriptionId, owner.id);
  const rows = await db
    .select({ row: invoiceItems, isBacked: backed, debitInvoiceId: debitInvoice })
    .from(invoiceItems)
    .where(
      and(
        eq(invoiceItems.customerId, owner.customerId),
        eq(invoiceItems.accountId, owner.accountId),
        eq(invoiceItems.currency, owner.currency),
        isNull(invoiceItems.invoiceId),
        isNull(invoiceItems.deletedAt),
        or(ofSubscription, isNull(invoiceItems.subscriptionId)),
      ),
    )
    .orderBy(asc(invoiceItems.id));
  return rows.map(({ row, ...standing }) => pendingLineOf(row, standing));
}

export function pendingLineOf(row: InvoiceItemRow, standing: Pick<PendingLine, 'isBacked' | 'debitInvoiceId'>): PendingLine {
  return { ...lineOf(row), priceType: row.priceType, pendingId: row.id, isOwn: row.subscriptionId !== null, ...standing };
}

export function lineOf(row: InvoiceItemRow): InvoiceLine {
  const { subscriptionItemId, priceId, productId, name, description, quantity, amountAtom, proration, periodStart, periodEnd, debitItemId, carriedFromInvoiceId } = row;
  return { subscriptionItemId, priceId, productId, name, description, quantity, amountAtom, proration, periodStart, periodEnd, debitItemId, carriedFromInvoiceId };
}

/** The invoice of the last period: its id, or when the period begins. Whatever belongs to the period was made with it or later. */
const latest = (column: 'id' | 'period_start', subscriptionId: string) => sql`(select ${sql.raw(`n.${column}`)} from invoices n
  where n.subscription_id = ${subscriptionId} and n.period_key is not null order by n.period_start desc, n.id desc limit 1)`;

/** What an invoice that began a new interval gave back of the period before. */
const brought = sql<string>`case when invoices.billing_reason = 'subscription_update' and invoices.period_key is not null then (
  select coalesce(-sum(c.amount_atom), 0) from invoice_items c
   where c.invoice_id = invoices.id and c.id > invoices.id and c.deleted_at is null and c.debit_item_id is not null and c.amount_atom < 0
     and c.period_start = invoices.period_start) else 0 end`;

/** What an invoice of the current period took in of earlier ones, or of the customer's own lines, where that was to their credit. */
const creditTaken = (subscriptionId: string) => sql<string>`(select greatest(coalesce(-sum(c.amount_atom), 0), 0) from invoice_items c
   where c.invoice_id = invoices.id and c.deleted_at is null and c.id < invoices.id
     and (c.subscription_id is null or c.id < ${latest('id', subscriptionId)} or c.period_start < ${latest('period_start', subscriptionId)}
       or exists (select 1 from invoice_items d where d.id = c.debit_item_id and d.invoice_id < ${latest('id', subscriptionId)})))`;

/**
 * The newest debit of each item in the current period, unless it was given back already or its invoice is void. Uses
 * `invoice_items_subscription` and `invoice_items_debit`.
 */
export async function readBilledLines(db: Db | Tx, subscriptionId: string): Promise<BilledLine[]> {
  const rows = await db
    .selectDistinctOn([invoiceItems.subscriptionItemId], {
      row: invoiceItems,
      invoice: { id: invoices.id, status: invoices.status, totalAtom: invoices.totalAtom, refundedAtom: invoices.refundedAtom },
    })
    .from(invoiceItems)
    .leftJoin(invoices, eq(invoices.id, invoiceItems.invoiceId))
    .where(
      and(
        eq(invoiceItems.subscriptionId, subscriptionId),
        sql`${invoiceItems.subscriptionItemId} is not null and ${invoiceItems.amountAtom} > 0 and ${invoiceItems.debitItemId} is null`,
        isNull(invoiceItems.deletedAt),
        sql`coalesce(${invoices.status}, 'open') <> 'void'`,
        sql`${invoiceItems.periodEnd} >= ${latest('period_start', subscriptionId)} and ${invoiceItems.periodStart} >= ${latest('period_start', subscriptionId)}`,
        sql`(${invoiceItems.invoiceId} = ${latest('id', subscriptionId)} or ${invoiceItems.id} > ${latest('id', subscriptionId)})`,
        sql`not exists (select 1 from invoice_items c left join invoices i on i.id = c.invoice_id
          where c.debit_item_id = ${invoiceItems.id} and c.deleted_at is null and coalesce(i.status, 'open') <> 'void')`,
      ),
    )
    .orderBy(invoiceItems.subscriptionItemId, sql`${invoiceItems.periodStart} desc, ${invoiceItems.id} desc`);
  return rows.map(({ row, invoice }) => ({ ...lineOf(row), id: row.id, invoice: invoice && { ...invoice, status: invoice.status as InvoiceStatus } }));
}

/** Paid invoices of the current period, oldest first. */
export async function readPeriodInvoices(db: Db | Tx, subscriptionId: string): Promise<InvoiceFacts[]> {
  const rows = await db
    .select({ invoice: invoices, brought, taken: creditTaken(subscriptionId) })
    .from(invoices)
    .where(
      and(
        eq(invoices.subscriptionId, subscriptionId),
        eq(invoices.status, 'paid'),
        sql`${invoices.billingReason} <> 'manual'`,
        sql`${invoices.id} >= ${latest('id', subscriptionId)}`,
      ),
    )
    .orderBy(asc(invoices.id));
  return rows.map(({ invoice, brought: unused, taken }) => {
    const billingReason = invoice.billingReason as InvoiceFacts['billingReason'];
    return { ...invoice, billingReason, payment: 'succeeded', failure: null, broughtAtom: Number(unused) + Number(taken) };
  });
}

/** What at least one enabled connection of the account can charge, in atoms. */
export async function readMinimum(db: Db | Tx, accountId: string, currency: string): Promise<number> {
  const connections = await db
    .select({ kind: paymentProcessors.kind, settings: paymentProcessors.settings })
    .from(paymentProcessors)
    .where(and(eq(paymentProcessors.accountId, accountId), eq(paymentProcessors.isEnabled, true), isNull(paymentProcessors.deletedAt)));
  return minimumAmount(connections, currency);
}
