import { z } from 'zod';
import { disputeStatuses } from '../../../../libs/domain/payment/told.rules.js';
import { currency, freeFields, idText, text } from '../kernel/fields.dto.js';
import { cursorQuery, listBody } from '../kernel/lists.dto.js';

const statuses = z.enum(disputeStatuses);

export const createDisputeBody = z.strictObject({
  payment_intent_id: idText.nullable().optional().describe('This or `their_payment_intent_id`'),
  their_payment_intent_id: text(255).nullable().optional().describe('The payment\'s id at its processor'),
  their_dispute_id: text(255).nullable().optional().describe('The dispute\'s id at the processor, by which its callbacks find it; default: our own id'),
  reason: text(500).nullable().optional(),
  meta: freeFields.nullable().optional(),
});
export type CreateDisputeBody = z.infer<typeof createDisputeBody>;

export const listDisputesBody = listBody(['created_at', 'updated_at'], {
  charge_id: idText.nullable().optional(),
  customer_id: idText.nullable().optional(),
  payment_intent_id: idText.nullable().optional(),
  status: statuses.nullable().optional(),
});
export type ListDisputesBody = z.infer<typeof listDisputesBody>;

export const disputesQuery = cursorQuery({ charge_id: idText.optional(), payment_intent_id: idText.optional(), status: statuses.optional() });
export type DisputesQuery = z.infer<typeof disputesQuery>;

const nullableText = z.string().nullable();
const time = z.iso.datetime();

export const disputeShape = z
  .object({
    id: z.string(),
    object: z.literal('dispute'),
    account_id: z.string(),
    payment_intent_id: z.string(),
    charge_id: z.string(),
    customer_id: nullableText,
    status: statuses,
    reason: nullableText,
    amount_atom: z.int().nullable().describe('Null where it was not told'),
    currency,
    their_dispute_id: z.string(),
    their_payment_intent_id: z.string().describe('Empty where the processor\'s id of the payment is not known'),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    is_deleted: z.boolean(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Dispute' });
