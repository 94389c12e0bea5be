import { sql } from 'drizzle-orm';
import type { Environment } from '../domain/environment.js';
import { systemChange } from './account.writes.js';
import { afterCommit, transact } from './change.js';
import type { Db, Tx } from './client.js';
import { newId } from './mint.js';
import type { WebhookEndpointRow, WebhookJobRow } from './schema/index.js';
import { requestWake } from './wake.js';
import { failedDeliveries, missedEvents, outstandingOf, type Found, type Missed } from './webhook-job.candidates.js';
import { finishWebhookJob, lockWebhookJob, noteProgress } from './webhook-job.writes.js';
import { findEndpoint } from './webhook-endpoint.queries.js';

const scan = 2_000;
const cancelledAtOnce = 500;

export interface JobStep {
  /** `waiting`: nothing could be done now. */
  state: 'done' | 'moved' | 'waiting';
  /** Deliveries of the job that have had their attempt. */
  finished: number;
}

interface Work {
  tx: Tx;
  job: WebhookJobRow;
  endpoint: WebhookEndpointRow;
  environment: Environment;
  window: number;
}

/**
 * One page of a job in one transaction, under the lock of its row: what it did and how far it has come are written together, so a crash
 * repeats nothing and two at once take turns. `window`: most deliveries that may wait in the queue for the job.
 */
export async function stepWebhookJob(db: Db, { environment, job: found, window }: { environment: Environment; job: Pick<WebhookJobRow, 'id' | 'accountId'>; window: number }): Promise<JobStep> {
  const change = systemChange(environment, found.accountId);
  return transact(db, change, async (tx) => {
    const job = await lockWebhookJob(tx, found.id);
    if (job?.status !== 'running') return { state: 'done', finished: 0 };
    const end = async (status: 'completed' | 'failed', reason: string | null): Promise<JobStep> => {
      await finishWebhookJob(tx, change, job, { status, reason });
      return { state: 'done', finished: 0 };
    };
    const endpoint = await findEndpoint(tx, job.accountId, job.endpointId);
    if (!endpoint) return end('failed', 'endpoint_deleted');
    if (!(await isSettled(tx, job))) return { state: 'waiting', finished: 0 };
    const work = { tx, job, endpoint, environment, window };
    if (job.kind === 'cancel_pending') return (await cancelSome(work)) ?? end('completed', null);
    if (endpoint.status === 'disabled') return end('failed', 'endpoint_disabled');
    return (await (job.total === null ? count(work) : requeueSome(work))) ?? end('completed', null);
  });
}

/** Whether everything that was begun before the job is committed: only then can nothing be missed. */
async function isSettled(tx: Tx, { txId }: WebhookJobRow): Promise<boolean> {
  const { rows } = await tx.execute<{ settled: boolean }>(sql`select pg_snapshot_xmin(pg_current_snapshot()) > ${txId}::xid8 as settled`);
  return rows[0]!.settled;
}

async function count({ tx, job, endpoint, environment }: Work): Promise<JobStep> {
  const page = { position: job.position, scan, take: Number.POSITIVE_INFINITY, environment };
  const { found, position } = await look({ tx, job, endpoint }, page);
  const counted = job.counted + found.length;
  await noteProgress(tx, job.id, { counted, position, total: position === null ? counted : null });
  return { state: 'moved', finished: 0 };
}

/** Null: all are done and have had their attempt. */
async function requeueSome({ tx, job, endpoint, environment, window }: Work): Promise<JobStep | null> {
  const outstanding = await outstandingOf(tx, job.id);
  const finished = job.processed - outstanding;
  if (job.position?.end) return outstanding === 0 ? null : { state: 'waiting', finished };
  const room = window - outstanding;
  if (room <= 0) return { state: 'waiting', finished };
  const { found, position } = await look({ tx, job, endpoint }, { position: job.position, scan, take: room, environment });
  const ids = found as (string | Missed)[];
  const requeued = ids.length === 0 ? 0 : await (job.kind === 'recover' ? recoverEvents(tx, job, found as Missed[]) : requeueDeliveries(tx, job, found as string[]));
  const isEnd = position === null && !(job.kind === 'resend_failed' && ids.length === room);
  await noteProgress(tx, job.id, { processed: job.processed + requeued, position: isEnd ? { end: 'yes' } : (position ?? job.position) });
  if (requeued > 0) afterCommit(tx, requestWake);
  return { state: 'moved', finished };
}

