import { z } from 'zod';
import { attentionActions } from '../../../../libs/domain/attention/attention.actions.js';
import { text } from '../kernel/fields.dto.js';
import { cursorQuery } from '../kernel/lists.dto.js';

export const attentionQuery = cursorQuery({
  status: z.enum(['open', 'resolved']).optional().describe('Default: both'),
  type: text(100).optional(),
});
export type AttentionQuery = z.infer<typeof attentionQuery>;

export const resolveAttentionBody = z.strictObject({
  resolution: text(2000).nullable().optional().describe('What was done or found out, for those who read it later'),
  action: z.enum(attentionActions).nullable().optional()
    .describe('What this service shall do; the item\'s `actions` name those that are possible. `mark_failed` says that no money was taken: if that is wrong the customer is charged twice'),
  processor_payment_id: text(255).min(1).nullable().optional().describe('For `mark_succeeded`: the processor\'s own id of the payment'),
  confirm: z.boolean().optional().describe('For `mark_failed`: true says that the risk of a second charge is understood'),
});
export type ResolveAttentionBody = z.infer<typeof resolveAttentionBody>;

export const attentionShape = z.object({
  id: z.string(),
  object: z.literal('attention_item'),
  type: z.string(),
  status: z.enum(['open', 'resolved']),
  object_id: z.string(),
  reason: z.string(),
  details: z.record(z.string(), z.unknown()).nullable(),
  actions: z.array(z.string()),
  age_seconds: z.int().describe('Since it was opened; until it was resolved'),
  opened_at: z.iso.datetime(),
  resolved_at: z.iso.datetime().nullable(),
  resolved_by: z.string().nullable(),
  resolution: z.string().nullable(),
}).meta({ id: 'AttentionItem' });
