import type { Environment } from '../domain/environment.js';
import type { EventObjectFilter } from '../domain/event/event-filter.js';
import { maskedHeaders } from '../domain/webhook/header-rules.js';
import { publicId } from './ids.js';

export type EndpointStatus = 'enabled' | 'paused' | 'disabled';

export interface WebhookEndpointFields {
  id: string;
  accountId: string;
  url: string;
  description: string | null;
  metadata: Record<string, unknown> | null;
  enabledEvents: string[];
  filter: EventObjectFilter | null;
  status: EndpointStatus;
  statusReason: string | null;
  dataFormat: 'object' | 'string';
  ordered: boolean;
  ratePerSecond: number | null;
  maxInFlight: number | null;
  /** Sealed values by name. */
  headers: Record<string, string> | null;
  failingSince: Date | null;
  failingToldAt: Date | null;
  heldUntil: Date | null;
  deletedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** What a GET answers and an event stores: never a secret, nor the value of a header. */
export function webhookEndpointView(row: WebhookEndpointFields, environment: Environment) {
  return {
    id: publicId('webhook_endpoint', environment, row.id),
    object: 'webhook_endpoint',
    account_id: publicId('acct', environment, row.accountId),
    url: row.url,
    description: row.description,
    metadata: row.metadata,
    enabled_events: row.enabledEvents,
    filter: row.filter,
    status: row.status,
    status_reason: row.statusReason,
    is_failing: row.failingToldAt !== null,
    failing_since: row.failingSince?.toISOString() ?? null,
    held_until: row.heldUntil?.toISOString() ?? null,
    data_format: row.dataFormat,
    ordered: row.ordered,
    rate_per_second: row.ratePerSecond,
    max_in_flight: row.maxInFlight,
    headers: maskedHeaders(row.headers),
    is_deleted: row.deletedAt !== null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export type WebhookEndpointView = ReturnType<typeof webhookEndpointView>;

export interface LiveSecret {
  id: string;
  secret: string;
  createdAt: Date;
  expiresAt: Date | null;
}

/** The endpoint with its live secrets, newest first; only for ADMIN. */
export function revealedEndpointView(row: WebhookEndpointFields, secrets: readonly LiveSecret[], environment: Environment) {
  return {
    ...webhookEndpointView(row, environment),
    secret: secrets[0]?.secret ?? null,
    secrets: secrets.map(({ id, secret, createdAt, expiresAt }) => ({
      id: publicId('whs', environment, id), secret, created_at: createdAt.toISOString(), expires_at: expiresAt?.toISOString() ?? null,
    })),
  };
}
