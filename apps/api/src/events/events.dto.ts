import { z } from 'zod';
import { idText, instant } from '../kernel/fields.dto.js';
import { cursorQuery, listBody } from '../kernel/lists.dto.js';
import { deliveryResultShape } from '../webhook-deliveries/webhook-deliveries.dto.js';

const types = z.array(z.string().min(1).max(100)).max(200).nullable().optional().describe('Types or prefixes (`charge.*`); `all` and `*` mean every type');

export const listEventsBody = listBody(['created_at', 'updated_at'], {
  types,
  delivery_success: z.boolean().nullable().optional().describe('true: every delivery arrived; false: at least one did not'),
});
export type ListEventsBody = z.infer<typeof listEventsBody>;

export const searchEventsBody = listBody(['created_at', 'updated_at'], {
  object_id: idText.describe('Events of this object, whatever its kind'),
  types,
  limit: z.int().min(1).max(100).optional().describe('At most this many'),
});
export type SearchEventsBody = z.infer<typeof searchEventsBody>;

const typeText = z.string().min(1).max(2_000).describe('Types or prefixes (`charge.*`), parted by commas, or given several times; `*` and `all` mean every type');

/** What chooses events in a query; they all hold at once. */
const eventFilters = {
  type: z.union([typeText, z.array(typeText).max(200)]).optional(),
  object_id: idText.optional().describe('Events of this object, whatever its kind'),
  customer_id: idText.optional().describe('Events of this customer and of what belongs to it'),
  since: instant.optional().describe('Created at or after'),
  until: instant.optional().describe('Created before'),
  q: z.string().min(2).max(200).optional().describe('A text anywhere in the event: an id, an e-mail address, an order number, a request id; ASCII letters of either case'),
};

export const listEventsQuery = cursorQuery(eventFilters);
export type ListEventsQuery = z.infer<typeof listEventsQuery>;

const after = z.string().min(1).max(200).optional();

export const exportEventsQuery = z.strictObject({
  ...eventFilters,
  after: after.describe('The `cursor` of an export\'s last line, or an event id: what comes later'),
});
export type ExportEventsQuery = z.infer<typeof exportEventsQuery>;

export const streamEventsQuery = z.strictObject({
  ...eventFilters,
  after: after.describe('An event id, or any `id` of this stream: what comes later. `Last-Event-ID` is stronger. Without either: what commits from now on'),
  heartbeat: z.coerce.number<string>().int().min(1).max(60).default(15).describe('Seconds of silence after which a `heartbeat` is sent'),
});
export type StreamEventsQuery = z.infer<typeof streamEventsQuery>;
export type EventFilters = Pick<StreamEventsQuery, keyof typeof eventFilters>;

export const triggerWebhookBody = z.strictObject({
  event_id: idText,
  selected_webhooks: z.array(idText).min(1).max(100).nullable().optional().describe('Endpoints; absent: every enabled or paused one whose filter matches'),
});
export type TriggerWebhookBody = z.infer<typeof triggerWebhookBody>;

export const triggerResultShape = z.object({
  webhook_delivery_results: z.record(z.string(), deliveryResultShape).describe('By endpoint id'),
}).meta({ id: 'TriggerWebhookResult' });

const time = z.iso.datetime();

export const eventShape = z.object({
  id: z.string(),
  object: z.literal('event'),
  type: z.string(),
  created_at: time,
  updated_at: time,
  account_id: z.string(),
  request_id: z.string().nullable(),
  request_idempotency_key: z.string().nullable(),
  user: z.string().nullable().describe('The token or user that caused it, or `system`'),
  sequence: z.int().describe('Rises by one per object'),
  clock_time: time.nullable().describe('Time of the test clock'),
  pending_webhooks: z.int().describe('Deliveries that are still waiting; in the webhook body those that were made'),
  data_previous: z.record(z.string(), z.unknown()).nullable().describe('Changed keys with their old values; not in the webhook body'),
  data: z.record(z.string(), z.unknown()).describe('The object after the change'),
}).meta({ id: 'Event' });
