import { and, eq, sql } from 'drizzle-orm';
import type { Environment } from '../domain/environment.js';
import { hearsEvent } from '../domain/event/event-filter.js';
import { publicId, type IdKind } from '../views/ids.js';
import type { Tx } from './client.js';
import { webhookDeliveries, type WebhookEndpointRow, type WebhookJobRow } from './schema/index.js';

/** An event without a delivery that arrived or waits. */
export interface Missed {
  eventId: string;
  objectId: string;
  sequence: number;
}

export interface Scan {
  environment: Environment;
  position: WebhookJobRow['position'];
  /** Most rows that are looked at, so that a transaction stays short. */
  scan: number;
  /** Most that are wanted. */
  take: number;
}

export interface Found<T> {
  found: T[];
  /** Where the next look begins; null: there is nothing more. */
  position: Record<string, string> | null;
}

interface ScannedEvent extends Record<string, unknown> {
  id: string;
  type: string;
  kind: IdKind;
  objectId: string;
  sequence: number;
  at: string;
  data: string | null;
  missed: boolean;
}

/** Events of the job's range that its endpoint wants to hear and did not, oldest first. Uses `events_account_created`. */
export async function missedEvents(tx: Tx, job: WebhookJobRow, endpoint: WebhookEndpointRow, { environment, position, scan, take }: Scan): Promise<Found<Missed>> {
  const { rows } = await tx.execute<ScannedEvent>(sql`
    with page as (
      select e.id, e.type, e.kind, e.object_id, e.sequence, e.created_at, ${endpoint.filter === null ? sql`null` : sql`e.data`} as data
        from events e
       where e.account_id = ${job.accountId} and e.created_at < ${job.until.toISOString()}
         and ${position
           ? sql`(e.created_at, e.id) > (${position.at}::timestamptz, ${position.id}::uuid)`
           : sql`e.created_at >= ${job.since!.toISOString()}`}
       order by e.created_at, e.id
       limit ${scan})
    select p.id, p.type, p.kind, p.object_id as "objectId", p.sequence, p.data, to_json(p.created_at) #>> '{}' as at,
           d.id is null as missed
      from page p
      left join lateral (select d.id from webhook_deliveries d
                          where d.event_id = p.id and d.endpoint_id = ${endpoint.id} and d.status in ('delivered', 'pending') limit 1) d on true
     order by p.created_at, p.id`);
  const found: Missed[] = [];
  for (const row of rows) {
    if (row.missed && isHeard(row, endpoint, environment)) found.push({ eventId: row.id, objectId: row.objectId, sequence: row.sequence });
    if (found.length === take) return { found, position: { at: row.at, id: row.id } };
  }
  const last = rows.at(-1);
  return { found, position: rows.length < scan || !last ? null : { at: last.at, id: last.id } };
}

function isHeard({ kind, objectId, type, data }: ScannedEvent, endpoint: WebhookEndpointRow, environment: Environment): boolean {
  return hearsEvent(endpoint, { type, objectId: publicId(kind, environment, objectId), data: data === null ? {} : (JSON.parse(data) as object) });
}

/**
 * Deliveries of the job's range that were given up after their last attempt, then those that wait after a failure; none that this job
 * has taken already. Uses `webhook_deliveries_given_up` and `webhook_deliveries_due`.
 */
export async function failedDeliveries(tx: Tx, job: WebhookJobRow, { position, scan, take }: Omit<Scan, 'environment'>): Promise<Found<string>> {
  if (position?.waiting) return { found: await waitingAfterFailure(tx, job, take), position: null };
  const { rows } = await tx.execute<{ id: string; txId: string; failed: boolean }>(sql`
    select d.id, d.tx_id as "txId", d.status = 'exhausted' and ${ofJob(job)} as failed
      from webhook_deliveries d
     where d.endpoint_id = ${job.endpointId} and d.status in ('exhausted', 'cancelled')
       ${position ? sql`and (d.tx_id, d.id) > (${position.txId}::xid8, ${position.id}::uuid)` : sql``}
     order by d.tx_id, d.id
     limit ${scan}`);
  const found: string[] = [];
  for (const { id, txId, failed } of rows) {
    if (failed) found.push(id);
    if (found.length === take) return { found, position: { txId, id } };
  }
  const last = rows.at(-1);
  return { found, position: rows.length < scan || !last ? { waiting: 'yes' } : { txId: last.txId, id: last.id } };
}

async function waitingAfterFailure(tx: Tx, job: WebhookJobRow, take: number): Promise<string[]> {
  const { rows } = await tx.execute<{ id: string }>(sql`
    select d.id from webhook_deliveries d
     where d.endpoint_id = ${job.endpointId} and d.status = 'pending' and d.attempts > 0 and ${ofJob(job)}
     order by d.next_attempt_at, d.id
     limit ${take}`);
  return rows.map(({ id }) => id);
}

function ofJob({ id, since, until }: WebhookJobRow) {
  return sql`d.job_id is distinct from ${id}::uuid and d.created_at >= ${(since ?? new Date(0)).toISOString()} and d.created_at < ${until.toISOString()}`;
}

/** Deliveries that the job has put into the queue and that have had no attempt since. */
export async function outstandingOf(tx: Tx, jobId: string): Promise<number> {
  return tx.$count(webhookDeliveries, and(eq(webhookDeliveries.jobId, jobId), eq(webhookDeliveries.status, 'pending'), eq(webhookDeliveries.attempts, 0)));
}
