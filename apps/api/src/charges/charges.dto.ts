import { z } from 'zod';
import { chargeStatuses } from '../../../../libs/domain/payment/payment-status.js';
import { currency, freeFields, idText, text } from '../kernel/fields.dto.js';
import { cursorQuery, listBody } from '../kernel/lists.dto.js';

const statuses = z.enum(chargeStatuses);

export const updateChargeBody = z.strictObject({ custom_fields: freeFields.nullable().optional() });
export type UpdateChargeBody = z.infer<typeof updateChargeBody>;

export const listChargesBody = listBody(['created_at', 'updated_at', 'amount_atom'], {
  customer_id: idText.nullable().optional(),
  invoice_id: idText.nullable().optional(),
  payment_intent_id: idText.nullable().optional(),
  payment_method_id: idText.nullable().optional(),
  refunded: z.boolean().nullable().optional().describe('Whether all of it was refunded'),
  status: statuses.nullable().optional(),
});
export type ListChargesBody = z.infer<typeof listChargesBody>;

export const chargesQuery = cursorQuery({ customer_id: idText.optional(), payment_intent_id: idText.optional(), status: statuses.optional() });
export type ChargesQuery = z.infer<typeof chargesQuery>;

export const getQuery = z.strictObject({ expand: z.union([text(100), z.array(text(100)).max(50)]).optional() });

const nullableText = z.string().nullable();
const time = z.iso.datetime();

export const chargeShape = z
  .object({
    id: z.string(),
    object: z.literal('charge'),
    account_id: z.string(),
    amount_atom: z.int(),
    total_charge_amount_atom: z.int(),
    provider_type_fee_amount_atom: z.int(),
    amount_atom_authorized: z.int(),
    amount_atom_captured: z.int(),
    currency,
    status: statuses,
    outcome_class: nullableText.describe('What the processor\'s answer meant; null while the call runs'),
    attempt_number: z.int(),
    payment_intent_id: z.string(),
    payment_intent_mapping_id: z.null(),
    customer_id: z.string(),
    invoice_id: nullableText,
    subscription_ids: z.array(z.string()),
    payment_method_id: z.string(),
    payment_processor_id: nullableText,
    payment_processor_name: nullableText,
    processor_payment_id: nullableText,
    processor_metadata: z.record(z.string(), z.unknown()).nullable(),
    processor_code: nullableText,
    processor_message: nullableText,
    retry_advice: nullableText.describe('What the card scheme says about trying again: never, later or nothing'),
    network_advice_code: nullableText.describe('The card scheme\'s own code behind retry_advice'),
    failure_code: nullableText.describe('Normalised decline code'),
    failure_message: nullableText,
    disputed: z.boolean(),
    refunded: z.boolean(),
    refunded_amount_atom: z.int(),
    voided_at: time.nullable(),
    is_late: z.boolean().describe('A success told after the payment was settled otherwise; it is given back'),
    custom_fields: z.record(z.string(), z.unknown()).nullable(),
    is_deleted: z.boolean(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Charge' });
