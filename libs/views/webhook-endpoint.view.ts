import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';

export type EndpointStatus = 'enabled' | 'paused' | 'disabled';

export interface WebhookEndpointFields {
  id: string;
  accountId: string;
  url: string;
  description: string | null;
  metadata: Record<string, unknown> | null;
  enabledEvents: string[];
  status: EndpointStatus;
  statusReason: string | null;
  dataFormat: 'object' | 'string';
  deletedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** What a GET answers and an event stores: never a secret. */
export function webhookEndpointView(row: WebhookEndpointFields, environment: Environment) {
  return {
    id: publicId('webhook_endpoint', environment, row.id),
    object: 'webhook_endpoint',
    account_id: publicId('acct', environment, row.accountId),
    url: row.url,
    description: row.description,
    metadata: row.metadata,
    enabled_events: row.enabledEvents,
    status: row.status,
    status_reason: row.statusReason,
    data_format: row.dataFormat,
    is_deleted: row.deletedAt !== null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export type WebhookEndpointView = ReturnType<typeof webhookEndpointView>;

export interface LiveSecret {
  secret: string;
  expiresAt: Date | null;
}

/** The endpoint with its live secrets, newest first; only for ADMIN. */
export function revealedEndpointView(row: WebhookEndpointFields, secrets: readonly LiveSecret[], environment: Environment) {
  return {
    ...webhookEndpointView(row, environment),
    secret: secrets[0]?.secret ?? null,
    secrets: secrets.map(({ secret, expiresAt }) => ({ secret, expires_at: expiresAt?.toISOString() ?? null })),
  };
}
