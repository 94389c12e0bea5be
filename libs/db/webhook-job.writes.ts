import { and, eq, sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { DomainError, notFound } from '../errors/domain-error.js';
import { publicId } from '../views/ids.js';
import { webhookJobView } from '../views/webhook-job.view.js';
import type { Db, Tx } from './client.js';
import { appendEvents, previousValues } from './event.writes.js';
import { onceIfKeyed } from './record.writes.js';
import { webhookJobs, type WebhookJobRow } from './schema/index.js';
import { lockEndpoint } from './webhook-endpoint.queries.js';
import { findWebhookJob, jobResults, runningWebhookJob } from './webhook-job.queries.js';

export type NewWebhookJob = Pick<WebhookJobRow, 'id' | 'endpointId' | 'kind' | 'since' | 'until'>;

/**
 * Event `webhook_job.created`; its workflow does the work. One job at a time works on an endpoint.
 * @throws DomainError 404, 409 while another job runs or the endpoint is disabled.
 */
export async function createWebhookJob(tx: Tx, change: Change, job: NewWebhookJob): Promise<WebhookJobRow> {
  await onceIfKeyed(tx, change, { objectId: job.id, step: 'create' }, async () => {
    const endpoint = await lockEndpoint(tx, change.accountId, job.endpointId);
    if (!endpoint) throw notFound('webhook endpoint');
    if (endpoint.status === 'disabled' && job.kind !== 'cancel_pending') throw new DomainError('conflict', 'The webhook endpoint is disabled; enable it first.');
    const running = await runningWebhookJob(tx, job.endpointId);
    if (running) throw new DomainError('conflict', `Job ${publicId('job', change.environment, running.id)} works on this endpoint; wait for its end or cancel it.`);
    const at = new Date();
    const [row] = await tx.insert(webhookJobs).values({ ...job, accountId: change.accountId, createdAt: at, updatedAt: at }).returning();
    const data = webhookJobView(row!, change.environment);
    await appendEvents(tx, change, [{ type: 'webhook_job.created', kind: 'job', objectId: job.id, data, previous: null }]);
    return true;
  });
  return (await findWebhookJob(tx, change.accountId, job.id))!;
}

/** Ends a job that runs; what it has put into the queue stays there. @throws DomainError 404, 409 */
export async function cancelWebhookJob(tx: Tx, change: Change, id: string): Promise<WebhookJobRow> {
  await onceIfKeyed(tx, change, { objectId: id, step: 'cancel' }, async () => {
    const row = await lockWebhookJob(tx, id);
    if (row?.accountId !== change.accountId) throw notFound('webhook job');
    if (row.status !== 'running') throw new DomainError('invalid_state_transition', `A job that is ${row.status} cannot be cancelled; only a running one can.`);
    await finishWebhookJob(tx, change, row, { status: 'cancelled', reason: 'requested' });
    return true;
  });
  return (await findWebhookJob(tx, change.accountId, id))!;
}

/** Whoever works on the job holds its row: two at once take turns, page by page. */
export async function lockWebhookJob(tx: Tx, id: string): Promise<WebhookJobRow | undefined> {
  const [row] = await tx.select().from(webhookJobs).where(eq(webhookJobs.id, id)).for('update');
  return row;
}

export interface JobEnd {
  status: 'completed' | 'failed' | 'cancelled';
  reason: string | null;
}

/** Event `webhook_job.completed`, `.failed` or `.cancelled`, with what became of the deliveries. The caller holds the row. */
export async function finishWebhookJob(tx: Tx, change: Change, before: WebhookJobRow, { status, reason }: JobEnd): Promise<void> {
  const at = new Date();
  const results = before.kind === 'cancel_pending' ? null : ((await jobResults(tx, [before.id])).get(before.id) ?? { delivered: 0, undelivered: 0 });
  const [row] = await tx
    .update(webhookJobs)
    .set({ status, reason, ...results, finishedAt: at, updatedAt: at, version: sql`${webhookJobs.version} + 1` })
    .where(and(eq(webhookJobs.id, before.id), eq(webhookJobs.status, 'running')))
    .returning();
  const data = webhookJobView(row!, change.environment);
  const previous = previousValues(webhookJobView(before, change.environment), data);
  await appendEvents(tx, change, [{ type: `webhook_job.${status}`, kind: 'job', objectId: before.id, data, previous }]);
}

export type JobProgress = Partial<Pick<WebhookJobRow, 'counted' | 'total' | 'processed' | 'position'>>;

/** How far the job has come; the caller holds the row. */
export async function noteProgress(tx: Tx, id: string, progress: JobProgress): Promise<void> {
  await tx.update(webhookJobs).set({ ...progress, progressedAt: sql`clock_timestamp()` as unknown as Date, updatedAt: new Date() }).where(eq(webhookJobs.id, id));
}

/** Somebody works on the job. */
export async function touchWebhookJob(db: Db, id: string): Promise<void> {
  await db.update(webhookJobs).set({ progressedAt: sql`clock_timestamp()` as unknown as Date }).where(eq(webhookJobs.id, id));
}
