import { sql } from 'drizzle-orm';
import { index, integer, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { accountId, id, instant, object, writtenBy } from './columns.js';

/**
 * Immutable. The bytes sent to receivers are `head` without its closing brace, `,"data":`, `data`, `}`: rendered once and
 * stored as text, because they are signed.
 */
export const events = pgTable(
  'events',
  {
    id: id(),
    accountId: accountId(),
    type: text().notNull(),
    kind: text().notNull(),
    objectId: uuid().notNull(),
    customerId: uuid(),
    /** Rises by one per object. */
    sequence: integer().notNull(),
    commandId: uuid().notNull(),
    step: text().notNull().default(''),
    requestId: text(),
    idempotencyKey: text(),
    actor: text(),
    clockTime: instant(),
    deliveriesCreated: integer().notNull(),
    head: text().notNull(),
    data: text().notNull(),
    dataPrevious: object(),
    createdAt: instant().notNull(),
    /** Commit-safe paging: nothing at or above the oldest running transaction is shown. */
    txId: writtenBy(),
  },
  (t) => [
    unique('events_command').on(t.commandId, t.step, t.objectId, t.type),
    unique('events_sequence').on(t.objectId, t.sequence),
    index('events_account_position').on(t.accountId, t.txId, t.id),
    index('events_account_created').on(t.accountId, t.createdAt, t.id),
    index('events_account_type_position').on(t.accountId, t.type, t.txId, t.id),
    index('events_account_customer').on(t.accountId, t.customerId, t.txId, t.id).where(sql`customer_id is not null`),
  ],
);

export type EventRow = typeof events.$inferSelect;
