import { pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { atoms, id, object, stamps } from './columns.js';

export const accounts = pgTable('accounts', {
  id: id(),
  name: text().notNull(),
  /** The most an OPERATOR may refund in one call, in atoms; null: no limit. */
  operatorRefundLimitAtom: atoms(),
  defaultPaymentRouteId: uuid(),
  /** Who runs a payment's first step: `workflow` or `inline`. */
  execution: text().notNull().default('workflow'),
  /** Null: the default policy. */
  dunningPolicy: object(),
  /** Null: the defaults. */
  emailSettings: object(),
  billingSettings: object(),
  ...stamps(),
});

export type AccountRow = typeof accounts.$inferSelect;
