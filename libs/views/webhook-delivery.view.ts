import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';

export interface WebhookDeliveryFields {
  id: string;
  accountId: string;
  eventId: string;
  endpointId: string;
  status: 'pending' | 'delivered' | 'exhausted' | 'cancelled';
  nextAttemptAt: Date | null;
  attempts: number;
  lastStatus: number | null;
  lastError: string | null;
  finishedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

export function webhookDeliveryView(row: WebhookDeliveryFields, environment: Environment) {
  return {
    id: publicId('whd', environment, row.id),
    object: 'webhook_delivery',
    account_id: publicId('acct', environment, row.accountId),
    event_id: publicId('event', environment, row.eventId),
    endpoint_id: publicId('webhook_endpoint', environment, row.endpointId),
    status: row.status,
    attempts: row.attempts,
    next_attempt_at: row.status === 'pending' ? (row.nextAttemptAt?.toISOString() ?? null) : null,
    last_response_code: row.lastStatus,
    last_error: row.lastError,
    finished_at: row.finishedAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export interface WebhookAttemptFields {
  id: string;
  deliveryId: string;
  endpointId: string;
  eventId: string;
  number: number;
  manual: boolean;
  url: string;
  startedAt: Date;
  durationMs: number;
  responseStatus: number | null;
  responseText: string | null;
  error: string | null;
}

export function webhookAttemptView(row: WebhookAttemptFields, environment: Environment) {
  return {
    id: publicId('wha', environment, row.id),
    object: 'delivery_attempt',
    delivery_id: publicId('whd', environment, row.deliveryId),
    endpoint_id: publicId('webhook_endpoint', environment, row.endpointId),
    event_id: publicId('event', environment, row.eventId),
    number: row.number,
    manual: row.manual,
    url: row.url,
    attempt_time: row.startedAt.toISOString(),
    duration_ms: row.durationMs,
    response_code: row.responseStatus,
    response_text: row.responseText,
    error: row.error,
  };
}
