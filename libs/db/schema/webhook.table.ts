import { sql } from 'drizzle-orm';
import { boolean, index, integer, jsonb, pgTable, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import type { EventObjectFilter } from '../../domain/event/event-filter.js';
import { accountId, id, instant, object, stamps, tick, writtenBy } from './columns.js';

export const webhookEndpoints = pgTable(
  'webhook_endpoints',
  {
    id: id(),
    accountId: accountId(),
    url: text().notNull(),
    description: text(),
    metadata: object(),
    enabledEvents: text().array().notNull(),
    status: text().$type<'enabled' | 'paused' | 'disabled'>().notNull().default('enabled'),
    statusReason: text(),
    dataFormat: text().$type<'object' | 'string'>().notNull().default('object'),
    /** Which objects' events it hears; null: all. */
    filter: jsonb().$type<EventObjectFilter>(),
    ordered: boolean().notNull().default(false),
    /** Most posts that begin in a second; null: no limit. */
    ratePerSecond: integer(),
    /** Most posts that are open at once; null: what a drain does without it. */
    maxInFlight: integer(),
    /** The receiver's own headers: lower-case name → sealed value. */
    headers: jsonb().$type<Record<string, string>>(),
    /** The first moment at which a post that nobody reserved may begin; only with `rate_per_second`. */
    rateFreeAt: tick(),
    /** Until when the receiver asked for silence, by a 429 or 503 with `Retry-After`. */
    heldUntil: instant(),
    /** Fencing token of the running drain: attempts are written only under it. */
    drainEpoch: integer().notNull().default(0),
    drainUntil: tick(),
    wakeSentAt: tick(),
    /** Whether a dispatcher was started that has not ended: it is woken once more when the endpoint is deleted. */
    dispatcherOpen: boolean().notNull().default(false),
    consecutiveFailures: integer().notNull().default(0),
    failingSince: instant(),
    /** Set when others were told that it fails; cleared when they were told that it recovered. */
    failingToldAt: instant(),
    deletedAt: instant(),
    ...stamps(),
  },
  (t) => [
    index('webhook_endpoints_account').on(t.accountId, t.id),
    index('webhook_endpoints_failing').on(t.failingSince).where(sql`failing_since is not null`),
  ],
);

export const webhookSecrets = pgTable(
  'webhook_secrets',
  {
    id: id(),
    endpointId: uuid().notNull().references(() => webhookEndpoints.id),
    sealed: text().notNull(),
    createdAt: instant().notNull(),
    expiresAt: instant(),
  },
  (t) => [index('webhook_secrets_endpoint').on(t.endpointId, t.createdAt)],
);

/**
 * A queue. Written in the event's transaction; drained by the endpoint's workflow, which reads
 * `webhook_deliveries_due` in pages.
 */
export const webhookDeliveries = pgTable(
  'webhook_deliveries',
  {
    id: id(),
    accountId: accountId(),
    eventId: uuid().notNull(),
    endpointId: uuid().notNull(),
    objectId: uuid().notNull(),
    sequence: integer().notNull(),
    status: text().$type<'pending' | 'delivered' | 'exhausted' | 'cancelled'>().notNull().default('pending'),
    nextAttemptAt: tick(),
    attempts: integer().notNull().default(0),
    lastStatus: integer(),
    lastError: text(),
    /** The job that put it into the queue again. */
    jobId: uuid(),
    finishedAt: instant(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
    txId: writtenBy(),
  },
  (t) => [
    unique('webhook_deliveries_pair').on(t.eventId, t.endpointId),
    index('webhook_deliveries_due').on(t.endpointId, t.nextAttemptAt, t.id).where(sql`status = 'pending'`),
    index('webhook_deliveries_tried').on(t.endpointId, t.nextAttemptAt).where(sql`status = 'pending' and attempts > 0`),
    index('webhook_deliveries_object').on(t.endpointId, t.objectId, t.sequence).where(sql`status = 'pending'`),
    index('webhook_deliveries_endpoint').on(t.endpointId, t.txId, t.id),
    index('webhook_deliveries_given_up').on(t.endpointId, t.txId, t.id).where(sql`status in ('exhausted', 'cancelled')`),
    index('webhook_deliveries_job').on(t.jobId).where(sql`job_id is not null`),
  ],
);

export const webhookAttempts = pgTable(
  'webhook_attempts',
  {
    id: id(),
    accountId: accountId(),
    deliveryId: uuid().notNull(),
    endpointId: uuid().notNull(),
    eventId: uuid().notNull(),
    number: integer().notNull(),
    manual: boolean().notNull().default(false),
    url: text().notNull(),
    startedAt: instant().notNull(),
    durationMs: integer().notNull(),
    /** Milliseconds; a phase that did not happen is absent. */
    timings: jsonb().$type<Record<string, number>>(),
    /** Where it was sent: the checked address and port. */
    address: text(),
    /** As sent, without what only the receiver may know. */
    requestHeaders: jsonb().$type<Record<string, string>>(),
    responseHeaders: jsonb().$type<Record<string, string>>(),
    responseStatus: integer(),
    responseText: text(),
    error: text(),
    /** The error in words, with what the network said. */
    detail: text(),
    txId: writtenBy(),
  },
  (t) => [index('webhook_attempts_delivery').on(t.deliveryId, t.number), index('webhook_attempts_endpoint').on(t.endpointId, t.txId, t.id)],
);

export type WebhookJobKind = 'recover' | 'resend_failed' | 'cancel_pending';
export type WebhookJobStatus = 'running' | 'completed' | 'failed' | 'cancelled';

/** Work on many deliveries of one endpoint. Written by its workflow's activity, page after page, under the row's lock. */
export const webhookJobs = pgTable(
  'webhook_jobs',
  {
    id: id(),
    accountId: accountId(),
    endpointId: uuid().notNull(),
    kind: text().$type<WebhookJobKind>().notNull(),
    /** Deliveries of events made in [since, until); null: no bound. */
    since: instant(),
    until: instant().notNull(),
    status: text().$type<WebhookJobStatus>().notNull().default('running'),
    reason: text(),
    /** Found so far; `total` when all are. */
    counted: integer().notNull().default(0),
    total: integer(),
    /** Put into the queue again, or cancelled, so far. */
    processed: integer().notNull().default(0),
    /** What became of them, once the job has ended. */
    delivered: integer(),
    undelivered: integer(),
    /** Key of the last row that was looked at. */
    position: jsonb().$type<Record<string, string>>(),
    progressedAt: tick(),
    finishedAt: instant(),
    txId: writtenBy(),
    ...stamps(),
  },
  (t) => [
    index('webhook_jobs_account').on(t.accountId, t.id),
    index('webhook_jobs_finished').on(t.finishedAt).where(sql`finished_at is not null`),
    uniqueIndex('webhook_jobs_running').on(t.endpointId).where(sql`status = 'running'`),
  ],
);

export type WebhookEndpointRow = typeof webhookEndpoints.$inferSelect;
export type WebhookSecretRow = typeof webhookSecrets.$inferSelect;
export type WebhookDeliveryRow = typeof webhookDeliveries.$inferSelect;
export type WebhookAttemptRow = typeof webhookAttempts.$inferSelect;
export type WebhookJobRow = typeof webhookJobs.$inferSelect;
