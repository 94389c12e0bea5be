import { sql } from 'drizzle-orm';
import { index, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { accountId, atoms, id, instant, object, stamps } from './columns.js';

export interface Address {
  line1: string | null;
  line2: string | null;
  line3: string | null;
  city: string | null;
  state: string | null;
  zip_code: string | null;
  country: string | null;
}

export interface CustomerInvoiceSettings {
  customer_tax_ids?: { tax_id: string; tax_id_type: string }[] | null;
  default_net_d?: number | null;
  email_receipt_on_paid?: boolean | null;
}

export const customers = pgTable(
  'customers',
  {
    id: id(),
    accountId: accountId(),
    email: text().notNull(),
    billingEmail: text(),
    firstName: text(),
    lastName: text(),
    businessName: text(),
    phoneNumber: text(),
    notes: text(),
    language: text(),
    address: jsonb().$type<Address>().notNull(),
    billingAddress: jsonb().$type<Address>(),
    shippingAddresses: jsonb().$type<Address[]>().notNull().default([]),
    invoiceSettings: jsonb().$type<CustomerInvoiceSettings>(),
    defaultPaymentMethodId: uuid(),
    /** Joined at creation, for life. */
    testClockId: uuid(),
    customFields: object(),
    metadata: object(),
    deletedAt: instant(),
    ...stamps(),
  },
  (t) => [index('customers_account').on(t.accountId, t.id), index('customers_email').on(t.accountId, t.email), index('customers_clock').on(t.testClockId).where(sql`test_clock_id is not null`)],
);

/** What the customer has to their credit, per currency; the sum of its transactions. */
export const customerBalanceTransactions = pgTable(
  'customer_balance_transactions',
  {
    id: id(),
    accountId: accountId(),
    customerId: uuid().notNull().references(() => customers.id),
    currency: text().notNull(),
    amountAtom: atoms().notNull(),
    endingBalanceAmountAtom: atoms().notNull(),
    type: text().notNull(),
    description: text(),
    invoiceId: uuid(),
    commandId: uuid().notNull(),
    ...stamps(),
  },
  (t) => [index('customer_balance_transactions_customer').on(t.customerId, t.currency, t.id)],
);

export type CustomerRow = typeof customers.$inferSelect;
export type CustomerBalanceTransactionRow = typeof customerBalanceTransactions.$inferSelect;
