import { boolean, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { accountId, id, instant, object, stamps } from './columns.js';

export const paymentLinks = pgTable(
  'payment_links',
  {
    id: id(),
    accountId: accountId(),
    mode: text().$type<'payment' | 'setup' | 'subscription'>().notNull(),
    active: boolean().notNull().default(true),
    inactiveReason: text(),
    /** Keyed hash of the token in the page's address, to find the row. */
    tokenHash: text().notNull().unique('payment_links_token'),
    /** The token itself, encrypted, to show it in the object. */
    tokenSealed: text().notNull(),
    currency: text(),
    customerId: uuid(),
    alwaysCreateNewCustomer: boolean().notNull().default(false),
    paymentRouteId: uuid(),
    successUrl: text(),
    checkoutPreferences: object(),
    simulate: object(),
    customFields: object(),
    metadata: object(),
    trialEnd: instant(),
    trialFromPrice: boolean(),
    trialPeriodDays: integer(),
    deletedAt: instant(),
    ...stamps(),
  },
  (t) => [index('payment_links_account').on(t.accountId, t.id)],
);

export const paymentLinkItems = pgTable(
  'payment_link_items',
  {
    id: id(),
    paymentLinkId: uuid().notNull().references(() => paymentLinks.id),
    priceId: uuid().notNull(),
    quantity: integer().notNull(),
    description: text(),
    customFields: object(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [index('payment_link_items_link').on(t.paymentLinkId, t.id)],
);

/** One row per try to pay through a link: what the limits against card testing count. */
export const paymentLinkAttempts = pgTable(
  'payment_link_attempts',
  {
    id: id(),
    paymentLinkId: uuid().notNull(),
    /** Keyed hashes, never the address or the card. */
    addressHash: text().notNull(),
    methodHash: text(),
    outcome: text().$type<'started' | 'succeeded' | 'declined' | 'pending' | 'refused'>().notNull(),
    paymentIntentId: uuid(),
    createdAt: instant().notNull(),
  },
  (t) => [
    index('payment_link_attempts_link').on(t.paymentLinkId, t.createdAt),
    index('payment_link_attempts_address').on(t.addressHash, t.createdAt),
    index('payment_link_attempts_method').on(t.methodHash, t.createdAt),
  ],
);

export type PaymentLinkRow = typeof paymentLinks.$inferSelect;
export type PaymentLinkItemRow = typeof paymentLinkItems.$inferSelect;
