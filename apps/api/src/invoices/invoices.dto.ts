import { z } from 'zod';
import { billingReasons } from '../../../../libs/domain/invoice/invoice.draft.js';
import { defaultDescription } from '../../../../libs/domain/invoice/invoice.finalisation.js';
import { invoiceStatuses } from '../../../../libs/domain/invoice/invoice.machine.js';
import { currency, freeFields, idText, text } from '../kernel/fields.dto.js';
import { cursorQuery, dateTimeFilter, integerFilter, listBody, searchFilter } from '../kernel/lists.dto.js';

/** Published, and not built yet: accepted as null, so that clients that send every field work. */
const later = z.null('Not supported yet').optional();
const id = idText.nullable().optional();
const statuses = z.enum(invoiceStatuses);

const selected = z.strictObject({ price_id: idText, quantity: z.int().min(1).max(1_000_000) });
const methods = z.enum(['charge_automatically', 'send_invoice']);

export const createInvoiceBody = z
  .strictObject({
    customer_id: idText,
    subscription_id: id.describe('One of the customer\'s: its pending lines, its method and its route are used; its standing is not touched'),
    selected_product_price_quantity: z.array(selected).max(100).default([]).describe('One-time prices'),
    invoice_item_details: z.record(idText, z.strictObject({ description: text(5000).nullable().optional() })).nullable().optional().describe('By price id'),
    invoice_type: z.enum(['standard', 'one_off']).nullable().optional()
      .describe('`standard` also takes the lines that wait for the customer\'s next invoice; default: `one_off` where prices are named'),
    collection_method: methods.default('charge_automatically'),
    net_d: z.int().min(0).max(3650).nullable().optional().describe('Days until it is due, where it is sent; default: the price\'s, the customer\'s, 30'),
    payment_method_id: id.describe('Default: the subscription\'s, else the customer\'s default'),
    finalize_invoice_immediately: z.boolean().nullable().optional().describe('Else it stays a draft'),
    email_invoice_on_finalization: z.boolean().nullable().optional(),
    description: text(5000).default(defaultDescription),
    custom_fields: freeFields.nullable().optional(),
    is_preview: z.boolean().default(false).describe('Answers what would be made, as if its payment succeeded, and stores nothing'),
    coupon_id: later,
  })
  .refine((body) => body.net_d == null || body.collection_method === 'send_invoice', { path: ['net_d'], message: 'Only an invoice that is sent has days until it is due' });
export type CreateInvoiceBody = z.infer<typeof createInvoiceBody>;

export const updateInvoiceBody = z.strictObject({
  description: text(5000).nullable().optional(),
  custom_fields: freeFields.nullable().optional(),
  email_invoice_on_finalization: z.boolean().nullable().optional().describe('Drafts only'),
  payment_method_id: id.describe('While money is owed; null: the default is used'),
  coupon_id: later,
});
export type UpdateInvoiceBody = z.infer<typeof updateInvoiceBody>;

export const commentBody = z.strictObject({ comment: text(5000).min(1) });
export type CommentBody = z.infer<typeof commentBody>;

export const payInvoiceBody = z.strictObject({
  payment_method_id: id.describe('Default: the subscription\'s, else the customer\'s default'),
  paid_out_of_band: z.boolean().default(false).describe('The money came by another way'),
  comment: text(5000).nullable().optional(),
  void_on_failure: z.boolean().default(false).describe('A decline voids the invoice; not while an outcome is awaited'),
}).refine((body) => !(body.paid_out_of_band && (body.payment_method_id || body.void_on_failure)), {
  path: ['paid_out_of_band'], message: 'Nothing is charged: it goes with neither payment_method_id nor void_on_failure',
});
export type PayInvoiceBody = z.infer<typeof payInvoiceBody>;

export const closeInvoiceBody = z.strictObject({ comment: text(5000).nullable().optional() });
export type CloseInvoiceBody = z.infer<typeof closeInvoiceBody>;

export const listInvoicesBody = listBody(['created_at', 'updated_at', 'period_start', 'period_end', 'total_amount_atom'] as const, {
  billing_reason: z.enum(billingReasons).nullable().optional(),
  collection_method: z.enum(['charge_automatically', 'send_invoice']).nullable().optional(),
  coupon_id: later,
  currency: currency.nullable().optional(),
  customer_id: id,
  subscription_id: id,
  status: statuses.nullable().optional(),
  period_start: dateTimeFilter.nullable().optional(),
  period_end: dateTimeFilter.nullable().optional(),
  total_amount_atom: integerFilter.nullable().optional(),
  search: searchFilter.nullable().optional().describe('Over the description'),
});
export type ListInvoicesBody = z.infer<typeof listInvoicesBody>;

export const invoicesQuery = cursorQuery({ customer_id: idText.optional(), subscription_id: idText.optional(), status: statuses.optional() });
export type InvoicesQuery = z.infer<typeof invoicesQuery>;

