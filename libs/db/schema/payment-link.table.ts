import { sql } from 'drizzle-orm';
import { boolean, index, integer, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import type { InactiveReason } from '../../domain/payment-link/payment-link.js';
import { accountId, id, instant, object, stamps } from './columns.js';

export const paymentLinks = pgTable(
  'payment_links',
  {
    id: id(),
    accountId: accountId(),
    mode: text().$type<'payment' | 'setup' | 'subscription'>().notNull(),
    active: boolean().notNull().default(true),
    inactiveReason: text().$type<InactiveReason>(),
    /** Declines before it do not count towards the next pause: set when a paused link is reopened. */
    declinesSince: instant(),
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

/** One row per try to pay through a link, written before the card is used: what the limits against card testing count. */
export const paymentLinkAttempts = pgTable(
  'payment_link_attempts',
  {
    id: id(),
    accountId: accountId(),
    paymentLinkId: uuid().notNull(),
    /** Keyed hashes, never the address or the card. */
    addressHash: text().notNull(),
    methodHash: text().notNull(),
    outcome: text().$type<'started' | 'succeeded' | 'declined' | 'pending' | 'refused'>().notNull(),
    /** The form that was sent: one payment for its life, whose intent has this id. */
    paymentIntentId: uuid().notNull(),
    /** Rises with each try of the form: the same try sent twice is one row. */
    tryNumber: integer().notNull(),
    /**
     * The method that the payer wants the invoice's subscription to be paid with from now on; written with the payment, cleared
     * once the subscription has it or the payment ended otherwise. The API settles it, and what it leaves the worker's loop does.
     */
    keepsMethodId: uuid(),
    createdAt: instant().notNull(),
  },
  (t) => [
    unique('payment_link_attempts_try').on(t.paymentIntentId, t.tryNumber),
    index('payment_link_attempts_link').on(t.paymentLinkId, t.createdAt),
    index('payment_link_attempts_address').on(t.addressHash, t.createdAt),
    index('payment_link_attempts_method').on(t.accountId, t.methodHash, t.createdAt),
    index('payment_link_attempts_keeps').on(t.id).where(sql`keeps_method_id is not null`),
  ],
);

export type PaymentLinkRow = typeof paymentLinks.$inferSelect;
export type PaymentLinkItemRow = typeof paymentLinkItems.$inferSelect;
export type PaymentLinkAttemptRow = typeof paymentLinkAttempts.$inferSelect;
