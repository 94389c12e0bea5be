import { z } from 'zod';
import { intentStatuses } from '../../../../libs/domain/payment/payment-status.js';
import { currency, freeFields, idText, text } from '../kernel/fields.dto.js';
import { cursorQuery, integerFilter, listBody, searchFilter } from '../kernel/lists.dto.js';

const amount = z.int().min(1).describe('In the currency\'s smallest unit');
const url = z.url({ protocol: /^https?$/ }).max(2_000);

export const createPaymentIntentBody = z.strictObject({
  amount_atom: amount,
  currency,
  customer_id: idText,
  payment_method_id: idText.nullable().optional(),
  payment_route_id: idText.nullable().optional().describe('Default: the account\'s default route, else its only live one'),
  capture_method: z.enum(['automatic', 'manual']).default('automatic'),
  off_session: z.boolean().default(false).describe('The customer is absent'),
  confirm: z.boolean().default(false).describe('Ask for the money at once and answer with the outcome'),
  return_url: url.nullable().optional().describe('Where the customer comes back to after a challenge'),
  execution: z.enum(['workflow', 'inline']).optional().describe('Who runs the first step; default: the account\'s'),
  description: text(500).nullable().optional(),
  custom_fields: freeFields.nullable().optional(),
  metadata: freeFields.nullable().optional(),
});
export type CreatePaymentIntentBody = z.infer<typeof createPaymentIntentBody>;

export const updatePaymentIntentBody = z.strictObject({
  custom_fields: freeFields.nullable().optional(),
  metadata: freeFields.nullable().optional(),
  description: text(500).nullable().optional(),
});
export type UpdatePaymentIntentBody = z.infer<typeof updatePaymentIntentBody>;

export const confirmPaymentIntentBody = z.strictObject({
  payment_method_id: idText.nullable().optional(),
  return_url: url.nullable().optional(),
});
export type ConfirmPaymentIntentBody = z.infer<typeof confirmPaymentIntentBody>;

export const capturePaymentIntentBody = z.strictObject({ amount_atom: amount.nullable().optional().describe('Default: all; the rest is released') });
export type CapturePaymentIntentBody = z.infer<typeof capturePaymentIntentBody>;

export const cancelPaymentIntentBody = z.strictObject({});

const statuses = z.enum(intentStatuses);

export const listPaymentIntentsBody = listBody(['created_at', 'updated_at', 'amount_atom', 'status'], {
  amount_atom: integerFilter.nullable().optional(),
  customer_id: idText.nullable().optional(),
  invoice_id: idText.nullable().optional(),
  payment_method_id: idText.nullable().optional(),
  search: searchFilter.nullable().optional().describe('Over the reference that processors see'),
  status: statuses.nullable().optional(),
});
export type ListPaymentIntentsBody = z.infer<typeof listPaymentIntentsBody>;

export const paymentIntentsQuery = cursorQuery({ customer_id: idText.optional(), invoice_id: idText.optional(), status: statuses.optional() });
export type PaymentIntentsQuery = z.infer<typeof paymentIntentsQuery>;

/** `?expand=…` is accepted as published; nested objects stay ids. */
export const getQuery = z.strictObject({ expand: z.union([text(100), z.array(text(100)).max(50)]).optional() });

const nullableText = z.string().nullable();
const time = z.iso.datetime();

export const paymentIntentShape = z
  .object({
    id: z.string(),
    object: z.literal('payment_intent'),
    account_id: z.string(),
    amount_atom: z.int(),
    amount_atom_capturable: z.int().nullable(),
    amount_atom_received: z.int().nullable(),
    amount_atom_refunded: z.int(),
    currency,
    status: statuses,
    capture_method: z.enum(['automatic', 'manual']),
    off_session: z.boolean(),
    customer_id: z.string(),
    payment_method_id: nullableText,
    payment_route_id: nullableText,
    invoice: z.null(),
    invoice_id: nullableText,
    invoice_payment_provider_type_fee: z.int().nullable(),
    subscription_id: nullableText,
    payment_link_id: nullableText,
    charge_ids: z.array(z.string()),
    refund_ids: z.array(z.string()),
    last_refund_date: time.nullable(),
    decline_code: nullableText.describe('Normalised code of the last refusal'),
    decline_reason: nullableText,
    payment_processor_name: nullableText,
    processor_payment_intent_id: nullableText,
    next_action: z.object({ type: z.literal('redirect'), redirect_url: z.string() }).nullable(),
    return_url: nullableText,
    description: nullableText,
    execution: z.enum(['workflow', 'inline']),
    charging_stopped: z.object({ since: z.iso.datetime(), charge_stop_ids: z.array(z.string()) }).nullable()
      .describe('New charges are stopped: the payment goes on by itself when the stops are lifted'),
    custom_fields: z.record(z.string(), z.unknown()).nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    canceled_at: time.nullable(),
    is_deleted: z.boolean(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'PaymentIntent' });

export const paymentDecisionShape = z
  .object({
    charge_id: nullableText.describe('Null where no attempt could begin'),
    attempt_number: z.int().nullable(),
    processor_id: nullableText,
    processor_name: nullableText,
    outcome_class: nullableText,
    decline_code: nullableText,
    route_id: nullableText,
    route_version: z.int().nullable(),
    rule: nullableText.describe('Null: the route\'s default'),
    strategy: nullableText,
    candidates: z.array(z.string()),
    order: z.array(z.string()),
    skipped: z.array(z.object({ processor_id: z.string(), reason: z.string() })),
    reason: z.string().describe('In plain words'),
  })
  .meta({ id: 'PaymentDecision' });