const shown = z.string().nullable();
const time = z.iso.datetime();
const record = z.record(z.string(), z.unknown()).nullable();
const none = z.array(z.unknown());
const amounts = {
  total_amount_atom: z.int(),
  total_excluding_taxes_amount_atom: z.int(),
  tax_amount_atom: z.int(),
  applied_balance_amount_atom: z.int(),
  due_amount_atom: z.int(),
  paid_amount_atom: z.int(),
  remaining_amount_atom: z.int(),
};

export const invoiceItemShape = z.object({
  id: z.string(),
  object: z.literal('invoice_item'),
  account_id: z.string(),
  customer_id: z.string(),
  invoice_id: shown,
  subscription_id: shown,
  subscription_item_id: shown,
  subscription_item_description: shown,
  subscription_cancelled_at: time.nullable(),
  price_id: z.string(),
  product_id: z.string(),
  price_type: z.string(),
  name: z.string(),
  description: shown,
  quantity: z.int(),
  amount_atom: z.int(),
  amount_atom_considering_discount_applied: z.int(),
  currency: z.string(),
  discount_amount_atoms: none,
  discounts: none,
  proration: z.boolean(),
  proration_details_debit_invoice_item: shown,
  carried_from_invoice_id: shown.describe('The invoice whose amount was too small to be charged, of a line that carries it to the next one'),
  period_start: time,
  period_end: time,
  is_deleted: z.boolean(),
  created_at: time,
  updated_at: time,
}).meta({ id: 'InvoiceItem' });

export const invoiceShape = z.object({
  id: z.string(),
  object: z.literal('invoice'),
  account_id: z.string(),
  customer_id: z.string(),
  subscription_id: shown,
  invoice_number: z.int().describe('Without gaps per account; 0 until finalised'),
  status: statuses,
  billing_reason: z.enum(billingReasons),
  collection_method: z.string(),
  currency: z.string(),
  ...amounts,
  refunded_amount_atom: z.int(),
  provider_type_fee_amount_atom: z.int(),
  period_start: time,
  period_end: time,
  due_date: time,
  net_d: z.int().describe('-1: not given'),
  finalized_at: time.nullable(),
  paid_at: time.nullable(),
  voided_at: time.nullable(),
  paid_out_of_band: z.boolean(),
  reminder_sent_at: time.nullable().describe('When the customer was last reminded of it'),
  is_initial_invoice_for_trial_sub: z.boolean(),
  latest_payment_intent_id: shown,
  latest_payment_attempt_failure_message: shown,
  default_payment_method_id: shown,
  refund_ids: z.array(z.string()),
  lines: z.array(invoiceItemShape),
  discounts: none,
  total_discount_amount_atoms: none,
  credit_note_ids: z.array(z.string()),
  pre_payment_credit_notes_amount: z.int(),
  post_payment_credit_notes_amount: z.int(),
  customer_tax_ids: none,
  merchant_tax_ids: none,
  tax_processor_updated_at: time.nullable(),
  email_invoice_on_finalization: z.boolean(),
  credited_amount_atom: z.int().describe('What a negative total gave to the customer\'s credit'),
  hosted_invoice_url: shown,
  invoice_pdf_url: z.string(),
  receipt_pdf_url: z.string(),
  comments: z.array(z.object({ comment: z.string(), created_at: time, user_email: shown })),
  description: shown,
  custom_fields: record,
  metadata: record,
  is_deleted: z.boolean(),
  created_at: time,
  updated_at: time,
}).meta({ id: 'Invoice' });

const address = z.object({
  line1: shown, line2: shown, line3: shown, city: shown, state: shown, zip_code: shown, country: shown,
});

export const publicInvoiceShape = z.object({
  id: z.string(),
  status: statuses,
  currency: z.string(),
  ...amounts,
  provider_type_fee_amount_atom: z.int(),
  total_discount_amount_atoms: none,
  created_at: time,
  due_date: time,
  paid_at: time.nullable(),
  billed_to: shown,
  billed_to_business_name: shown,
  billing_address: shown,
  branding: z.object({ name: z.string() }),
  card_type: shown,
  last_four: shown,
  customer_tax_ids: none,
  merchant_tax_ids: none,
  merchant_billing_address: address,
  is_initial_invoice_for_trial_sub: z.boolean(),
  trial_start_for_sub: time.nullable(),
  trial_end_for_sub: time.nullable(),
  hosted_invoice_url: z.string(),
  invoice_pdf_url: z.string(),
  receipt_pdf_url: z.string(),
  lines: z.array(z.object({
    name: z.string(),
    invoice_item_description: shown,
    subscription_item_description: shown,
    quantity: z.int(),
    amount_atom: z.int(),
    amount_atom_considering_discount_applied: z.int(),
    currency: z.string(),
    discount_amount_atoms: none,
    discounts: z.array(z.string()),
    price_tiers: none,
    period_end: time,
  })),
}).meta({ id: 'PublicInvoice' });
