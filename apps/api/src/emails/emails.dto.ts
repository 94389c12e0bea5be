import { z } from 'zod';
import { emailKinds } from '../../../../libs/domain/email/email.js';
import { idText } from '../kernel/fields.dto.js';
import { cursorQuery } from '../kernel/lists.dto.js';

export const emailStatuses = ['pending', 'sent', 'failed', 'not_sent'] as const;
const kind = z.enum(emailKinds);
const time = z.iso.datetime();

export const emailsQuery = cursorQuery({ customer_id: idText.optional(), status: z.enum(emailStatuses).optional(), kind: kind.optional() });
export type EmailsQuery = z.infer<typeof emailsQuery>;

export const previewEmailBody = z.strictObject({
  kind,
  invoice_id: idText.nullable().optional().describe('What the mail is about; every kind but `trial_ending` needs it'),
  subscription_id: idText.nullable().optional().describe('Needed for `trial_ending`'),
});
export type PreviewEmailBody = z.infer<typeof previewEmailBody>;

export const resendEmailBody = z.strictObject({});

export const emailShape = z.object({
  id: z.string(),
  object: z.literal('email'),
  account_id: z.string(),
  customer_id: z.string(),
  kind,
  recipient: z.string(),
  invoice_id: z.string().nullable(),
  subscription_id: z.string().nullable(),
  subject: z.string().nullable().describe('Null until it was tried'),
  status: z.enum(emailStatuses),
  reason: z.string().nullable().describe('Why it was not sent, or what the server last answered'),
  attempts: z.int(),
  next_attempt_at: time.nullable(),
  message_id: z.string().nullable(),
  sent_at: time.nullable(),
  created_at: time,
  updated_at: time,
}).meta({ id: 'Email' });

export const emailPreviewShape = z.object({
  object: z.literal('email_preview'),
  kind,
  recipient: z.string(),
  subject: z.string(),
  html: z.string(),
  text: z.string(),
  would_send: z.boolean(),
  reason: z.string().nullable().describe('Why it would not be sent'),
}).meta({ id: 'EmailPreview' });
