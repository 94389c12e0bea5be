import { sql } from 'drizzle-orm';
import { index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { accountId, id, instant, object, tick } from './columns.js';

/** One comparison of a processor's payments and refunds with ours over a time range. */
export const reconciliations = pgTable(
  'reconciliations',
  {
    id: id(),
    accountId: accountId(),
    processorId: uuid().notNull(),
    since: instant().notNull(),
    until: instant().notNull(),
    status: text().$type<'running' | 'done' | 'failed' | 'not_supported'>().notNull(),
    /** Payments of the processor that were compared. */
    compared: integer().notNull().default(0),
    /** Differences that were put on the attention list or are being looked up. */
    differences: integer().notNull().default(0),
    /** Where the next page begins; a run that was interrupted goes on there. */
    cursor: text(),
    details: object(),
    /** The night that it belongs to, `2030-01-31`; null: asked for. */
    night: text(),
    /** Whose run it is, and until when it is left alone. */
    claimToken: integer().notNull().default(0),
    claimedUntil: tick(),
    startedAt: instant().notNull(),
    finishedAt: instant(),
  },
  (t) => [
    index('reconciliations_processor').on(t.processorId, t.startedAt),
    index('reconciliations_account').on(t.accountId, t.id),
    uniqueIndex('reconciliations_night').on(t.processorId, t.night),
    index('reconciliations_running').on(t.id).where(sql`status = 'running'`),
  ],
);

export type ReconciliationRow = typeof reconciliations.$inferSelect;
