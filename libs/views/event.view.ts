import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';

export interface EventFields {
  id: string;
  head: string;
  data: string;
  dataPrevious: Record<string, unknown> | null;
}

/** An event as `GET` shows it: the sent keys, `pending_webhooks` as of now, the old values, and `data` last. */
export function eventView(row: EventFields, pendingWebhooks: number) {
  return {
    ...(JSON.parse(row.head) as EventHead),
    pending_webhooks: pendingWebhooks,
    data_previous: row.dataPrevious,
    data: JSON.parse(row.data) as Record<string, unknown>,
  };
}

export interface EventHead {
  id: string;
  object: 'event';
  type: string;
  created_at: string;
  updated_at: string;
  account_id: string;
  request_id: string | null;
  request_idempotency_key: string | null;
  user: string | null;
  sequence: number;
  clock_time: string | null;
  pending_webhooks: number;
}

export interface DeliveryResultFields {
  eventId: string;
  endpointId: string;
  startedAt: Date;
  responseStatus: number | null;
  responseText: string | null;
  error: string | null;
}

/** The result of one manual delivery; `response_code` is 0 where no answer came, and `response_text` then says why. */
export function deliveryResultView(result: DeliveryResultFields, environment: Environment) {
  return {
    attempt_time: result.startedAt.toISOString(),
    event_id: publicId('event', environment, result.eventId),
    response_code: result.responseStatus ?? 0,
    response_text: result.responseText ?? result.error,
    webhook_id: publicId('webhook_endpoint', environment, result.endpointId),
  };
}
