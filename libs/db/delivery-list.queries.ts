import { and, eq, getTableColumns, gte, like, lt, sql, type AnyColumn, type SQL } from 'drizzle-orm';
import type { PgColumn, PgTable, SelectedFields } from 'drizzle-orm/pg-core';
import type { Db } from './client.js';
import { newestFirst, settledBefore, writtenAround, type CommitPosition } from './commit-order.js';
import { events, webhookAttempts, webhookDeliveries, webhookEndpoints, type WebhookAttemptRow, type WebhookDeliveryRow, type WebhookEndpointRow } from './schema/index.js';

export interface SubjectFilter {
  endpointId?: string;
  eventId?: string;
  /** Events of this object, or of this customer. */
  objectId?: string;
  customerId?: string;
  /** A type or a prefix (`charge.*`). */
  eventType?: string;
  since?: Date;
  until?: Date;
}

export interface DeliveryFilter extends SubjectFilter {
  status?: WebhookDeliveryRow['status'];
}

export interface AttemptFilter extends SubjectFilter {
  deliveryId?: string;
  succeeded?: boolean;
  responseStatus?: number;
}

/** A delivery with what explains it. */
export interface ListedDelivery {
  delivery: WebhookDeliveryRow;
  event: { type: string; kind: string; objectId: string };
  endpoint: Pick<WebhookEndpointRow, 'url' | 'status' | 'ordered' | 'consecutiveFailures' | 'rateFreeAt' | 'heldUntil' | 'deletedAt'>;
}

interface Page<F> {
  filter: F;
  limit: number;
  before: CommitPosition | null;
}

export interface Paged<T> {
  rows: T[];
  hasMore: boolean;
}

const eventColumns = { type: events.type, kind: events.kind, objectId: events.objectId };
const endpointColumns = {
  url: webhookEndpoints.url, status: webhookEndpoints.status, ordered: webhookEndpoints.ordered,
  consecutiveFailures: webhookEndpoints.consecutiveFailures, rateFreeAt: webhookEndpoints.rateFreeAt, heldUntil: webhookEndpoints.heldUntil, deletedAt: webhookEndpoints.deletedAt,
};

export async function pageOfDeliveries(db: Db, accountId: string, page: Page<DeliveryFilter>): Promise<Paged<ListedDelivery>> {
  const { filter } = page;
  const walk: Walk = {
    table: webhookDeliveries,
    madeAt: webhookDeliveries.createdAt,
    wanted: [filter.status ? sql`${webhookDeliveries.status} = ${sql.raw(`'${filter.status}'`)}` : undefined, ofSubject(accountId, filter)],
    columns: (found) => ({ delivery: columnsOf(webhookDeliveries, found), event: eventColumns, endpoint: endpointColumns }),
  };
  return newestOf(db, accountId, walk, page);
}

export async function listedDelivery(db: Db, accountId: string, id: string): Promise<ListedDelivery | undefined> {
  const [row] = await db
    .select({ delivery: webhookDeliveries, event: eventColumns, endpoint: endpointColumns })
    .from(webhookDeliveries)
    .innerJoin(events, eq(events.id, webhookDeliveries.eventId))
    .innerJoin(webhookEndpoints, eq(webhookEndpoints.id, webhookDeliveries.endpointId))
    .where(and(eq(webhookDeliveries.accountId, accountId), eq(webhookDeliveries.id, id)));
  return row;
}

export interface ListedAttempt {
  attempt: WebhookAttemptRow;
  eventType: string;
}

export async function pageOfAttempts(db: Db, accountId: string, page: Page<AttemptFilter>): Promise<Paged<ListedAttempt>> {
  const { filter } = page;
  const { deliveryId, succeeded, responseStatus } = filter;
  const success = sql`${webhookAttempts.responseStatus} between 200 and 299`;
  const walk: Walk = {
    table: webhookAttempts,
    madeAt: webhookAttempts.startedAt,
    wanted: [
      deliveryId === undefined ? undefined : eq(webhookAttempts.deliveryId, deliveryId),
      attemptsOfSubject(accountId, filter),
      succeeded === undefined ? undefined : succeeded ? success : sql`(${success}) is not true`,
      responseStatus === undefined ? undefined : eq(webhookAttempts.responseStatus, responseStatus),
    ],
    columns: (found) => ({ attempt: columnsOf(webhookAttempts, found), eventType: events.type }),
  };
  return newestOf(db, accountId, walk, page);
}

interface Walk {
  table: typeof webhookDeliveries | typeof webhookAttempts;
  /** What `since` and `until` bound. */
  madeAt: PgColumn;
  wanted: (SQL | undefined)[];
  /** What is answered, of the rows found and of their events and endpoints. */
  columns: (found: object) => SelectedFields;
}

