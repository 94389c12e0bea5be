import { z } from 'zod';
import { idText, instant } from '../kernel/fields.dto.js';
import { cursorQuery } from '../kernel/lists.dto.js';

const status = z.enum(['pending', 'delivered', 'exhausted', 'cancelled']);

export const listWebhookDeliveriesQuery = cursorQuery({
  endpoint_id: idText.optional(),
  event_id: idText.optional(),
  status: status.optional(),
  since: instant.optional().describe('Made at or after'),
  until: instant.optional().describe('Made before'),
});
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

export const deliveryAttemptShape = z.object({
  id: z.string(),
  object: z.literal('delivery_attempt'),
  delivery_id: z.string(),
  endpoint_id: z.string(),
  event_id: z.string(),
  number: z.int(),
  manual: z.boolean(),
  url: z.string(),
  attempt_time: time,
  duration_ms: z.int(),
  response_code: z.int().nullable().describe('Null where no whole answer came'),
  response_text: z.string().nullable().describe('The first 4 KiB, redacted'),
  error: z.string().nullable(),
}).meta({ id: 'DeliveryAttempt' });

export const attemptsShape = z.object({ data: z.array(deliveryAttemptShape) });

export const deliveryResultShape = z.object({
  attempt_time: time,
  event_id: z.string(),
  response_code: z.int().describe('0 where no whole answer came'),
  response_text: z.string().nullable(),
  webhook_id: z.string(),
}).meta({ id: 'WebhookDeliveryResult' });

export const resentDeliveryShape = webhookDeliveryShape.extend({ result: deliveryResultShape }).meta({ id: 'ResentWebhookDelivery' });
