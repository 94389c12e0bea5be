import { sql } from 'drizzle-orm';
import { boolean, check, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { accountId, atoms, id, instant, object, stamps } from './columns.js';
import { customers } from './customer.table.js';

export type InvoiceStatus = 'draft' | 'open' | 'paid' | 'void' | 'past_due' | 'uncollectible';

export const invoices = pgTable(
  'invoices',
  {
    id: id(),
    accountId: accountId(),
    customerId: uuid().notNull().references(() => customers.id),
    subscriptionId: uuid(),
    /** One invoice per period of a subscription, however often the step runs: for example `cycle:12`. */
    periodKey: text(),
    /** Without gaps per account; null until finalised. */
    number: integer(),
    status: text().$type<InvoiceStatus>().notNull(),
    billingReason: text().notNull(),
    collectionMethod: text().notNull(),
    currency: text().notNull(),
    totalAtom: atoms().notNull(),
    appliedBalanceAtom: atoms().notNull().default(0),
    dueAtom: atoms().notNull(),
    paidAtom: atoms().notNull().default(0),
    refundedAtom: atoms().notNull().default(0),
    periodStart: instant().notNull(),
    periodEnd: instant().notNull(),
    dueDate: instant().notNull(),
    netD: integer(),
    finalizedAt: instant(),
    paidAt: instant(),
    voidedAt: instant(),
    paidOutOfBand: boolean().notNull().default(false),
    isInitialForTrial: boolean().notNull().default(false),
    paymentIntentId: uuid(),
    defaultPaymentMethodId: uuid(),
    latestFailureMessage: text(),
    emailOnFinalization: boolean().notNull().default(false),
    /** What a negative total gave to the customer's balance, positive. */
    creditedAtom: atoms().notNull().default(0),
    reminderSentAt: instant(),
    description: text(),
    comments: jsonb().$type<{ comment: string; created_at: string; user_email: string | null }[]>().notNull().default([]),
    customFields: object(),
    metadata: object(),
    ...stamps(),
  },
  (t) => [
    index('invoices_account').on(t.accountId, t.id),
    index('invoices_subscription').on(t.subscriptionId, t.id),
    index('invoices_customer').on(t.customerId, t.id),
    uniqueIndex('invoices_period').on(t.subscriptionId, t.periodKey),
    uniqueIndex('invoices_number').on(t.accountId, t.number),
    /** A person made it, so no workflow watches its due date: the worker's loop does. */
    index('invoices_due').on(t.dueDate).where(sql`billing_reason = 'manual' and status = 'open'`),
    /** Periods of a subscription that was unpaid; the watcher looks whether they are left behind. */
    index('invoices_drafts').on(t.subscriptionId).where(sql`status = 'draft' and billing_reason <> 'manual'`),
    check('invoices_paid', sql`paid_atom <= due_atom and refunded_atom <= paid_atom`),
  ],
);

export const invoiceItems = pgTable(
  'invoice_items',
  {
    id: id(),
    accountId: accountId(),
    customerId: uuid().notNull(),
    invoiceId: uuid().references(() => invoices.id),
    subscriptionId: uuid(),
    subscriptionItemId: uuid(),
    priceId: uuid().notNull(),
    productId: uuid().notNull(),
    priceType: text().notNull(),
    name: text().notNull(),
    description: text(),
    quantity: integer().notNull(),
    amountAtom: atoms().notNull(),
    currency: text().notNull(),
    proration: boolean().notNull().default(false),
    /** The line that this one gives back. */
    debitItemId: uuid(),
    /** The invoice whose amount was too small to be charged. */
    carriedFromInvoiceId: uuid(),
    deletedAt: instant(),
    periodStart: instant().notNull(),
    periodEnd: instant().notNull(),
    ...stamps(),
  },
  (t) => [
    index('invoice_items_invoice').on(t.invoiceId, t.id),
    index('invoice_items_account').on(t.accountId, t.id),
    index('invoice_items_subscription').on(t.subscriptionId, t.periodEnd),
    index('invoice_items_debit').on(t.debitItemId).where(sql`debit_item_id is not null`),
    index('invoice_items_pending').on(t.customerId, t.id).where(sql`invoice_id is null and deleted_at is null`),
  ],
);

/** Next invoice number per account, taken in the finalising transaction. */
export const invoiceNumbers = pgTable('invoice_numbers', {
  accountId: uuid().primaryKey(),
  last: integer().notNull(),
});

export type InvoiceRow = typeof invoices.$inferSelect;
export type InvoiceItemRow = typeof invoiceItems.$inferSelect;
