import { index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { accountId, id, instant, object } from './columns.js';

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
    startedAt: instant().notNull(),
    finishedAt: instant(),
  },
  (t) => [index('reconciliations_processor').on(t.processorId, t.startedAt), index('reconciliations_account').on(t.accountId, t.id)],
);

export type ReconciliationRow = typeof reconciliations.$inferSelect;
