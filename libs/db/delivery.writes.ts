import { and, eq, sql, type SQL } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { webhookDeliveryView } from '../views/webhook-delivery.view.js';
import { raiseAttention } from './attention.writes.js';
import { builtOnce, byKeys, planOnce, sendBatch } from './batch.js';
import type { Db, Tx } from './client.js';
import { releaseFollowers, type DrainHold } from './drain.writes.js';
import { appendEvents } from './event.writes.js';
import { newId } from './mint.js';
import { webhookAttempts, webhookDeliveries, type WebhookDeliveryRow } from './schema/index.js';

/** One post that has an outcome. */
export interface AttemptRecord {
  deliveryId: string;
  eventId: string;
  url: string;
  startedAt: Date;
  durationMs: number;
  timings: object;
  address: string | null;
  requestHeaders: Record<string, string>;
  responseHeaders: Record<string, string> | null;
  responseStatus: number | null;
  responseText: string | null;
  error: string | null;
  /** The error in words. */
  detail: string | null;
}

export interface ScheduledAttempt extends AttemptRecord {
  /** What becomes of the delivery. */
  next: { status: 'delivered' } | { status: 'exhausted' } | { status: 'pending'; delayMs: number };
  /** For how long the receiver asked to be left alone; 0: it did not. */
  silenceMs: number;
}

/** An endpoint's streak after a batch was recorded. */
export interface Streak {
  consecutiveFailures: number;
  failingSince: Date | null;
  /** Others were told that it fails. */
  toldFailing: boolean;
  /** Of the endpoint's row: another one than before means that its settings changed. */
  version: number;
}

/** The longest silence that was asked for holds as long as the endpoint posts to the receiver that asked. */
function heldUntil(attempts: ScheduledAttempt[]) {
  const { silenceMs, url } = attempts.reduce((longest, attempt) => (attempt.silenceMs > longest.silenceMs ? attempt : longest));
  if (silenceMs === 0) return sql`held_until`;
  return sql`case when url = ${url} then greatest(held_until, clock_timestamp() + ${silenceMs}::float8 * interval '1 millisecond') else held_until end`;
}

interface StreakRow extends Record<string, unknown> {
  failures: number;
  since: Date | string | null;
  told: boolean;
  version: number;
}

interface Recording {
  endpointId: string;
  epoch: number;
  /** JSON of the attempts. */
  records: string;
}

/** One statement: attempts, their deliveries' new state, and the endpoint's row as `fence` sets it, all of it only where `where` holds. */
function recording({ endpointId, epoch, records }: Recording, fence: { set: SQL; where: SQL }): SQL {
  return sql`
    with fence as (
      update webhook_endpoints set ${fence.set}, drain_until = clock_timestamp() + interval '30 seconds'
      where id = ${endpointId} and drain_epoch = ${epoch} and ${fence.where}
      returning id, account_id, consecutive_failures as failures, failing_since as since,
        failing_told_at is not null as told, version),
    r as (
      select * from json_to_recordset(${records}::json) as r(
        id uuid, delivery uuid, event uuid, url text, started timestamptz, duration int, timings jsonb, address text, sent jsonb, got jsonb,
        code int, text text, error text, detail text, status text, delay float8)),
    moved as (
      update webhook_deliveries d set
        status = r.status, attempts = d.attempts + 1, last_status = r.code, last_error = r.error, updated_at = clock_timestamp(),
        next_attempt_at = case when r.status = 'pending' then clock_timestamp() + r.delay * interval '1 millisecond' end,
        finished_at = case when r.status <> 'pending' then clock_timestamp() end
      from r, fence
      where d.id = any(array(select delivery from r)) and d.id = r.delivery and (d.status = 'pending' or (r.status = 'delivered' and d.status <> 'delivered'))),
    written as (
      insert into webhook_attempts (id, account_id, delivery_id, endpoint_id, event_id, number, url, started_at, duration_ms, timings, address,
             request_headers, response_headers, response_status, response_text, error, detail)
      select r.id, fence.account_id, r.delivery, fence.id, r.event,
             1 + (select count(*) from webhook_attempts a where a.delivery_id = r.delivery),
             r.url, r.started, r.duration, r.timings, r.address, r.sent, r.got, r.code, r.text, r.error, r.detail
        from r, fence)
    select failures, since, told, version from fence`;
}

/**
 * Writes attempts in the order in which they ended, with their deliveries' new state, the endpoint's streak and the silence that was
 * asked for: one statement. Nothing at all is written, and undefined returned, when another drain has taken the endpoint.
 */
export async function recordAttempts(tx: Tx, hold: DrainHold, attempts: ScheduledAttempt[]): Promise<Streak | undefined> {
  const failures = attempts.length - 1 - attempts.findLastIndex((attempt) => attempt.next.status === 'delivered');
  const broken = failures < attempts.length;
  await tx.execute(sql.raw(byKeys));
  const { rows } = await tx.execute<StreakRow>(recording({ ...hold, records: recordsOf(attempts) }, {
    set: sql`
        consecutive_failures = ${broken ? sql`${failures}::int` : sql`consecutive_failures + ${failures}::int`},
        failing_since = ${failures === 0 ? sql`null` : broken ? sql`clock_timestamp()` : sql`coalesce(failing_since, clock_timestamp())`},
        held_until = ${heldUntil(attempts)}`,
    where: sql`true`,
  }));
  return streakOf(rows[0]);
}

const deliveredOnly = builtOnce<Recording>(['endpointId', 'epoch', 'records'], (marks) =>
  recording(marks, { set: sql`consecutive_failures = 0, failing_since = null`, where: sql`failing_told_at is null` }));