/** In the order of commits, newest first. Each endpoint's newest are read by its own index; how many rows there are does not matter. */
async function newestOf<T>(db: Db, accountId: string, { table, madeAt, wanted, columns }: Walk, { filter, limit, before }: Page<SubjectFilter>): Promise<Paged<T>> {
  const found = db
    .select()
    .from(table as typeof webhookDeliveries)
    .where(and(
      eq(table.endpointId, webhookEndpoints.id),
      settledBefore(table, before),
      ...wanted,
      filter.since ? gte(madeAt, filter.since) : undefined,
      filter.until ? lt(madeAt, filter.until) : undefined,
      ...writtenAround(table.txId, accountId, filter),
    ))
    .orderBy(...newestFirst(table))
    .limit(limit + 1)
    .as('page');
  const rows = await db
    .select(columns(found))
    .from(webhookEndpoints)
    .innerJoinLateral(found, sql`true`)
    .innerJoin(events, eq(events.id, found.eventId))
    .where(endpointsOf(accountId, filter))
    .orderBy(...newestFirst(found))
    .limit(limit + 1);
  return { rows: rows.slice(0, limit) as T[], hasMore: rows.length > limit };
}

/** Which of these wait behind an earlier event of the same object, at an endpoint that wants them in sequence. */
export async function heldBack(db: Db, deliveries: readonly WebhookDeliveryRow[]): Promise<Set<string>> {
  if (deliveries.length === 0) return new Set();
  const { rows } = await db.execute<{ id: string }>(sql`
    select d.id from webhook_deliveries d
     where d.id = any(${sql.param(deliveries.map(({ id }) => id))}::uuid[])
       and exists (select 1 from webhook_deliveries o
                    where o.endpoint_id = d.endpoint_id and o.status = 'pending' and o.object_id = d.object_id and o.sequence < d.sequence)`);
  return new Set(rows.map(({ id }) => id));
}

/** The table's columns as a subquery offers them. */
function columnsOf<T extends PgTable>(table: T, page: object): T['_']['columns'] {
  return Object.fromEntries(Object.keys(getTableColumns(table)).map((name) => [name, page[name as keyof typeof page]])) as T['_']['columns'];
}

function endpointsOf(accountId: string, { endpointId }: SubjectFilter): SQL | undefined {
  return and(eq(webhookEndpoints.accountId, accountId), endpointId === undefined ? undefined : eq(webhookEndpoints.id, endpointId));
}

/** An object's or customer's events are few, and lead to their deliveries by key; a type is looked up event by event on the way. */
function ofSubject(accountId: string, filter: SubjectFilter): SQL | undefined {
  const found = ofEvents(accountId, filter);
  if (found) return sql`${webhookDeliveries.eventId} = any(${found})`;
  return filter.eventType === undefined ? undefined : isOfType(webhookDeliveries.eventId, filter.eventType);
}

/** Attempts have no index by event: their deliveries lead there. */
function attemptsOfSubject(accountId: string, filter: SubjectFilter): SQL | undefined {
  const found = ofEvents(accountId, filter);
  if (found) return sql`${webhookAttempts.deliveryId} = any(array(select d.id from webhook_deliveries d where d.event_id = any(${found})))`;
  return filter.eventType === undefined ? undefined : isOfType(webhookAttempts.eventId, filter.eventType);
}

const mostEvents = 10_000;

function ofEvents(accountId: string, { eventId, objectId, customerId, eventType }: SubjectFilter): SQL | null {
  if (eventId === undefined && objectId === undefined && customerId === undefined) return null;
  const wanted = and(
    eq(events.accountId, accountId),
    eventId === undefined ? undefined : eq(events.id, eventId),
    objectId === undefined ? undefined : eq(events.objectId, objectId),
    customerId === undefined ? undefined : eq(events.customerId, customerId),
    eventType === undefined ? undefined : ofType(eventType),
  );
  return sql`array(select ${events.id} from ${events} where ${wanted} order by ${events.createdAt} desc limit ${sql.raw(String(mostEvents))})`;
}

function isOfType(eventId: AnyColumn, type: string): SQL {
  return sql`exists (select 1 from ${events} where ${and(eq(events.id, eventId), ofType(type))})`;
}

function ofType(type: string): SQL | undefined {
  if (type === '*' || type === 'all') return sql`true`;
  return type.endsWith('.*') ? like(events.type, `${type.slice(0, -1).replaceAll('_', '\\_')}%`) : eq(events.type, type);
}
