import { getTableName, sql } from 'drizzle-orm';
import type { Db } from './client.js';
import { events, webhookAttempts, webhookDeliveries, webhookJobs } from './schema/index.js';

/** Older than every transaction of a cluster's own. */
const beforeAll = '3';

/**
 * A database that was loaded into another Postgres names transactions that this one has not reached: lists and streams would take its
 * rows for unfinished. They are put before everything that is written from here on, among themselves in the order of their ids. Run it
 * while nothing else writes. Twice is once. @returns rows that were moved.
 */
export async function settleRestoredPositions(db: Db): Promise<number> {
  let moved = 0;
  for (const table of [events, webhookDeliveries, webhookAttempts, webhookJobs]) {
    const { rowCount } = await db.execute(sql`
      update ${sql.identifier(getTableName(table))} set tx_id = ${beforeAll}::xid8
       where tx_id >= (select pg_snapshot_xmax(pg_current_snapshot()))`);
    moved += rowCount ?? 0;
  }
  return moved;
}
