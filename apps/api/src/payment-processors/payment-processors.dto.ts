import { z } from 'zod';
import { text } from '../kernel/fields.dto.js';
import { cursorQuery, listBody } from '../kernel/lists.dto.js';

export const processorKindNames = ['simulator', 'stripe', 'http'] as const;

const credentials = z
  .record(z.string().regex(/^(?!previous_)[a-z][a-z0-9_]{0,63}$/, 'Expected lower-case letters, digits and _, not beginning with previous_'), text(8_192).min(1))
  .describe('Encrypted at rest, never returned');
const settings = z.record(z.string().max(64), z.unknown()).describe('By kind; unknown settings are refused');

export const createPaymentProcessorBody = z.strictObject({
  name: text(100).min(1),
  kind: z.enum(processorKindNames),
  credentials: credentials.nullable().optional(),
  settings: settings.nullable().optional(),
  is_enabled: z.boolean().default(true),
});
export type CreatePaymentProcessorBody = z.infer<typeof createPaymentProcessorBody>;

export const updatePaymentProcessorBody = z.strictObject({
  name: text(100).min(1).optional(),
  credentials: credentials.nullable().optional(),
  settings: settings.nullable().optional(),
  is_enabled: z.boolean().optional(),
});
export type UpdatePaymentProcessorBody = z.infer<typeof updatePaymentProcessorBody>;

const longestOverlap = 7 * 86_400;

export const rotateCredentialsBody = z.strictObject({
  credentials: credentials.describe('All of them: what is left out is gone'),
  overlap_seconds: z.int().min(0).max(longestOverlap).default(86_400)
    .describe('How long callbacks signed with the replaced secrets are accepted, 0 to 7 days'),
});
export type RotateCredentialsBody = z.infer<typeof rotateCredentialsBody>;

export const switchProcessorBody = z.strictObject({});

export const connectionCheckShape = z
  .object({
    ok: z.boolean(),
    detail: z.string().describe('What was reached, or why not'),
    duration_ms: z.int(),
  })
  .meta({ id: 'ConnectionCheck' });

export const listPaymentProcessorsBody = listBody(['created_at', 'updated_at', 'name'], {
  kind: z.enum(processorKindNames).nullable().optional(),
  is_enabled: z.boolean().nullable().optional(),
});
export type ListPaymentProcessorsBody = z.infer<typeof listPaymentProcessorsBody>;

export const paymentProcessorsQuery = cursorQuery({
  kind: z.enum(processorKindNames).optional(),
  is_enabled: z.stringbool().optional(),
});
export type PaymentProcessorsQuery = z.infer<typeof paymentProcessorsQuery>;

export const paymentProcessorShape = z
  .object({
    id: z.string(),
    object: z.literal('payment_processor'),
    account_id: z.string(),
    name: z.string(),
    kind: z.enum(processorKindNames),
    processor_name: z.string().describe('The name it goes by in `mappings` and on charges'),
    settings: z.record(z.string(), z.unknown()),
    has_credentials: z.boolean(),
    credentials_overlap_until: z.iso.datetime().nullable().describe('Until when callbacks signed with the secrets before the last rotation are accepted'),
    is_enabled: z.boolean(),
    degraded_at: z.iso.datetime().nullable().describe('Since when it is set aside because its calls fail or take too long'),
    is_deleted: z.boolean(),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  })
  .meta({ id: 'PaymentProcessor' });

export const watchedProcessorShape = paymentProcessorShape
  .extend({
    health: z.object({
      status: z.enum(['ok', 'degraded']).describe('degraded: set aside, but for a few payments that find out whether it works again'),
      since: z.iso.datetime().nullable(),
      error_rate: z.number().nullable().describe('Share of calls of the last five minutes that failed, 0 to 1; an issuer\'s refusal is no failure'),
      samples: z.int(),
    }),
  })
  .meta({ id: 'WatchedPaymentProcessor' });
