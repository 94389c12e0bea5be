import { pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { atoms, id, stamps } from './columns.js';

export const accounts = pgTable('accounts', {
  id: id(),
  name: text().notNull(),
  /** The most an OPERATOR may refund in one call, in atoms; null: no limit. */
  operatorRefundLimitAtom: atoms(),
  defaultPaymentRouteId: uuid(),
  /** Who runs a payment's first step: `workflow` or `inline`. */
  execution: text().notNull().default('workflow'),
  ...stamps(),
});

export type AccountRow = typeof accounts.$inferSelect;
