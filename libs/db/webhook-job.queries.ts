import { and, eq, inArray, sql } from 'drizzle-orm';
import type { Db, Tx } from './client.js';
import { webhookDeliveries, webhookJobs, type WebhookJobRow } from './schema/index.js';

export async function findWebhookJob(db: Db | Tx, accountId: string, id: string): Promise<WebhookJobRow | undefined> {
  const [row] = await db.select().from(webhookJobs).where(and(eq(webhookJobs.accountId, accountId), eq(webhookJobs.id, id)));
  return row;
}

/** For the job's own workflow, which is bound to no account. */
export async function webhookJobById(db: Db, id: string): Promise<WebhookJobRow | undefined> {
  const [row] = await db.select().from(webhookJobs).where(eq(webhookJobs.id, id));
  return row;
}

/** The job that works on an endpoint: there is one at a time. Uses `webhook_jobs_running`. */
export async function runningWebhookJob(db: Db | Tx, endpointId: string): Promise<WebhookJobRow | undefined> {
  const [row] = await db.select().from(webhookJobs).where(and(eq(webhookJobs.endpointId, endpointId), eq(webhookJobs.status, 'running')));
  return row;
}

export interface JobResults {
  delivered: number;
  undelivered: number;
}

/** What has become of the deliveries of these jobs, by job. Uses `webhook_deliveries_job`. */
export async function jobResults(db: Db | Tx, jobIds: readonly string[]): Promise<Map<string, JobResults>> {
  if (jobIds.length === 0) return new Map();
  const delivered = sql<number>`(count(*) filter (where ${webhookDeliveries.status} = 'delivered'))::int`;
  const undelivered = sql<number>`(count(*) filter (where ${webhookDeliveries.status} in ('exhausted', 'cancelled') or ${webhookDeliveries.attempts} > 0 and ${webhookDeliveries.status} = 'pending'))::int`;
  const rows = await db
    .select({ jobId: webhookDeliveries.jobId, delivered, undelivered })
    .from(webhookDeliveries)
    .where(inArray(webhookDeliveries.jobId, [...jobIds]))
    .groupBy(webhookDeliveries.jobId);
  return new Map(rows.map(({ jobId, ...results }) => [jobId!, results]));
}

/** Jobs that should run and on which nobody has worked for a while, or ever. */
export async function idleWebhookJobs(db: Db, { idleSeconds, limit }: { idleSeconds: number; limit: number }): Promise<Pick<WebhookJobRow, 'id' | 'accountId'>[]> {
  return db
    .select({ id: webhookJobs.id, accountId: webhookJobs.accountId })
    .from(webhookJobs)
    .where(and(
      eq(webhookJobs.status, 'running'),
      sql`coalesce(${webhookJobs.progressedAt} + make_interval(secs => ${idleSeconds}), ${webhookJobs.createdAt} + interval '2 seconds') < clock_timestamp()`,
    ))
    .limit(limit);
}
