import { z } from 'zod';
import { amountAtom, idText, text } from '../kernel/fields.dto.js';
import { billingSettingsBody, billingSettingsShape, dunningPolicyBody, dunningPolicyShape, emailSettingsBody, emailSettingsShape } from './policies.dto.js';

export const updateAccountBody = z.strictObject({
  name: text(200).min(1).optional(),
  operator_refund_limit_atom: amountAtom.nullable().optional().describe('The most an OPERATOR may refund in one call; null: no limit'),
  default_payment_route_id: idText.nullable().optional().describe('Used where a payment names no route'),
  execution: z.enum(['workflow', 'inline']).optional().describe('Who runs the first step of a payment that does not say'),
  dunning_policy: dunningPolicyBody.nullable().optional().describe('Of every subscription without one of its own; runs under way keep theirs. Null: the default'),
  email_settings: emailSettingsBody.nullable().optional().describe('What customers are told by e-mail; null: the defaults'),
  billing_settings: billingSettingsBody.nullable().optional(),
});
export type UpdateAccountBody = z.infer<typeof updateAccountBody>;

export const accountShape = z.object({
  id: z.string(),
  object: z.literal('account'),
  name: z.string(),
  operator_refund_limit_atom: z.int().nullable(),
  default_payment_route_id: z.string().nullable(),
  execution: z.enum(['workflow', 'inline']),
  dunning_policy: dunningPolicyShape,
  email_settings: emailSettingsShape,
  billing_settings: billingSettingsShape,
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
  is_deleted: z.boolean(),
}).meta({ id: 'Account' });
