import { sql } from 'drizzle-orm';
import { boolean, check, doublePrecision, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { accountId, atoms, id, instant, object, stamps } from './columns.js';

export type CalendarInterval = 'day' | 'week' | 'month' | 'year';

export const products = pgTable(
  'products',
  {
    id: id(),
    accountId: accountId(),
    name: text().notNull(),
    description: text(),
    accountSku: text(),
    features: text().array().notNull().default([]),
    unitLabel: text(),
    isActive: boolean().notNull().default(true),
    defaultPriceId: uuid(),
    customFields: object(),
    metadata: object(),
    deletedAt: instant(),
    ...stamps(),
  },
  (t) => [index('products_account').on(t.accountId, t.id)],
);

export const prices = pgTable(
  'prices',
  {
    id: id(),
    accountId: accountId(),
    productId: uuid().notNull().references(() => products.id),
    name: text(),
    internalDescription: text(),
    priceType: text().$type<'one_time' | 'recurring'>().notNull(),
    pricingModel: text().notNull().default('standard'),
    currency: text().notNull(),
    unitAmountAtom: atoms().notNull(),
    billingInterval: text().$type<CalendarInterval>(),
    billingIntervalCount: integer(),
    trialPeriodDays: integer().notNull().default(0),
    usageType: text().notNull().default('licensed'),
    aggregateUsage: text(),
    transformQuantityDivideBy: doublePrecision().notNull().default(1),
    isActive: boolean().notNull(),
    isDefault: boolean(),
    isExclusive: boolean().notNull().default(false),
    canOnlyBePurchasedWith: text().array().notNull().default([]),
    listedExclusivelyForCustomers: text().array().notNull().default([]),
    contractAutoRenew: boolean(),
    contractTermMultiple: integer(),
    defaultNetD: integer(),
    customFields: object(),
    metadata: object(),
    /** Set by the first subscription, invoice or link that names it: from then on it is archived, never deleted. */
    usedAt: instant(),
    deletedAt: instant(),
    ...stamps(),
  },
  (t) => [
    index('prices_account').on(t.accountId, t.id),
    index('prices_product').on(t.productId, t.id),
    check('prices_amount', sql`unit_amount_atom >= 0`),
    check('prices_interval', sql`(price_type = 'recurring') = (billing_interval is not null and billing_interval_count >= 1)`),
  ],
);

export const productFamilies = pgTable(
  'product_families',
  {
    id: id(),
    accountId: accountId(),
    name: text().notNull(),
    description: text(),
    hierarchy: text().notNull().default('{}'),
    products: uuid().array().notNull().default([]),
    deletedAt: instant(),
    ...stamps(),
  },
  (t) => [index('product_families_account').on(t.accountId, t.id)],
);

export type ProductRow = typeof products.$inferSelect;
export type PriceRow = typeof prices.$inferSelect;
export type ProductFamilyRow = typeof productFamilies.$inferSelect;
