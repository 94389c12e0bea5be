import { z } from 'zod';
import { amountAtom, idText, text } from '../kernel/fields.dto.js';

export const updateAccountBody = z.strictObject({
  name: text(200).min(1).optional(),
  operator_refund_limit_atom: amountAtom.nullable().optional().describe('The most an OPERATOR may refund in one call; null: no limit'),
  default_payment_route_id: idText.nullable().optional().describe('Used where a payment names no route'),
  execution: z.enum(['workflow', 'inline']).optional().describe('Who runs the first step of a payment that does not say'),
});
export type UpdateAccountBody = z.infer<typeof updateAccountBody>;

export const accountShape = z.object({
  id: z.string(),
  object: z.literal('account'),
  name: z.string(),
  operator_refund_limit_atom: z.int().nullable(),
  default_payment_route_id: z.string().nullable(),
  execution: z.enum(['workflow', 'inline']),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  is_deleted: z.boolean(),
}).meta({ id: 'Account' });
