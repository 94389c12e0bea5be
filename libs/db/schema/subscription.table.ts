import { sql } from 'drizzle-orm';
import { boolean, check, index, integer, jsonb, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { accountId, id, instant, object, stamps } from './columns.js';
import type { DunningPolicy } from '../../domain/subscription/dunning-policy.js';
import type { CancelOptions, Dunning, KeptTime } from '../../domain/subscription/subscription.state.js';
import type { BillingStatus, SubscriptionStatus } from '../../domain/subscription/subscription.machine.js';
import { customers } from './customer.table.js';
import { prices, type CalendarInterval } from './product.table.js';

/** Written only by its workflow's activities. Everything a preview needs stands here. */
export const subscriptions = pgTable(
  'subscriptions',
  {
    id: id(),
    accountId: accountId(),
    customerId: uuid().notNull().references(() => customers.id),
    status: text().$type<SubscriptionStatus>().notNull(),
    billingStatus: text().$type<BillingStatus>(),
    name: text().notNull(),
    description: text(),
    currency: text().notNull(),
    billingInterval: text().$type<CalendarInterval>().notNull(),
    billingIntervalCount: integer().notNull(),
    /** Periods are anchor + n intervals; `period_index` is n of the current one. */
    anchorAt: instant().notNull(),
    periodIndex: integer().notNull().default(0),
    currentPeriodStart: instant().notNull(),
    currentPeriodEnd: instant().notNull(),
    initialStart: instant().notNull(),
    startsAt: instant(),
    trialStart: instant(),
    trialEnd: instant(),
    missingPaymentMethod: text().$type<'pause' | 'cancel'>().notNull().default('pause'),
    trialWillEndSentAt: instant(),
    collectionMethod: text().$type<'charge_automatically' | 'send_invoice'>().notNull(),
    netD: integer(),
    defaultPaymentMethodId: uuid(),
    paymentRouteId: uuid(),
    simulate: jsonb().$type<string | Record<string, string>>(),
    cancelAtEnd: boolean().notNull().default(false),
    cancelledAt: instant(),
    cancellationDetails: object(),
    pauseAtEnd: boolean().notNull().default(false),
    pauseForCycles: integer(),
    pausedAt: instant(),
    resumesAt: instant(),
    keptTime: jsonb().$type<KeptTime>(),
    dunning: jsonb().$type<Dunning>(),
    /** When the next unattended charge begins; null: none by itself. */
    chargeAt: instant(),
    /** The invoice whose payment was begun and has no outcome here yet: it holds every timer that depends on money. */
    chargingInvoiceId: uuid(),
    /** The method of the last unattended charge: another one ends a block of dunning. */
    chargedMethodId: uuid(),
    /** A resume that waits for its money or its payment method. */
    resuming: boolean().notNull().default(false),
    cancelOptions: jsonb().$type<CancelOptions>(),
    /** The customer's; its workflow waits for the clock instead of for timers. */
    testClockId: uuid(),
    /** Null: the account's. */
    dunningPolicy: jsonb().$type<DunningPolicy>(),
    /** End of the period whose next invoice was announced. */
    upcomingSentFor: instant(),
    /** Days of notice, as the account had them when the period began. */
    upcomingDays: integer().notNull().default(3),
    /** `send_invoice`: when open invoices are looked at for a reminder. */
    remindAt: instant(),
    totalBillingCycles: integer(),
    completedCycles: integer().notNull().default(0),
    lastChargeAt: instant(),
    /** When the workflow must act next; null: nothing is due by itself. */
    nextActionAt: instant(),
    customFields: object(),
    metadata: object(),
    ...stamps(),
  },
  (t) => [
    index('subscriptions_account').on(t.accountId, t.id),
    index('subscriptions_customer').on(t.customerId, t.id),
    index('subscriptions_money')
      .on(t.id)
      .where(sql`charging_invoice_id is not null or dunning is not null or resuming or billing_status in ('past_due', 'incomplete', 'unpaid')`),
    index('subscriptions_due').on(t.nextActionAt).where(sql`status <> 'cancelled'`),
    index('subscriptions_clock').on(t.testClockId, t.nextActionAt).where(sql`test_clock_id is not null and status <> 'cancelled'`),
    check('subscriptions_status', sql`status in ('trialing','active','paused','cancelled')`),
    check('subscriptions_billing_status', sql`(status = 'cancelled') = (billing_status is null)`),
  ],
);

export const subscriptionItems = pgTable(
  'subscription_items',
  {
    id: id(),
    accountId: accountId(),
    subscriptionId: uuid().notNull().references(() => subscriptions.id),
    priceId: uuid().notNull().references(() => prices.id),
    productId: uuid().notNull(),
    quantity: integer().notNull(),
    description: text(),
    customFields: object(),
    addAtPeriodEnd: boolean().notNull().default(false),
    dropAtEnd: boolean().notNull().default(false),
    removedAt: instant(),
    ...stamps(),
  },
  (t) => [index('subscription_items_subscription').on(t.subscriptionId, t.id), check('subscription_items_quantity', sql`quantity >= 1`)],
);

export type SubscriptionRow = typeof subscriptions.$inferSelect;
export type SubscriptionItemRow = typeof subscriptionItems.$inferSelect;
