import { z } from 'zod';
import { maskedHeader, mostHeaders, refuseHeaderName, refuseHeaderValue } from '../../../../libs/domain/webhook/header-rules.js';
import { refuseSecret } from '../../../../libs/webhooks/secret.js';
import { freeFields, idText, text } from '../kernel/fields.dto.js';
import { cursorQuery, listBody } from '../kernel/lists.dto.js';

const enabledEvents = z
  .array(z.string().min(1).max(100))
  .min(1)
  .max(200)
  .describe('Types, prefixes (`charge.*`) or `*` (also spelled `all`); types about people and access only when named');

const scalars = z.record(z.string().min(1).max(64), z.union([z.string().max(500), z.number(), z.boolean()]))
  .refine((fields) => Object.keys(fields).length >= 1 && Object.keys(fields).length <= 10, 'Name 1 to 10 keys');

const filter = z
  .strictObject({
    object_ids: z.array(idText).min(1).max(100).optional().describe('The event is about one of these'),
    metadata: scalars.optional().describe('Top-level keys of the object\'s `metadata`, each with the value that it must have'),
    custom_fields: scalars.optional(),
  })
  .refine((parts) => Object.values(parts).some((part) => part !== undefined), 'Name at least one part, or null')
  .describe('Beside `enabled_events`: each part that is given must hold; objects without such fields are not heard');

const headers = z
  .record(z.string().max(100), z.string().max(4096).nullable())
  .transform((named, context) => {
    const lower = new Map<string, string | null>();
    for (const [given, value] of Object.entries(named)) {
      const name = given.toLowerCase();
      const problem = refuseHeaderName(name) ?? (value === null || value === maskedHeader ? null : refuseHeaderValue(value)) ?? (lower.has(name) ? 'this header is named twice' : null);
      if (problem) context.addIssue({ code: 'custom', path: [given], message: problem, params: { type: 'header_refused' } });
      lower.set(name, value);
    }
    return Object.fromEntries(lower);
  })
  .describe(`Sent with each webhook, at most ${mostHeaders}; kept encrypted and shown as \`${maskedHeader}\`. On an update those that are not named stay and null removes one`);

const fields = {
  url: z.string().min(1).max(2048).describe('HTTPS; plain HTTP to loopback only while the staging environment runs by `npm start`'),
  enabled_events: enabledEvents.nullable().optional(),
  description: text(500).nullable().optional(),
  metadata: freeFields.nullable().optional(),
  data_format: z.enum(['object', 'string']).optional().describe('`string`: the body is an envelope whose `data` is the whole event as a JSON string'),
  filter: filter.nullable().optional(),
  ordered: z.boolean().optional().describe('One object\'s events come strictly in sequence: each waits until the one before it is delivered, exhausted or cancelled'),
  rate_per_second: z.int().min(1).max(1000).nullable().optional().describe('Most posts that begin in a second; a burst is at most a twentieth more'),
  max_in_flight: z.int().min(1).max(10).nullable().optional().describe('Most posts that are open at once; 10 without it'),
  headers: headers.nullable().optional(),
};

const ownSecret = z
  .string()
  .max(200)
  .superRefine((secret, context) => {
    const problem = refuseSecret(secret);
    if (problem) context.addIssue({ code: 'custom', message: problem, params: { type: 'secret_refused' } });
  });

export const createWebhookEndpointBody = z.strictObject({
  ...fields,
  secret: ownSecret.optional().describe('Your own, when an endpoint moves here: `whsec_` and 24 to 64 random bytes in base64; made here without it'),
});
export type CreateWebhookEndpointBody = z.infer<typeof createWebhookEndpointBody>;

export const updateWebhookEndpointBody = z.strictObject(fields).partial();
export type UpdateWebhookEndpointBody = z.infer<typeof updateWebhookEndpointBody>;

export const noBody = z.strictObject({});

export const rotateSecretBody = z.strictObject({
  expire_after_seconds: z.int().min(0).max(7 * 86_400).default(86_400).describe('How long the secrets of now stay live beside the new one'),
  secret: ownSecret.optional().describe('Your own instead of one that is made here'),
});
export type RotateSecretBody = z.infer<typeof rotateSecretBody>;

export const revokeSecretBody = z.strictObject({ secret_id: idText.describe('Of `secrets`: any but the newest') });
export type RevokeSecretBody = z.infer<typeof revokeSecretBody>;

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
  filter: z.object({
    object_ids: z.array(z.string()).optional(),
    metadata: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
    custom_fields: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).optional(),
  }).nullable(),
  status,
  status_reason: z.string().nullable().describe('Why it is paused or disabled: `requested`, `gone` (410), `failing` (for 5 days)'),
  is_failing: z.boolean().describe('Every attempt of the last hour failed; the other endpoints were told by `webhook_endpoint.failing`'),
  failing_since: time.nullable().describe('Since when every attempt fails'),
  held_until: time.nullable().describe('Its receiver answered 429 or 503 with `Retry-After`: nothing is posted by itself before that; resuming, enabling or another `url` ends it'),
  data_format: z.enum(['object', 'string']),
  ordered: z.boolean(),
  rate_per_second: z.int().nullable(),
  max_in_flight: z.int().nullable(),
  headers: z.record(z.string(), z.string()).nullable().describe('Names; their values are never shown'),
  is_deleted: z.boolean(),
  created_at: time,
  updated_at: time,
}).meta({ id: 'WebhookEndpoint' });

export const revealedWebhookEndpointShape = webhookEndpointShape.extend({
  secret: z.string().nullable().describe('The newest signing secret'),
  secrets: z.array(z.object({ id: z.string(), secret: z.string(), created_at: time, expires_at: time.nullable() })).describe('Every secret that signs now, newest first'),
}).meta({ id: 'RevealedWebhookEndpoint' });

export const deletedWebhookEndpointShape = z.object({
  id: z.string(),
  object: z.literal('webhook_endpoint'),
  webhook_endpoint_id: z.string(),
  is_deleted: z.literal(true),
  message: z.string(),
}).meta({ id: 'DeletedWebhookEndpoint' });
