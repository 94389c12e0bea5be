import { sql } from 'drizzle-orm';
import { boolean, check, index, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { accountId, atoms, id, stamps } from './columns.js';
import { charges } from './payment-intent.table.js';

export const refunds = pgTable(
  'refunds',
  {
    id: id(),
    accountId: accountId(),
    chargeId: uuid().notNull().references(() => charges.id),
    paymentIntentId: uuid().notNull(),
    invoiceId: uuid(),
    customerId: uuid(),
    amountAtom: atoms().notNull(),
    currency: text().notNull(),
    reason: text().notNull(),
    description: text(),
    status: text().$type<'pending' | 'succeeded' | 'failed' | 'requires_action' | 'canceled'>().notNull(),
    refundedOutOfBand: boolean().notNull().default(false),
    attemptErrorMessage: text(),
    processorRefundId: text(),
    /** Whether the request carried an idempotency key: without one an equal refund within 60 s is refused. */
    keyed: boolean().notNull().default(false),
    ...stamps(),
  },
  (t) => [
    index('refunds_account').on(t.accountId, t.id),
    index('refunds_charge').on(t.chargeId, t.id),
    index('refunds_failed').on(t.updatedAt).where(sql`status = 'failed'`),
    uniqueIndex('refunds_processor').on(t.chargeId, t.processorRefundId).where(sql`processor_refund_id is not null`),
    check('refunds_amount', sql`amount_atom > 0`),
  ],
);

export type RefundRow = typeof refunds.$inferSelect;
