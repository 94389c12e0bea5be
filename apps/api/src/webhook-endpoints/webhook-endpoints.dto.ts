import { z } from 'zod';
import { freeFields, text } from '../kernel/fields.dto.js';
import { cursorQuery, listBody } from '../kernel/lists.dto.js';

const enabledEvents = z
  .array(z.string().min(1).max(100))
  .min(1)
  .max(200)
  .describe('Types, prefixes (`charge.*`) or `*` (also spelled `all`); types about people and access only when named');

const fields = {
  url: z.string().min(1).max(2048).describe('HTTPS; plain HTTP to loopback only while the staging environment runs by `npm start`'),
  enabled_events: enabledEvents.nullable().optional(),
  description: text(500).nullable().optional(),
  metadata: freeFields.nullable().optional(),
  data_format: z.enum(['object', 'string']).optional().describe('`string`: the body is an envelope whose `data` is the whole event as a JSON string'),
};

export const createWebhookEndpointBody = z.strictObject(fields);
export type CreateWebhookEndpointBody = z.infer<typeof createWebhookEndpointBody>;

export const updateWebhookEndpointBody = z.strictObject(fields).partial();
export type UpdateWebhookEndpointBody = z.infer<typeof updateWebhookEndpointBody>;

export const noBody = z.strictObject({});

export const rotateSecretBody = z.strictObject({
  expire_after_seconds: z.int().min(0).max(7 * 86_400).default(86_400).describe('How long the secrets of now stay live beside the new one'),
});
export type RotateSecretBody = z.infer<typeof rotateSecretBody>;

const status = z.enum(['enabled', 'paused', 'disabled']);

export const listWebhookEndpointsBody = listBody(['created_at', 'updated_at'], { status: status.nullable().optional() });
export type ListWebhookEndpointsBody = z.infer<typeof listWebhookEndpointsBody>;

export const listWebhookEndpointsQuery = cursorQuery({ status: status.optional() });
export type ListWebhookEndpointsQuery = z.infer<typeof listWebhookEndpointsQuery>;

const time = z.iso.datetime();

export const webhookEndpointShape = z.object({
  id: z.string(),
  object: z.literal('webhook_endpoint'),
  account_id: z.string(),
  url: z.string(),
  description: z.string().nullable(),
  metadata: z.record(z.string(), z.unknown()).nullable(),
  enabled_events: z.array(z.string()),
  status,
  status_reason: z.string().nullable().describe('Why it is paused or disabled: `requested`, `gone` (410), `failing` (for 5 days)'),
  data_format: z.enum(['object', 'string']),
  is_deleted: z.boolean(),
  created_at: time,
  updated_at: time,
}).meta({ id: 'WebhookEndpoint' });

export const revealedWebhookEndpointShape = webhookEndpointShape.extend({
  secret: z.string().nullable().describe('The newest signing secret'),
  secrets: z.array(z.object({ secret: z.string(), expires_at: time.nullable() })).describe('Every secret that signs now, newest first'),
}).meta({ id: 'RevealedWebhookEndpoint' });

export const deletedWebhookEndpointShape = z.object({
  id: z.string(),
  object: z.literal('webhook_endpoint'),
  webhook_endpoint_id: z.string(),
  is_deleted: z.literal(true),
  message: z.string(),
}).meta({ id: 'DeletedWebhookEndpoint' });
