import { index, integer, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import { accountId, id, instant, tick } from './columns.js';

/**
 * One row per used `Idempotency-Key`. Written by the first write's transaction of a keyed request, completed by the API
 * when it answers, taken over by the next caller when `heartbeat_at` is older than 30 s.
 */
export const idempotencyKeys = pgTable(
  'idempotency_keys',
  {
    id: id(),
    accountId: accountId(),
    key: text().notNull(),
    fingerprint: text().notNull(),
    tokenId: uuid().notNull(),
    commandId: uuid().notNull(),
    /** The id minted for the object that the request creates, so that a retry goes on with the same one. */
    objectId: uuid(),
    owner: uuid().notNull(),
    heartbeatAt: tick().notNull(),
    completedAt: instant(),
    responseStatus: integer(),
    /** Encrypted bytes of the answer. */
    responseSealed: text(),
    createdAt: instant().notNull(),
  },
  (t) => [unique('idempotency_keys_key').on(t.accountId, t.key), index('idempotency_keys_age').on(t.createdAt)],
);

export type IdempotencyKeyRow = typeof idempotencyKeys.$inferSelect;
