import { z } from 'zod';
import { refundReasons, refundStatuses } from '../../../../libs/domain/payment/payment-status.js';
import { currency, idText, text } from '../kernel/fields.dto.js';
import { cursorQuery, integerFilter, listBody } from '../kernel/lists.dto.js';

const reasons = z.enum(refundReasons);
const statuses = z.enum(refundStatuses);

export const createRefundBody = z.strictObject({
  charge_id: idText.nullable().optional().describe('This or `payment_intent_id`'),
  payment_intent_id: idText.nullable().optional(),
  amount_atom: z.int().min(1).nullable().optional().describe('Default: all that is left'),
  currency: currency.nullable().optional().describe('Must be the charge\'s'),
  description: text(500).nullable().optional(),
  reason: reasons.nullable().optional(),
  refunded_out_of_band: z.boolean().default(false).describe('The money went back by another way: no processor is called'),
});
export type CreateRefundBody = z.infer<typeof createRefundBody>;

export const listRefundsBody = listBody(['created_at', 'updated_at', 'amount_atom'], {
  amount_atom: integerFilter.nullable().optional(),
  charge_id: idText.nullable().optional(),
  customer_id: idText.nullable().optional(),
  payment_intent_id: idText.nullable().optional(),
  reason: reasons.nullable().optional(),
  status: statuses.nullable().optional(),
});
export type ListRefundsBody = z.infer<typeof listRefundsBody>;

export const refundsQuery = cursorQuery({ charge_id: idText.optional(), payment_intent_id: idText.optional(), status: statuses.optional() });
export type RefundsQuery = z.infer<typeof refundsQuery>;

const nullableText = z.string().nullable();
const time = z.iso.datetime();

export const refundShape = z
  .object({
    id: z.string(),
    object: z.literal('refund'),
    account_id: z.string(),
    charge_id: z.string(),
    payment_intent_id: z.string(),
    invoice_id: z.string().describe('Empty where the payment has no invoice'),
    customer_id: nullableText,
    amount_atom: z.int(),
    currency,
    reason: reasons,
    description: nullableText,
    status: statuses,
    refunded_out_of_band: z.boolean(),
    attempt_error_message: nullableText,
    processor_refund_id: nullableText,
    is_deleted: z.boolean(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'Refund' });
