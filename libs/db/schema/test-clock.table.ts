import { sql } from 'drizzle-orm';
import { check, index, integer, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { accountId, id, instant, stamps } from './columns.js';

export type TestClockStatus = 'ready' | 'advancing' | 'internal_failure';

/** Time of its own for customers in staging. `target_time`: where the running advance leads; written by the clock's workflow. */
export const testClocks = pgTable(
  'test_clocks',
  {
    id: id(),
    accountId: accountId(),
    name: text(),
    status: text().$type<TestClockStatus>().notNull().default('ready'),
    /** What the clock shows: the time up to which everything has happened. */
    frozenTime: instant().notNull(),
    targetTime: instant(),
    /** When the running advance began, on the clock: progress is the way from here to the target. */
    advancedFrom: instant(),
    /** Facts that the running or last advance made happen. */
    actionsDone: integer().notNull().default(0),
    /** The subscription whose payment holds the advance, while one does. */
    waitingFor: uuid(),
    failureReason: text(),
    deletedAt: instant(),
    ...stamps(),
  },
  (t) => [
    index('test_clocks_account').on(t.accountId, t.id),
    index('test_clocks_advancing').on(t.updatedAt).where(sql`status = 'advancing'`),
    check('test_clocks_status', sql`status in ('ready','advancing','internal_failure')`),
    check('test_clocks_target', sql`status <> 'advancing' or target_time is not null`),
  ],
);

export type TestClockRow = typeof testClocks.$inferSelect;
