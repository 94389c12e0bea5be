import { sql } from 'drizzle-orm';
import { bigint, customType, integer, jsonb, timestamp, uuid } from 'drizzle-orm/pg-core';

export type JsonObject = Record<string, unknown>;

/** Instant with milliseconds: what the wire shows. */
export const instant = () => timestamp({ withTimezone: true, precision: 3, mode: 'date' });

/** Instant with microseconds, compared in the database only (`clock_timestamp()`): leases and claims. */
export const tick = () => timestamp({ withTimezone: true, precision: 6, mode: 'date' });

/** Money in the currency's smallest unit. JavaScript numbers hold it exactly up to 2^53 - 1, which the edge enforces. */
export const atoms = () => bigint({ mode: 'number' });

export const id = () => uuid().primaryKey();
export const accountId = () => uuid().notNull();
export const object = () => jsonb().$type<JsonObject>();

/** Columns of every business row: `version` guards each update. */
export const stamps = () => ({
  version: integer().notNull().default(1),
  createdAt: instant().notNull(),
  updatedAt: instant().notNull(),
});

const xid8 = customType<{ data: string }>({ dataType: () => 'xid8' });

/** The transaction that wrote the row. Lists that show nothing at or above the oldest running one never skip a late commit. */
export const writtenBy = () => xid8().notNull().default(sql`pg_current_xact_id()`);
