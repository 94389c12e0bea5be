import { sql } from 'drizzle-orm';
import { boolean, index, integer, jsonb, pgTable, text, unique, uuid } from 'drizzle-orm/pg-core';
import type { EventObjectFilter } from '../../domain/event/event-filter.js';
import { accountId, id, instant, object, stamps, tick } from './columns.js';

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
    finishedAt: instant(),
    createdAt: instant().notNull(),
    updatedAt: instant().notNull(),
  },
  (t) => [
    unique('webhook_deliveries_pair').on(t.eventId, t.endpointId),
    index('webhook_deliveries_due').on(t.endpointId, t.nextAttemptAt, t.id).where(sql`status = 'pending'`),
    index('webhook_deliveries_object').on(t.endpointId, t.objectId, t.sequence).where(sql`status = 'pending'`),
    index('webhook_deliveries_account').on(t.accountId, t.createdAt, t.id),
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
    timings: jsonb().$type<Record<string, number>>(),
    address: text(),
    requestHeaders: jsonb().$type<Record<string, string>>(),
    responseStatus: integer(),
    responseText: text(),
    error: text(),
  },
  (t) => [index('webhook_attempts_delivery').on(t.deliveryId, t.number)],
);

export type WebhookEndpointRow = typeof webhookEndpoints.$inferSelect;
export type WebhookSecretRow = typeof webhookSecrets.$inferSelect;
export type WebhookDeliveryRow = typeof webhookDeliveries.$inferSelect;
export type WebhookAttemptRow = typeof webhookAttempts.$inferSelect;
