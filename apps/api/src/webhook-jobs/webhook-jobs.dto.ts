import { z } from 'zod';
import { idText, instant } from '../kernel/fields.dto.js';
import { cursorQuery } from '../kernel/lists.dto.js';

const until = instant.nullable().optional().describe('Made before; absent: up to now');

export const recoverBody = z.strictObject({
  since: instant.describe('Events made at or after; at most 90 days ago'),
  until,
});
export type RecoverBody = z.infer<typeof recoverBody>;

export const resendFailedBody = z.strictObject({
  since: instant.nullable().optional().describe('Deliveries made at or after; absent: all that are kept'),
  until,
});
export type ResendFailedBody = z.infer<typeof resendFailedBody>;

const kind = z.enum(['recover', 'resend_failed', 'cancel_pending']);
const status = z.enum(['running', 'completed', 'failed', 'cancelled']);

export const listWebhookJobsQuery = cursorQuery({ endpoint_id: idText.optional(), kind: kind.optional(), status: status.optional() });
export type ListWebhookJobsQuery = z.infer<typeof listWebhookJobsQuery>;

const time = z.iso.datetime();

export const webhookJobShape = z.object({
  id: z.string(),
  object: z.literal('webhook_job'),
  account_id: z.string(),
  endpoint_id: z.string(),
  kind,
  status,
  reason: z.string().nullable().describe('Why it ended early: `endpoint_disabled`, `endpoint_deleted`, `requested`'),
  since: time.nullable(),
  until: time,
  counted: z.int().describe('Deliveries found so far'),
  total: z.int().nullable().describe('Null until all are counted'),
  processed: z.int().describe('Put into the queue again, or cancelled, so far'),
  delivered: z.int().nullable().describe('Of those, arrived; null where the job cancels'),
  undelivered: z.int().nullable().describe('Of those, failed at least once and not arrived since'),
  finished_at: time.nullable(),
  created_at: time,
  updated_at: time,
}).meta({ id: 'WebhookJob' });
