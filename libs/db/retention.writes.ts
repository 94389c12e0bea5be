import { and, asc, eq, gt, inArray, isNotNull, lt, sql, type AnyColumn } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Environment } from '../domain/environment.js';
import { systemChange } from './account.writes.js';
import { transact } from './change.js';
import type { Db } from './client.js';
import { announceExhausted } from './delivery.writes.js';
import { firstIdOf } from './mint.js';
import { emails, events, retentionMarks, webhookAttempts, webhookDeliveries, webhookJobs, type WebhookDeliveryRow } from './schema/index.js';

export interface Batch {
  olderThanMs: number;
  /** Most rows that one transaction holds. */
  limit: number;
  /** The last id that the batch before has looked at: dead entries of the index are not crossed again. */
  after: string | null;
}

export interface Pruned {
  count: number;
  /** Where the next batch begins; null: this was the last one. */
  after: string | null;
}

/** What an event's body becomes when it is no longer kept; the row stays, because it carries the object's sequence. */
export const prunedBody = '{}';

type IdTable = PgTable & { id: AnyColumn };

/** UUIDv7 keys rise with time: what is old stands at the beginning of the primary key, so no other index is needed. */
function oldest(table: IdTable, { olderThanMs, after }: Pick<Batch, 'olderThanMs' | 'after'>) {
  return and(lt(table.id, firstIdOf(new Date(Date.now() - olderThanMs))), after === null ? undefined : gt(table.id, after));
}

function next(ids: readonly string[], limit: number): string | null {
  return ids.length < limit ? null : ids.at(-1)!;
}

/** One array, so that the statement's text and its plan are the same whatever the number. */
function oneOf(id: AnyColumn, ids: readonly string[]) {
  return sql`${id} = any(${sql.param([...ids])}::uuid[])`;
}

/** Attempts that were made long ago. Rows that somebody holds are left for the next round. */
export async function pruneAttempts(db: Db, batch: Batch): Promise<Pruned> {
  return db.transaction(async (tx) => {
    const page = await tx.select({ id: webhookAttempts.id }).from(webhookAttempts).where(oldest(webhookAttempts, batch)).orderBy(asc(webhookAttempts.id)).limit(batch.limit).for('update', { skipLocked: true });
    const ids = page.map(({ id }) => id);
    await tx.delete(webhookAttempts).where(oneOf(webhookAttempts.id, ids));
    return { count: ids.length, after: next(ids, batch.limit) };
  });
}

/** E-mails that were sent, given up or not sent. */
export async function pruneEmails(db: Db, batch: Batch): Promise<Pruned> {
  return db.transaction(async (tx) => {
    const page = await tx.select({ id: emails.id, status: emails.status }).from(emails).where(oldest(emails, batch)).orderBy(asc(emails.id)).limit(batch.limit).for('update', { skipLocked: true });
    const done = page.filter(({ status }) => status !== 'pending').map(({ id }) => id);
    if (done.length > 0) await tx.delete(emails).where(oneOf(emails.id, done));
    return { count: done.length, after: next(page.map(({ id }) => id), batch.limit) };
  });
}

/** Deliveries that ended long ago. One that still waits is given up, because its event's body is not kept any longer. */
export async function pruneDeliveries(db: Db, environment: Environment, batch: Batch): Promise<Pruned> {
  const before = new Date(Date.now() - batch.olderThanMs);
  const page = await db.transaction(async (tx) => {
    const rows = await tx.select().from(webhookDeliveries).where(oldest(webhookDeliveries, batch)).orderBy(asc(webhookDeliveries.id)).limit(batch.limit).for('update', { skipLocked: true });
    const done = rows.filter(({ status, finishedAt }) => status !== 'pending' && finishedAt !== null && finishedAt < before).map(({ id }) => id);
    if (done.length > 0) await tx.delete(webhookDeliveries).where(oneOf(webhookDeliveries.id, done));
    return { rows, count: done.length };
  });
  for (const row of page.rows) if (row.status === 'pending') await giveUp(db, environment, row);
  return { count: page.count, after: next(page.rows.map(({ id }) => id), batch.limit) };
}

async function giveUp(db: Db, environment: Environment, { id, accountId, eventId }: WebhookDeliveryRow): Promise<void> {
  const change = systemChange(environment, accountId);
  await transact(db, change, async (tx) => {
    const now = sql`clock_timestamp()` as unknown as Date;
    const ended = await tx
      .update(webhookDeliveries)
      .set({ status: 'exhausted', nextAttemptAt: null, finishedAt: now, updatedAt: now })
      .where(and(eq(webhookDeliveries.id, id), eq(webhookDeliveries.status, 'pending')))
      .returning({ id: webhookDeliveries.id });
    if (ended.length === 0) return;
    const [event] = await tx.select({ type: events.type }).from(events).where(eq(events.id, eventId));
    await announceExhausted(tx, change, [{ deliveryId: id, eventType: event?.type ?? '' }]);
  });
}

/** Jobs that ended long ago. Uses `webhook_jobs_finished`. */
export async function pruneJobs(db: Db, { olderThanMs, limit }: Batch): Promise<Pruned> {
  const old = db
    .select({ id: webhookJobs.id })
    .from(webhookJobs)
    .where(and(isNotNull(webhookJobs.finishedAt), lt(webhookJobs.finishedAt, new Date(Date.now() - olderThanMs))))
    .limit(limit)
    .for('update', { skipLocked: true });
  const gone = await db.delete(webhookJobs).where(inArray(webhookJobs.id, old)).returning({ id: webhookJobs.id });
  return { count: gone.length, after: next(gone.map(({ id }) => id), limit) };
}

const payloads = 'event_payloads';
const firstId = '00000000-0000-0000-0000-000000000000';

/**
 * Empties the bodies of old events; a mark says how far it has come, and one process at a time moves it. It stops before an event with a
 * delivery that waits.
 */
export async function prunePayloads(db: Db, { olderThanMs, limit }: Batch): Promise<Pruned> {
  const now = new Date();
  await db.insert(retentionMarks).values({ name: payloads, position: firstId, updatedAt: now }).onConflictDoNothing();
  return db.transaction(async (tx) => {
    const [mark] = await tx.select().from(retentionMarks).where(eq(retentionMarks.name, payloads)).for('update', { skipLocked: true });
    if (!mark) return { count: 0, after: null };
    const waiting = tx
      .select({ id: webhookDeliveries.id })
      .from(webhookDeliveries)
      .where(and(eq(webhookDeliveries.eventId, events.id), eq(webhookDeliveries.status, 'pending')))
      .limit(1)
      .as('waiting');
    const page = await tx
      .select({ id: events.id, waiting: waiting.id })
      .from(events)
      .leftJoinLateral(waiting, sql`true`)
      .where(oldest(events, { olderThanMs, after: mark.position }))
      .orderBy(asc(events.id))
      .limit(limit);
    const stop = page.findIndex((event) => event.waiting !== null);
    const ids = (stop < 0 ? page : page.slice(0, stop)).map(({ id }) => id);
    if (ids.length === 0) return { count: 0, after: null };
    await tx.update(events).set({ data: prunedBody, dataPrevious: null }).where(oneOf(events.id, ids));
    await tx.update(retentionMarks).set({ position: ids.at(-1)!, updatedAt: now }).where(eq(retentionMarks.name, payloads));
    return { count: ids.length, after: next(ids, limit) };
  });
}
