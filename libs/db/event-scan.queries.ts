import { sql, type SQL } from 'drizzle-orm';
import { sensitivePrefixes } from '../domain/event/event-type.js';
import type { Db } from './client.js';
import { writtenAround, type CommitPosition } from './commit-order.js';

export interface EventSelection {
  objectId?: string;
  customerId?: string;
  /** Exact types; null: all of them. */
  types: readonly string[] | null;
  /** Leaves out the types about people and access, as an endpoint that names everything does. */
  withoutSensitive?: boolean;
  /** Created at or after. */
  since?: Date;
  /** Created before. */
  until?: Date;
  /** Stands somewhere in the event's text; ASCII letters of either case. */
  text?: string;
}

export interface EventScan {
  selection: EventSelection;
  order: 'newest first' | 'oldest first';
  /** Exclusive; null: from the beginning of the order. */
  after: CommitPosition | null;
  /** Only events of transactions before this one. */
  below?: string;
  limit: number;
}

export interface ScannedEvent {
  id: string;
  txId: string;
  type: string;
  head: string;
  data: string;
  dataPrevious: Record<string, unknown> | null;
}

export interface EventScanPage {
  rows: ScannedEvent[];
  /** Whether another page may hold more. A page of a search by text may be short, or empty, and still have one. */
  more: boolean;
  /** Where the next page begins, or where later events will. */
  next: CommitPosition;
}

/** How many events one page of a search by text reads. */
export const mostSearched = 10_000;
/** With more types than this the account's events are read in order and filtered, instead of one index range per type. */
const mostRanges = 40;
const first = '00000000-0000-0000-0000-000000000000';

/**
 * One page in the order of the transactions that wrote them, and nothing that is newer than the oldest transaction still running: an
 * event that commits late can never land behind a position that was handed out. It is not the order of one object's changes where
 * two transactions began in the other order; `sequence` is.
 */
export async function scanEvents(db: Db, accountId: string, scan: EventScan): Promise<EventScanPage> {
  const edge = scan.selection.text === undefined ? null : await searchEdge(db, accountId, scan);
  const { rows: found } = await db.execute<{ horizon: string; id: string | null }>(sql`
    with horizon as materialized (select pg_snapshot_xmin(pg_current_snapshot()) as xmin)
    select horizon.xmin::text as horizon, e.id, e.tx_id::text as "txId", e.type, e.head, e.data, e.data_previous as "dataPrevious"
      from horizon left join lateral (${candidates(accountId, scan, { edge, columns: sql`e.*`, limit: sql`${scan.limit + 1}` })}) e on true
     order by e.tx_id ${direction(scan)}, e.id ${direction(scan)}`);
  const { horizon } = found[0]!;
  const hits = found.filter(({ id }) => id !== null) as unknown as ScannedEvent[];
  const rows = hits.slice(0, scan.limit);
  const last = rows[rows.length - 1];
  if (last && hits.length > scan.limit) return { rows, more: true, next: { txId: last.txId, id: last.id } };
  if (edge) return { rows, more: true, next: edge };
  const end = scan.order === 'oldest first' ? { txId: smaller(horizon, scan.below), id: first } : last;
  return { rows, more: false, next: end ?? { txId: '0', id: first } };
}

/** Before every event of transactions that are still running or yet to come. */
export async function currentPosition(db: Db): Promise<CommitPosition> {
  const { rows } = await db.execute<{ xmin: string }>(sql`select pg_snapshot_xmin(pg_current_snapshot())::text as xmin`);
  return { txId: rows[0]!.xmin, id: first };
}

export async function positionOf(db: Db, accountId: string, eventId: string): Promise<CommitPosition | null> {
  const { rows } = await db.execute<{ txId: string }>(
    sql`select tx_id::text as "txId" from events where id = ${eventId}::uuid and account_id = ${accountId}::uuid`,
  );
  return rows[0] ? { txId: rows[0].txId, id: eventId } : null;
}

export interface EventNews {
  /** Every transaction before it has ended. */
  horizon: string;
  /** Whether a transaction that may still commit an event stands behind it. */
  waiting: boolean;
  /** The accounts with events of transactions from `since` up to the horizon. */
  accounts: string[];
}

