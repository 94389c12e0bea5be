import { z } from 'zod';
import { country, currency, freeFields, idText, text } from '../kernel/fields.dto.js';
import { cursorQuery, listBody, searchFilter } from '../kernel/lists.dto.js';

export const languages = [
  'en', 'en_us', 'pt', 'es', 'de', 'fr', 'it', 'nl', 'ro', 'zh', 'zh_hk', 'zh_tw', 'ru', 'ja', 'ko', 'ar', 'tr', 'hi',
] as const;

const short = text(200).nullable().optional();
const email = z.email().max(254);

const address = z.strictObject({
  line1: short, line2: short, line3: short, city: short, state: short, zip_code: text(40).nullable().optional(), country: country.nullable().optional(),
});

const invoiceSettings = z.strictObject({
  customer_tax_ids: z.array(z.strictObject({ tax_id: text(100).min(1), tax_id_type: text(40).min(1) })).max(20).nullable().optional(),
  default_net_d: z.int().min(0).max(365).nullable().optional(),
  email_receipt_on_paid: z.boolean().nullable().optional(),
});

const fields = {
  billing_email: email.nullable().optional(),
  first_name: short,
  last_name: short,
  business_name: short,
  phone_number: text(40).nullable().optional(),
  notes: text(5000).nullable().optional(),
  language: z.enum(languages).nullable().optional(),
  line1: short,
  line2: short,
  line3: short,
  city: short,
  state: short,
  zip_code: text(40).nullable().optional(),
  country: country.nullable().optional(),
  customer_billing_address: address.nullable().optional(),
  shipping_addresses: z.array(address).max(20).nullable().optional(),
  invoice_settings: invoiceSettings.nullable().optional(),
  custom_fields: freeFields.nullable().optional(),
  metadata: freeFields.nullable().optional(),
  default_payment_method_id: idText.nullable().optional().describe('Used where a subscription names none; must be attached to this customer'),
  coupon_id: idText.nullable().optional(),
  promotion_code_id: idText.nullable().optional(),
};

const testClock = idText.nullable().optional().describe('Staging only: the customer and its subscriptions live on this test clock, for good');
export const createCustomerBody = z.strictObject({ email, ...fields, test_clock_id: testClock });
export type CreateCustomerBody = z.infer<typeof createCustomerBody>;
export const updateCustomerBody = z.strictObject({ email: email.nullable().optional().describe('Null leaves it as it is'), ...fields });
export type UpdateCustomerBody = z.infer<typeof updateCustomerBody>;

const sortKeys = ['created_at', 'updated_at', 'email'] as const;
export const listCustomersBody = listBody(sortKeys, {
  email: text(254).nullable().optional(),
  emails: z.array(text(254)).max(100).default([]),
  search: searchFilter.nullable().optional().describe('Over email, first, last and business name'),
  coupon_id: idText.nullable().optional(),
});
export type ListCustomersBody = z.infer<typeof listCustomersBody>;
export const customersQuery = cursorQuery({ email: text(254).optional() });
export type CustomersQuery = z.infer<typeof customersQuery>;

const shownText = z.string().nullable();
const time = z.iso.datetime();
const addressShape = z.object({
  line1: shownText, line2: shownText, line3: shownText, city: shownText, state: shownText, zip_code: shownText, country: shownText,
}).meta({ id: 'Address' });
const amounts = z.array(z.object({ amount_atom: z.int(), currency }));
const record = z.record(z.string(), z.unknown()).nullable();

export const customerShape = z.object({
  id: z.string(),
  object: z.literal('customer'),
  account_id: z.string(),
  email: z.string(),
  billing_email: shownText,
  first_name: shownText,
  last_name: shownText,
  business_name: shownText,
  phone_number: shownText,
  notes: shownText,
  language: z.enum(languages).optional(),
  address: addressShape,
  customer_billing_address: addressShape.optional(),
  shipping_addresses: z.array(addressShape),
  invoice_settings: z.object({
    customer_tax_ids: z.array(z.object({ tax_id: z.string(), tax_id_type: z.string() })),
    default_net_d: z.int().nullable(),
    email_receipt_on_paid: z.boolean().nullable(),
  }),
  should_send_payment_receipt: z.boolean(),
  default_payment_method_id: shownText,
  custom_fields: record,
  metadata: record,
  test_clock_id: shownText,
  is_deleted: z.boolean(),
  created_at: time,
  updated_at: time,
  status: z.enum(['active', 'inactive', 'trialing', 'cancelled']),
  balance_atoms: amounts,
  total_spent: amounts,
  total_refunds: amounts,
}).meta({ id: 'Customer' });
