import { drizzle, type NodePgDatabase } from 'drizzle-orm/node-postgres';
import type { PgTransaction } from 'drizzle-orm/pg-core';
import type { NodePgQueryResultHKT } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import { PreparedClient } from './prepared-client.js';
import * as schema from './schema/index.js';

export type Schema = typeof schema;
/** Reads take a `Db`. */
export type Db = NodePgDatabase<Schema>;
declare const inTransaction: unique symbol;
/** Writes take a `Tx`, which only `transact` makes: a write outside a transaction does not compile. */
export type Tx = PgTransaction<NodePgQueryResultHKT, Schema, import('drizzle-orm').ExtractTablesWithRelations<Schema>> & {
  readonly [inTransaction]?: true;
};

export interface Database {
  db: Db;
  pool: pg.Pool;
  close(): Promise<void>;
}

export interface DatabaseOptions {
  max?: number;
  applicationName?: string;
  /** Idle connections break when Postgres restarts; they are told here and replaced by the pool. */
  onError?: (error: Error) => void;
}

export function connect(url: string, options: DatabaseOptions = {}): Database {
  const pool = new pg.Pool({
    Client: PreparedClient,
    connectionString: url,
    max: options.max ?? 20,
    application_name: options.applicationName ?? 'signalbox',
    connectionTimeoutMillis: 5_000,
    statement_timeout: 30_000,
    idle_in_transaction_session_timeout: 30_000,
  });
  pool.on('error', (error) => options.onError?.(error));
  /** The pool listens to idle connections only: one that breaks between two statements of a transaction would end the process. */
  pool.on('connect', (client) => client.on('error', (error) => options.onError?.(error)));
  return { db: drizzle(pool, { schema, casing: 'snake_case' }), pool, close: () => pool.end() };
}
