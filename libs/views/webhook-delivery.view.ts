import type { Environment } from '../domain/environment.js';
import { publicId, type IdKind } from './ids.js';

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

export interface ListedDeliveryFields {
  delivery: WebhookDeliveryFields & { jobId: string | null };
  event: { type: string; kind: string; objectId: string };
  endpoint: { url: string };
  waitingFor: string | null;
  attemptsLeft: number;
}

/** A delivery with its subject, and why it waits. */
export function listedDeliveryView({ delivery, event, endpoint, waitingFor, attemptsLeft }: ListedDeliveryFields, environment: Environment) {
  return {
    ...webhookDeliveryView(delivery, environment),
    event_type: event.type,
    object_id: publicId(event.kind as IdKind, environment, event.objectId),
    url: endpoint.url,
    waiting_for: waitingFor,
    attempts_left: attemptsLeft,
    job_id: delivery.jobId && publicId('job', environment, delivery.jobId),
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
  timings: Record<string, number> | null;
  address: string | null;
  requestHeaders: Record<string, string> | null;
  responseHeaders: Record<string, string> | null;
  responseStatus: number | null;
  responseText: string | null;
  error: string | null;
  detail: string | null;
}

export function webhookAttemptView(row: WebhookAttemptFields, eventType: string, environment: Environment) {
  return {
    id: publicId('wha', environment, row.id),
    object: 'delivery_attempt',
    delivery_id: publicId('whd', environment, row.deliveryId),
    endpoint_id: publicId('webhook_endpoint', environment, row.endpointId),
    event_id: publicId('event', environment, row.eventId),
    event_type: eventType,
    number: row.number,
    manual: row.manual,
    url: row.url,
    attempt_time: row.startedAt.toISOString(),
    duration_ms: row.durationMs,
    timings: {
      resolve_ms: row.timings?.resolve ?? null,
      connect_ms: row.timings?.connect ?? null,
      tls_ms: row.timings?.tls ?? null,
      first_byte_ms: row.timings?.first_byte ?? null,
      total_ms: row.durationMs,
    },
    resolved_address: row.address,
    request_headers: row.requestHeaders,
    succeeded: row.responseStatus !== null && row.responseStatus >= 200 && row.responseStatus < 300,
    response_code: row.responseStatus,
    response_headers: row.responseHeaders,
    response_text: row.responseText,
    error: row.error,
    error_detail: row.detail,
  };
}
