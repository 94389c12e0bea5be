import { index, integer, jsonb, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { accountId, id, instant, stamps } from './columns.js';

export const paymentRoutes = pgTable(
  'payment_routes',
  {
    id: id(),
    accountId: accountId(),
    name: text().notNull(),
    /** Who runs the first step of a payment that does not say; null: the account's. */
    execution: text().$type<'workflow' | 'inline'>(),
    /** Number of the version that decides now; null: only drafts so far. */
    liveVersion: integer(),
    latestVersion: integer().notNull().default(0),
    deletedAt: instant(),
    ...stamps(),
  },
  (t) => [index('payment_routes_account').on(t.accountId, t.id)],
);

/** Immutable. */
export const paymentRouteVersions = pgTable(
  'payment_route_versions',
  {
    id: id(),
    routeId: uuid().notNull().references(() => paymentRoutes.id),
    number: integer().notNull(),
    document: jsonb().$type<unknown>().notNull(),
    createdBy: text(),
    createdAt: instant().notNull(),
  },
  (t) => [unique('payment_route_versions_number').on(t.routeId, t.number)],
);

export type PaymentRouteRow = typeof paymentRoutes.$inferSelect;
export type PaymentRouteVersionRow = typeof paymentRouteVersions.$inferSelect;