/**
 * The same of attempts that all succeeded, in one round trip. Undefined, with nothing written, also where the endpoint was said to fail:
 * then its recovery is to be told with them.
 */
export async function recordDelivered(db: Db, hold: DrainHold, attempts: ScheduledAttempt[]): Promise<Streak | undefined> {
  const answers = await sendBatch(db, [planOnce, deliveredOnly(db, { ...hold, records: recordsOf(attempts) })]);
  return streakOf(answers[1]![0] as StreakRow | undefined);
}

function streakOf(row: StreakRow | undefined): Streak | undefined {
  if (!row) return undefined;
  return { consecutiveFailures: row.failures, failingSince: row.since === null ? null : new Date(row.since), toldFailing: row.told, version: row.version };
}

function recordsOf(attempts: readonly ScheduledAttempt[]): string {
  return JSON.stringify(attempts.map(toRecord));
}

function toRecord(attempt: ScheduledAttempt) {
  return {
    id: newId(),
    delivery: attempt.deliveryId,
    event: attempt.eventId,
    url: attempt.url,
    started: attempt.startedAt.toISOString(),
    duration: attempt.durationMs,
    timings: attempt.timings,
    address: attempt.address,
    sent: attempt.requestHeaders,
    got: attempt.responseHeaders,
    code: attempt.responseStatus,
    text: attempt.responseText,
    error: attempt.error,
    detail: attempt.detail,
    status: attempt.next.status,
    delay: attempt.next.status === 'pending' ? attempt.next.delayMs : null,
  };
}

/** A person's resend: a success ends the delivery and its planned retry, a failure changes nothing but the list of attempts. */
export async function recordManualAttempt(tx: Tx, change: Change, attempt: AttemptRecord & { endpointId: string; delivered: boolean }): Promise<void> {
  const { delivered, ...fields } = attempt;
  const number = sql<number>`1 + (select count(*) from webhook_attempts a where a.delivery_id = ${attempt.deliveryId})` as unknown as number;
  await tx.insert(webhookAttempts).values({ ...fields, timings: { ...fields.timings }, id: newId(), accountId: change.accountId, number, manual: true });
  await tx
    .update(webhookDeliveries)
    .set({
      lastStatus: attempt.responseStatus,
      lastError: attempt.error,
      updatedAt: sql`clock_timestamp()`,
      ...(delivered ? { status: 'delivered' as const, nextAttemptAt: null, finishedAt: sql`clock_timestamp()` as unknown as Date } : {}),
    })
    .where(eq(webhookDeliveries.id, attempt.deliveryId));
  if (attempt.delivered) await releaseFollowers(tx, attempt.deliveryId);
}

/** The delivery of an event to an endpoint; made if there is none, due in `delayMs` so that a crash of the caller loses nothing. */
export async function ensureDelivery(
  tx: Tx,
  change: Change,
  target: { eventId: string; endpointId: string; objectId: string; sequence: number; delayMs: number },
): Promise<WebhookDeliveryRow> {
  const { eventId, endpointId, objectId, sequence, delayMs } = target;
  const now = new Date();
  await tx
    .insert(webhookDeliveries)
    .values({
      id: newId(), accountId: change.accountId, eventId, endpointId, objectId, sequence, createdAt: now, updatedAt: now,
      nextAttemptAt: sql`clock_timestamp() + ${delayMs} * interval '1 millisecond'` as unknown as Date,
    })
    .onConflictDoNothing();
  const [row] = await tx
    .select()
    .from(webhookDeliveries)
    .where(and(eq(webhookDeliveries.eventId, eventId), eq(webhookDeliveries.endpointId, endpointId)));
  return row!;
}

/** Cancels one delivery that waits; undefined if it does not wait any more. */
export async function cancelDelivery(tx: Tx, id: string): Promise<WebhookDeliveryRow | undefined> {
  const [row] = await tx
    .update(webhookDeliveries)
    .set(cancelled)
    .where(and(eq(webhookDeliveries.id, id), eq(webhookDeliveries.status, 'pending')))
    .returning();
  if (row) await releaseFollowers(tx, id);
  return row;
}

export async function cancelPendingDeliveries(tx: Tx, endpointId: string): Promise<void> {
  await tx.update(webhookDeliveries).set(cancelled).where(and(eq(webhookDeliveries.endpointId, endpointId), eq(webhookDeliveries.status, 'pending')));
}

const cancelled = {
  status: 'cancelled' as const,
  nextAttemptAt: null,
  finishedAt: sql`clock_timestamp()` as unknown as Date,
  updatedAt: sql`clock_timestamp()` as unknown as Date,
};

const exhaustedType = 'webhook_delivery.exhausted';

/**
 * Says that deliveries ended undelivered: an event each, and one open line for the endpoint. The failure to deliver such an
 * event is not announced by another.
 */
export async function announceExhausted(tx: Tx, change: Change, ended: { deliveryId: string; eventType: string }[]): Promise<void> {
  for (const { deliveryId, eventType } of ended) {
    const [row] = await tx.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, deliveryId));
    if (!row || row.status !== 'exhausted') continue;
    const data = webhookDeliveryView(row, change.environment);
    if (eventType !== exhaustedType) {
      await appendEvents(tx, change, [{ type: exhaustedType, kind: 'whd', objectId: row.id, data, previous: { status: 'pending' } }]);
    }
    await raiseAttention(tx, {
      accountId: row.accountId,
      type: 'webhook_deliveries_exhausted',
      kind: 'webhook_endpoint',
      objectId: row.endpointId,
      reason: 'A webhook was not delivered after its last attempt.',
      details: { event_id: data.event_id, delivery_id: data.id },
      actions: ['Repair the receiver, then POST /webhook-deliveries/{id}/resend.'],
    }, new Date());
  }
}
