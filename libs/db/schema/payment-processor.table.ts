import { boolean, index, pgTable, text } from 'drizzle-orm/pg-core';
import { accountId, id, instant, object, stamps } from './columns.js';

/** A connection: one way to reach a provider. Its identity, never the provider's name, stands in routes. */
export const paymentProcessors = pgTable(
  'payment_processors',
  {
    id: id(),
    accountId: accountId(),
    name: text().notNull(),
    kind: text().$type<'simulator' | 'stripe' | 'http'>().notNull(),
    settings: object(),
    credentialsSealed: text(),
    /** Until when signatures made with the secrets before the last rotation are accepted. */
    credentialsOverlapUntil: instant(),
    isEnabled: boolean().notNull().default(true),
    /** When its breaker opened; null while it takes its share. */
    degradedAt: instant(),
    deletedAt: instant(),
    ...stamps(),
  },
  (t) => [index('payment_processors_account').on(t.accountId, t.id)],
);

export type PaymentProcessorRow = typeof paymentProcessors.$inferSelect;
