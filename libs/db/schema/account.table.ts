import { jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import type { EmailSettings } from '../../domain/email/email.js';
import type { DunningPolicy } from '../../domain/subscription/dunning-policy.js';
import { atoms, id, stamps } from './columns.js';

export interface BillingSettings {
  /** Days before a renewal at which `invoice.upcoming` tells of it; 0: never. */
  invoiceUpcomingDays: number;
}

export const accounts = pgTable('accounts', {
  id: id(),
  name: text().notNull(),
  /** The most an OPERATOR may refund in one call, in atoms; null: no limit. */
  operatorRefundLimitAtom: atoms(),
  defaultPaymentRouteId: uuid(),
  /** Who runs a payment's first step: `workflow` or `inline`. */
  execution: text().notNull().default('workflow'),
  /** Null: the default policy. */
  dunningPolicy: jsonb().$type<DunningPolicy>(),
  /** Null: the defaults. */
  emailSettings: jsonb().$type<EmailSettings>(),
  billingSettings: jsonb().$type<BillingSettings>(),
  ...stamps(),
});

export type AccountRow = typeof accounts.$inferSelect;
