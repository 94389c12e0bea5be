import { z } from 'zod';
import { amountAtom, country, currency, freeFields, idText, text } from '../kernel/fields.dto.js';
import { cursorQuery, listBody } from '../kernel/lists.dto.js';

const line = text(200).nullable().default(null);
const address = z.strictObject({
  line1: line, line2: line, line3: line, city: line, state: line, zip_code: text(20).nullable().default(null), country: country.nullable().default(null),
});

const card = z.strictObject({
  number: text(32).min(1).describe('A test card of the simulator; no other number is accepted'),
  exp_month: z.int().min(1).max(12),
  exp_year: z.int().min(2000).max(2100),
  cvc: z.string().regex(/^\d{3,4}$/, 'Expected 3 or 4 digits'),
});

const about = {
  display_name: text(100).min(1).nullable().optional(),
  billing_address: address.nullable().optional(),
  custom_fields: freeFields.nullable().optional(),
  metadata: freeFields.nullable().optional(),
};

export const createPaymentMethodBody = z
  .strictObject({ card: card.optional(), processor_id: idText.optional(), token: text(1_000).min(1).optional(), ...about })
  .superRefine((body, context) => {
    const byToken = body.processor_id !== undefined || body.token !== undefined;
    const missing = (field: string) => context.addIssue({ code: 'custom', path: [field], message: 'Field required', params: { type: 'missing' } });
    if (body.card && byToken) {
      context.addIssue({ code: 'custom', path: ['card'], message: 'Send either card or processor_id with token', params: { type: 'value_error' } });
    } else if (!body.card && !byToken) missing('card');
    else if (!body.card && body.processor_id === undefined) missing('processor_id');
    else if (!body.card && body.token === undefined) missing('token');
  });
export type CreatePaymentMethodBody = z.infer<typeof createPaymentMethodBody>;

export const authorizePaymentMethodBody = z.strictObject({
  payment_method_id: idText,
  authorize_amount_atom: amountAtom.default(2_000),
  currency: currency.default('usd'),
});
export type AuthorizePaymentMethodBody = z.infer<typeof authorizePaymentMethodBody>;

export const attachPaymentMethodBody = z.strictObject({ customer_id: idText });
export type AttachPaymentMethodBody = z.infer<typeof attachPaymentMethodBody>;

export const emptyBody = z.strictObject({});

export const importMappingBody = z.strictObject({
  processor_id: idText,
  their_payment_method_id: text(255).min(1),
  network_transaction_id: text(255).min(1).nullable().optional().describe('Lets charges be made without the customer'),
  fingerprint: text(255).min(1).nullable().optional().describe('The connection\'s own mark of the card, equal for the same card: refusals are counted by it'),
});
export type ImportMappingBody = z.infer<typeof importMappingBody>;

const statuses = z.enum(['authorized', 'attached', 'detached']);
const providers = z.enum(['_abstract_base', 'ach', 'apple_pay', 'credit_card', 'google_pay', 'stripe_link', 'paypal', 'crypto']);
const sortKeys = ['created_at', 'updated_at'] as const;

export const listPaymentMethodsBody = listBody(sortKeys, {
  customer_id: idText.nullable().optional(),
  status: statuses.nullable().optional(),
  provider_type: providers.nullable().optional(),
});
export type ListPaymentMethodsBody = z.infer<typeof listPaymentMethodsBody>;

export const listCustomerPaymentMethodsBody = listBody(sortKeys, {
  status: statuses.nullable().optional(),
  provider_type: providers.nullable().optional(),
});
export type ListCustomerPaymentMethodsBody = z.infer<typeof listCustomerPaymentMethodsBody>;

export const paymentMethodsQuery = cursorQuery({ customer_id: idText.optional(), status: statuses.optional(), provider_type: providers.optional() });
export type PaymentMethodsQuery = z.infer<typeof paymentMethodsQuery>;

/** `?expand=…` is accepted as published; the object is always whole. */
export const getPaymentMethodQuery = z.strictObject({ expand: z.union([text(100), z.array(text(100)).max(50)]).optional() });

const time = z.iso.datetime();

export const paymentMethodMappingShape = z
  .object({
    id: z.string(),
    object: z.literal('payment_method_mapping'),
    payment_method_id: z.string(),
    processor_id: z.string(),
    processor_name: z.string(),
    their_payment_method_id: z.string(),
    is_deleted: z.boolean(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'PaymentMethodMapping' });

const connectionShape = z.object({
  processor_id: z.string(),
  name: z.string(),
  kind: z.string(),
  their_payment_method_id: z.string(),
  usable_without_customer: z.boolean(),
});

const nullableText = z.string().nullable();

export const paymentMethodShape = z
  .object({
    id: z.string(),
    object: z.literal('payment_method'),
    account_id: z.string(),
    status: statuses,
    customer_id: nullableText,
    provider: providers,
    display_name: z.string(),
    card_brand: nullableText,
    card_type: nullableText.describe('credit, debit, prepaid or unknown'),
    card_country: nullableText,
    card_iin: nullableText,
    card_issuer: nullableText,
    card_fingerprint: nullableText.describe('Equal for the same card'),
    last_four: nullableText,
    expiry_date: nullableText.describe('MM/YYYY'),
    is_full_details_known: z.boolean(),
    cde_external_id: nullableText,
    billing_address: z.object({
      line1: nullableText, line2: nullableText, line3: nullableText, city: nullableText, state: nullableText, zip_code: nullableText, country: nullableText,
    }),
    mappings: z.array(paymentMethodMappingShape),
    connections: z.array(connectionShape).describe('Every connection that knows the method, with its true kind'),
    custom_fields: z.record(z.string(), z.unknown()).nullable(),
    metadata: z.record(z.string(), z.unknown()).nullable(),
    is_deleted: z.boolean(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'PaymentMethod' });