/** What became visible since an earlier horizon, of some accounts. */
export async function newsSince(db: Db, since: string, accountIds: readonly string[]): Promise<EventNews> {
  const { rows } = await db.execute<{ horizon: string; waiting: boolean; accounts: string[] }>(sql`
    with s as materialized (select pg_current_snapshot() as now)
    select pg_snapshot_xmin(s.now)::text as horizon, pg_snapshot_xmin(s.now) < pg_snapshot_xmax(s.now) as waiting,
           array(select a.id::text from unnest(${sql.param(accountIds)}::uuid[]) as a(id)
                  where exists (select 1 from events e where e.account_id = a.id and e.tx_id >= ${since}::xid8 and e.tx_id < pg_snapshot_xmin(s.now))) as accounts
      from s`);
  return rows[0]!;
}

/** Where a search by text stops reading; null: it reaches the end. */
async function searchEdge(db: Db, accountId: string, scan: EventScan): Promise<CommitPosition | null> {
  const { text: _, ...selection } = scan.selection;
  const all = candidates(accountId, { ...scan, selection }, { edge: null, columns: sql`e.tx_id, e.id`, limit: sql`${mostSearched}` });
  const { rows } = await db.execute<{ txId: string; id: string }>(sql`
    with horizon as materialized (select pg_snapshot_xmin(pg_current_snapshot()) as xmin)
    select e.tx_id::text as "txId", e.id from (${all}) e order by e.tx_id ${direction(scan)}, e.id ${direction(scan)} offset ${mostSearched - 1} limit 1`);
  return rows[0] ?? null;
}

interface Cut {
  edge: CommitPosition | null;
  columns: SQL;
  limit: SQL;
}

/** A select that reads `horizon`. A few types are one index range each, merged. */
function candidates(accountId: string, scan: EventScan, { edge, columns, limit }: Cut): SQL {
  const { types, objectId, customerId } = scan.selection;
  const where = conditions(accountId, scan, edge);
  const order = sql`order by e.tx_id ${direction(scan)}, e.id ${direction(scan)} limit ${limit}`;
  const byType = types !== null && types.length <= mostRanges && objectId === undefined && customerId === undefined;
  if (!byType) {
    const ofTypes = types === null ? sql`` : sql`and e.type = any(${sql.param(types)}::text[])`;
    return sql`select ${columns} from events e where ${where} ${ofTypes} ${order}`;
  }
  const range = sql`select ${columns} from events e where e.type = t.named and ${where} ${order}`;
  return sql`select e.* from unnest(${sql.param(types)}::text[]) as t(named) cross join lateral (${range}) e ${order}`;
}

function conditions(accountId: string, { selection, order, after, below }: EventScan, edge: CommitPosition | null): SQL {
  const { objectId, customerId, since, until, text, withoutSensitive } = selection;
  const forward = order === 'oldest first';
  const past = forward ? sql.raw('>') : sql.raw('<');
  const within = forward ? sql.raw('<=') : sql.raw('>=');
  const parts: (SQL | null)[] = [
    sql`e.account_id = ${accountId}::uuid and e.tx_id < (select xmin from horizon)`,
    after && sql`(e.tx_id, e.id) ${past} (${after.txId}::xid8, ${after.id}::uuid)`,
    edge && sql`(e.tx_id, e.id) ${within} (${edge.txId}::xid8, ${edge.id}::uuid)`,
    below === undefined ? null : sql`e.tx_id < ${below}::xid8`,
    objectId === undefined ? null : sql`e.object_id = ${objectId}::uuid`,
    customerId === undefined ? null : sql`e.customer_id = ${customerId}::uuid`,
    since === undefined ? null : sql`e.created_at >= ${since.toISOString()}::timestamptz`,
    until === undefined ? null : sql`e.created_at < ${until.toISOString()}::timestamptz`,
    ...writtenAround(sql`e.tx_id`, accountId, { since, until }),
    text === undefined ? null : holdsText(text),
    withoutSensitive ? sql.join(sensitivePrefixes.map((prefix) => sql`not starts_with(e.type, ${prefix})`), sql` and `) : null,
  ];
  return sql.join(parts.filter((part) => part !== null), sql` and `);
}

/** As it stands in JSON, so that a quote is found, too. */
function holdsText(text: string): SQL {
  const wanted = sql`lower(${JSON.stringify(text).slice(1, -1)})`;
  return sql`(strpos(lower(e.data), ${wanted}) > 0 or strpos(lower(e.head), ${wanted}) > 0)`;
}

function direction({ order }: EventScan): SQL {
  return sql.raw(order === 'oldest first' ? 'asc' : 'desc');
}

function smaller(a: string, b: string | undefined): string {
  return b !== undefined && BigInt(b) < BigInt(a) ? b : a;
}
