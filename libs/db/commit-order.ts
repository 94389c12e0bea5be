import { and, desc, sql, type AnyColumn, type SQL } from 'drizzle-orm';
import { DomainError } from '../errors/domain-error.js';

/** Where a row stands in the order of commits. */
export interface CommitPosition {
  txId: string;
  id: string;
}

interface Written {
  txId: AnyColumn;
  id: AnyColumn;
}

/**
 * Rows older than `before`, and none that is newer than the oldest transaction still running: what commits late can never land behind a
 * cursor that was handed out.
 */
export function settledBefore({ txId, id }: Written, before: CommitPosition | null): SQL | undefined {
  return and(
    sql`${txId} < pg_snapshot_xmin(pg_current_snapshot())`,
    before ? sql`(${txId}, ${id}) < (${before.txId}::xid8, ${before.id}::uuid)` : undefined,
  );
}

export function newestFirst({ txId, id }: Written): [SQL, SQL] {
  return [desc(txId), desc(id)];
}

/** Far longer than a transaction lasts between the moment that a row names and its commit. */
const longestTransaction = sql`interval '1 hour'`;

/**
 * Bounds of the walk for rows made in [since, until), told by the account's events of about that time: a range of long ago is found
 * without walking back to it. The caller still compares the times themselves.
 */
export function writtenAround(txId: AnyColumn | SQL, accountId: string, { since, until }: { since?: Date; until?: Date }): SQL[] {
  const eventAt = (condition: SQL, order: SQL): SQL => sql`(select e.tx_id from events e where e.account_id = ${accountId} and ${condition} order by ${order} limit 1)`;
  const bounds: SQL[] = [];
  if (since) {
    const before = eventAt(sql`e.created_at < ${since.toISOString()}::timestamptz - ${longestTransaction}`, sql`e.created_at desc, e.id desc`);
    bounds.push(sql`${txId} >= coalesce(${before}, '0'::xid8)`);
  }
  if (until) {
    const after = eventAt(sql`e.created_at >= ${until.toISOString()}::timestamptz + ${longestTransaction}`, sql`e.created_at, e.id`);
    bounds.push(sql`${txId} <= coalesce(${after}, '18446744073709551615'::xid8)`);
  }
  return bounds;
}

export function encodePosition({ txId, id }: CommitPosition): string {
  return Buffer.from(`${txId}.${id}`).toString('base64url');
}

/** The position that a cursor holds, or null. */
export function readPosition(cursor: string): CommitPosition | null {
  const [, txId, id] = /^(\d{1,19})\.([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  return txId === undefined || id === undefined ? null : { txId, id };
}

/** @throws DomainError 422 naming `cursor`. */
export function decodePosition(cursor: string | undefined): CommitPosition | null {
  if (cursor === undefined) return null;
  const position = readPosition(cursor);
  if (position) return position;
  const msg = 'Not a cursor of this list';
  throw new DomainError('invalid_request', `cursor: ${msg}`, { errors: [{ loc: ['query', 'cursor'], msg, type: 'value_error' }] });
}