function look({ tx, job, endpoint }: Pick<Work, 'tx' | 'job' | 'endpoint'>, page: { environment: Environment; position: WebhookJobRow['position']; scan: number; take: number }): Promise<Found<Missed | string>> {
  return job.kind === 'recover' ? missedEvents(tx, job, endpoint, page) : failedDeliveries(tx, job, { ...page, take: Math.min(page.take, 1_000_000) });
}

/** The schedule begins again. */
const again = (jobId: string) => sql`status = 'pending', attempts = 0, next_attempt_at = clock_timestamp(), finished_at = null, job_id = ${jobId}::uuid, updated_at = clock_timestamp()`;

async function recoverEvents(tx: Tx, job: WebhookJobRow, missed: Missed[]): Promise<number> {
  const rows = missed.map(({ eventId, objectId, sequence }) => ({ id: newId(), event: eventId, object: objectId, sequence }));
  const { rowCount } = await tx.execute(sql`
    insert into webhook_deliveries (id, account_id, event_id, endpoint_id, object_id, sequence, job_id, next_attempt_at, created_at, updated_at)
    select r.id, ${job.accountId}::uuid, r.event, ${job.endpointId}::uuid, r.object, r.sequence, ${job.id}::uuid, clock_timestamp(), clock_timestamp(), clock_timestamp()
      from json_to_recordset(${JSON.stringify(rows)}::json) as r(id uuid, event uuid, object uuid, sequence int)
    on conflict (event_id, endpoint_id) do update set ${again(job.id)}
     where webhook_deliveries.status in ('exhausted', 'cancelled')`);
  return rowCount ?? 0;
}

async function requeueDeliveries(tx: Tx, job: WebhookJobRow, ids: string[]): Promise<number> {
  const { rowCount } = await tx.execute(sql`
    update webhook_deliveries set ${again(job.id)}
     where id = any(${sql.param(ids)}::uuid[]) and status in ('exhausted', 'pending')`);
  return rowCount ?? 0;
}

/** Null: none waits that was made before the job. Rows that somebody holds are left for the next look. */
async function cancelSome({ tx, job }: Work): Promise<JobStep | null> {
  const mine = sql`d.endpoint_id = ${job.endpointId} and d.status = 'pending' and d.tx_id <= ${job.txId}::xid8`;
  if (job.total === null) {
    const { rows } = await tx.execute<{ total: number }>(sql`select count(*)::int as total from webhook_deliveries d where ${mine}`);
    await noteProgress(tx, job.id, { counted: rows[0]!.total, total: rows[0]!.total });
    return { state: 'moved', finished: 0 };
  }
  const { rowCount } = await tx.execute(sql`
    update webhook_deliveries set status = 'cancelled', next_attempt_at = null, finished_at = clock_timestamp(), updated_at = clock_timestamp(), job_id = ${job.id}::uuid
     where id in (select d.id from webhook_deliveries d where ${mine} order by d.next_attempt_at limit ${cancelledAtOnce} for update skip locked)`);
  if (rowCount) {
    await noteProgress(tx, job.id, { processed: job.processed + rowCount });
    return { state: 'moved', finished: 0 };
  }
  const { rows } = await tx.execute<{ left: boolean }>(sql`select exists (select 1 from webhook_deliveries d where ${mine}) as left`);
  return rows[0]!.left ? { state: 'waiting', finished: 0 } : null;
}
