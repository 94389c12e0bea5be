import { and, asc, count, eq, sql } from 'drizzle-orm';
import type { Db, Tx } from './client.js';
import { events, webhookAttempts, webhookDeliveries, type WebhookAttemptRow, type WebhookDeliveryRow } from './schema/index.js';

/** A delivery with everything that its post needs. */
export interface DueDelivery {
  id: string;
  eventId: string;
  eventType: string;
  /** Scheduled attempts so far. */
  attempts: number;
  head: string;
  data: string;
  createdAt: Date;
}

const dueColumns = {
  id: webhookDeliveries.id,
  eventId: webhookDeliveries.eventId,
  eventType: events.type,
  attempts: webhookDeliveries.attempts,
  head: events.head,
  data: events.data,
  createdAt: events.createdAt,
};

export interface DuePage {
  limit: number;
  /** Deliveries that are under way or not recorded yet. */
  except: readonly string[];
  /** Those that were tried before, if one is due: the probe of a failing endpoint. */
  triedFirst?: boolean;
  /** None that an earlier event of the same object still waits before. */
  ordered?: boolean;
  /** None unless the drain still has the endpoint, as it read it, and it is enabled. */
  under?: { epoch: number; version: number };
}

const isFirstOfItsObject = sql`not exists (select 1 from webhook_deliveries p
  where p.endpoint_id = ${webhookDeliveries.endpointId} and p.object_id = ${webhookDeliveries.objectId} and p.status = 'pending' and p.sequence < ${webhookDeliveries.sequence})`;

/** Asked once per statement: it names no delivery. */
function isStill(endpointId: string, { epoch, version }: NonNullable<DuePage['under']>) {
  return sql`select e.drain_epoch = ${epoch} and e.version = ${version} and e.status = 'enabled' and e.deleted_at is null
    from webhook_endpoints e where e.id = ${endpointId}`;
}

export async function dueDeliveries(db: Db, endpointId: string, { triedFirst, ...page }: DuePage): Promise<DueDelivery[]> {
  const tried = triedFirst ? await pageOfDue(db, endpointId, { ...page, tried: true }) : [];
  return tried.length > 0 ? tried : pageOfDue(db, endpointId, { ...page, tried: false });
}

type DueChoice = Omit<DuePage, 'triedFirst'> & { tried: boolean };

/** The page is cut before events are read, one by one by their key: how many events there are does not matter. */
async function pageOfDue(db: Db, endpointId: string, { limit, except, tried, ordered, under }: DueChoice): Promise<DueDelivery[]> {
  const order = [asc(webhookDeliveries.nextAttemptAt), asc(webhookDeliveries.id)];
  const { id, eventId, attempts, nextAttemptAt } = webhookDeliveries;
  const due = db
    .select({ id, eventId, attempts, nextAttemptAt })
    .from(webhookDeliveries)
    .where(and(
      eq(webhookDeliveries.endpointId, endpointId),
      eq(webhookDeliveries.status, 'pending'),
      sql`${webhookDeliveries.nextAttemptAt} <= clock_timestamp()`,
      except.length > 0 ? sql`${webhookDeliveries.id} <> all(${sql.param([...except])}::uuid[])` : undefined,
      ordered ? isFirstOfItsObject : undefined,
      tried ? sql`${webhookDeliveries.attempts} > 0` : undefined,
      under ? sql`(${isStill(endpointId, under)})` : undefined,
    ))
    .orderBy(...order)
    .limit(limit)
    .as('due');
  const event = db
    .select({ eventType: events.type, head: events.head, data: events.data, createdAt: events.createdAt })
    .from(events)
    .where(eq(events.id, due.eventId))
    .limit(1)
    .as('event');
  return db
    .select({ id: due.id, eventId: due.eventId, attempts: due.attempts, eventType: event.eventType, head: event.head, data: event.data, createdAt: event.createdAt })
    .from(due)
    .innerJoinLateral(event, sql`true`)
    .orderBy(asc(due.nextAttemptAt), asc(due.id));
}

/** One delivery with what its post needs, whatever its state. */
export async function deliveryToResend(db: Db, accountId: string, id: string): Promise<(DueDelivery & { endpointId: string }) | undefined> {
  const [row] = await db
    .select({ ...dueColumns, endpointId: webhookDeliveries.endpointId })
    .from(webhookDeliveries)
    .innerJoin(events, eq(events.id, webhookDeliveries.eventId))
    .where(and(eq(webhookDeliveries.accountId, accountId), eq(webhookDeliveries.id, id)));
  return row;
}

export async function findDelivery(db: Db | Tx, accountId: string, id: string): Promise<WebhookDeliveryRow | undefined> {
  const [row] = await db.select().from(webhookDeliveries).where(and(eq(webhookDeliveries.accountId, accountId), eq(webhookDeliveries.id, id)));
  return row;
}

/** Oldest first. */
export async function deliveryAttempts(db: Db, accountId: string, deliveryId: string): Promise<WebhookAttemptRow[]> {
  return db
    .select()
    .from(webhookAttempts)
    .where(and(eq(webhookAttempts.accountId, accountId), eq(webhookAttempts.deliveryId, deliveryId)))
    .orderBy(asc(webhookAttempts.number), asc(webhookAttempts.id));
}

/** Deliveries per event that are not delivered, exhausted or cancelled. */
export async function pendingCounts(db: Db, eventIds: readonly string[]): Promise<Map<string, number>> {
  if (eventIds.length === 0) return new Map();
  const rows = await db
    .select({ eventId: webhookDeliveries.eventId, pending: count() })
    .from(webhookDeliveries)
    .where(and(sql`${webhookDeliveries.eventId} = any(${sql.param([...eventIds])}::uuid[])`, eq(webhookDeliveries.status, 'pending')))
    .groupBy(webhookDeliveries.eventId);
  return new Map(rows.map((row) => [row.eventId, row.pending]));
}
