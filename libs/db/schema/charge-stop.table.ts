import { sql } from 'drizzle-orm';
import { index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { accountId, id, instant, tick } from './columns.js';

/** An emergency stop: no new charge begins in its scope until it is lifted, and then only at its pace. */
export const chargeStops = pgTable(
  'charge_stops',
  {
    id: id(),
    accountId: accountId(),
    scope: text().$type<'account' | 'processor' | 'price'>().notNull(),
    /** The account, connection or price. */
    objectId: uuid().notNull(),
    reason: text().notNull(),
    startedBy: text(),
    startedAt: instant().notNull(),
    liftedBy: text(),
    liftedAt: instant(),
    /** Payments that may begin per second after the stop was lifted, until nothing waits any more. */
    restartPerSecond: integer(),
    /** Up to when the restart has let payments go, by the database's clock. */
    pacedAt: tick(),
    /** When the last payment that waited was let go; null while some wait. */
    drainedAt: instant(),
  },
  (t) => [
    uniqueIndex('charge_stops_open').on(t.scope, t.objectId).where(sql`lifted_at is null`),
    index('charge_stops_account').on(t.accountId, t.id),
    index('charge_stops_draining').on(t.id).where(sql`lifted_at is not null and drained_at is null`),
  ],
);

export type ChargeStopRow = typeof chargeStops.$inferSelect;
