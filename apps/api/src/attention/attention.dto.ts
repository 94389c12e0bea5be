import { z } from 'zod';
import { text } from '../kernel/fields.dto.js';
import { cursorQuery } from '../kernel/lists.dto.js';

export const attentionQuery = cursorQuery({
  status: z.enum(['open', 'resolved']).optional().describe('Default: both'),
  type: text(100).optional(),
});
export type AttentionQuery = z.infer<typeof attentionQuery>;

export const resolveAttentionBody = z.strictObject({ resolution: text(2000).nullable().optional().describe('What was done, for those who read it later') });
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
  opened_at: z.iso.datetime(),
  resolved_at: z.iso.datetime().nullable(),
  resolved_by: z.string().nullable(),
  resolution: z.string().nullable(),
}).meta({ id: 'AttentionItem' });
