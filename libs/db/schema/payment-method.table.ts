import { sql } from 'drizzle-orm';
import { index, integer, jsonb, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { accountId, id, instant, object, stamps } from './columns.js';
import type { Address } from './customer.table.js';

export const paymentMethods = pgTable(
  'payment_methods',
  {
    id: id(),
    accountId: accountId(),
    customerId: uuid(),
    status: text().$type<'authorized' | 'attached' | 'detached'>().notNull().default('authorized'),
    provider: text().notNull().default('credit_card'),
    cardBrand: text(),
    cardFunding: text(),
    cardCountry: text(),
    cardIin: text(),
    lastFour: text(),
    expMonth: integer(),
    expYear: integer(),
    /** The processor's own mark of the card: equal for the same card. */
    fingerprint: text(),
    billingAddress: jsonb().$type<Address>(),
    displayName: text().notNull(),
    customFields: object(),
    metadata: object(),
    /** Null while tokenisation runs: hidden from everybody, finished or removed by the sweeper. */
    shownAt: instant(),
    ...stamps(),
  },
  (t) => [
    index('payment_methods_account').on(t.accountId, t.id),
    index('payment_methods_customer').on(t.customerId, t.id),
    index('payment_methods_hidden').on(t.createdAt).where(sql`shown_at is null`),
  ],
);

export const paymentMethodMappings = pgTable(
  'payment_method_mappings',
  {
    id: id(),
    accountId: accountId(),
    paymentMethodId: uuid().notNull().references(() => paymentMethods.id),
    processorId: uuid().notNull(),
    theirPaymentMethodId: text().notNull(),
    /** Lets a charge without the customer use the credential. */
    networkTransactionId: text(),
    /** That processor's own mark of the card: equal for the same card. */
    fingerprint: text(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [unique('payment_method_mappings_pair').on(t.paymentMethodId, t.processorId)],
);

export type PaymentMethodRow = typeof paymentMethods.$inferSelect;
export type PaymentMethodMappingRow = typeof paymentMethodMappings.$inferSelect;
