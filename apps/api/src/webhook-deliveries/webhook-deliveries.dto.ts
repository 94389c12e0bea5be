import { z } from 'zod';
import { idText, instant } from '../kernel/fields.dto.js';
import { cursorQuery } from '../kernel/lists.dto.js';

const status = z.enum(['pending', 'delivered', 'exhausted', 'cancelled']);

const subject = {
  endpoint_id: idText.optional(),
  event_id: idText.optional(),
  event_type: z.string().min(1).max(100).optional().describe('A type or a prefix (`charge.*`)'),
  object_id: idText.optional().describe('Of the events of this object, whatever its kind'),
  customer_id: idText.optional().describe('Of the events of this customer'),
};

export const listWebhookDeliveriesQuery = cursorQuery({
  ...subject,
  status: status.optional(),
  since: instant.optional().describe('Made at or after'),
  until: instant.optional().describe('Made before'),
});

export const listWebhookAttemptsQuery = cursorQuery({
  ...subject,
  delivery_id: idText.optional(),
  outcome: z.enum(['succeeded', 'failed']).optional(),
  response_code: z.coerce.number<string>().int().min(100).max(599).optional(),
  since: instant.optional().describe('Made at or after'),
  until: instant.optional().describe('Made before'),
});
export type ListWebhookAttemptsQuery = z.infer<typeof listWebhookAttemptsQuery>;

export type ListWebhookDeliveriesQuery = z.infer<typeof listWebhookDeliveriesQuery>;

const time = z.iso.datetime();

export const webhookDeliveryShape = z.object({
  id: z.string(),
  object: z.literal('webhook_delivery'),
  account_id: z.string(),
  event_id: z.string(),
  endpoint_id: z.string(),
  status,
  attempts: z.int().describe('Scheduled attempts so far'),
  next_attempt_at: time.nullable(),
  last_response_code: z.int().nullable(),
  last_error: z.string().nullable(),
  finished_at: time.nullable(),
  created_at: time,
  updated_at: time,
}).meta({ id: 'WebhookDelivery' });

const waitingFor = z.enum(['queued', 'endpoint_paused', 'endpoint_failing', 'back_off', 'ordered', 'rate_limit', 'retry_after']).nullable().describe(
  'Why it has not been sent yet: `queued` its turn comes at once; `endpoint_paused` the endpoint is paused; `back_off` it failed and waits for '
  + '`next_attempt_at`; `endpoint_failing` the receiver fails, and what is new waits for the next retry; `ordered` an earlier event of the same object comes first; `rate_limit` the endpoint\'s own rate is used up; `retry_after` the receiver asked for silence until the endpoint\'s `held_until`',
);

export const listedDeliveryShape = webhookDeliveryShape.extend({
  event_type: z.string(),
  object_id: z.string().describe('The object that the event is about'),
  url: z.string().describe('Of the endpoint now; each attempt names its own'),
  waiting_for: waitingFor,
  attempts_left: z.int().describe('Scheduled attempts that it still has'),
  job_id: z.string().nullable().describe('The job that put it into the queue again'),
}).meta({ id: 'ListedWebhookDelivery' });

const headersShape = z.record(z.string(), z.string()).nullable();
const milliseconds = z.number().nullable();

export const deliveryAttemptShape = z.object({
  id: z.string(),
  object: z.literal('delivery_attempt'),
  delivery_id: z.string(),
  endpoint_id: z.string(),
  event_id: z.string(),
  event_type: z.string(),
  number: z.int(),
  manual: z.boolean().describe('Asked for by a person, beside the schedule'),
  url: z.string(),
  attempt_time: time,
  duration_ms: z.int(),
  timings: z.object({
    resolve_ms: milliseconds, connect_ms: milliseconds, tls_ms: milliseconds,
    first_byte_ms: milliseconds.describe('From the request to the head of the answer'),
    total_ms: z.int(),
  }).describe('Null: the phase did not happen, because an open connection was used or it did not come so far'),
  resolved_address: z.string().nullable().describe('Address and port that were called'),
  request_headers: headersShape.describe('As sent; signatures shortened, values that you chose masked'),
  succeeded: z.boolean(),
  response_code: z.int().nullable().describe('Null where no whole answer came'),
  response_headers: headersShape.describe('Those that explain an outcome'),
  response_text: z.string().nullable().describe('The first 4 KiB, redacted'),
  error: z.string().nullable().describe('Why there is no whole answer'),
  error_detail: z.string().nullable().describe('Why it did not succeed, in words'),
}).meta({ id: 'DeliveryAttempt' });

export const attemptsShape = z.object({ data: z.array(deliveryAttemptShape) });

export const deliveryResultShape = z.object({
  attempt_time: time,
  event_id: z.string(),
  response_code: z.int().describe('0 where no whole answer came'),
  response_text: z.string().nullable(),
  webhook_id: z.string(),
}).meta({ id: 'WebhookDeliveryResult' });

export const resentDeliveryShape = listedDeliveryShape.extend({ result: deliveryResultShape }).meta({ id: 'ResentWebhookDelivery' });
