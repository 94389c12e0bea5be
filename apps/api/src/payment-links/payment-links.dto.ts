import { z } from 'zod';
import { largestQuantity, linkModes, longestLink } from '../../../../libs/domain/payment-link/payment-link.js';
import { freeFields, idText, instant, text } from '../kernel/fields.dto.js';
import { cursorQuery, listBody } from '../kernel/lists.dto.js';

const successUrl = z.string().max(2048).refine(isPageUrl, { error: 'Expected an http or https address without user name and password' });

const lineItem = z.strictObject({
  price_id: idText,
  quantity: z.int().min(1).max(largestQuantity),
  description: text(500).min(1).nullable().optional(),
  custom_fields: freeFields.nullable().optional(),
});

const noneYet = (what: string) => z.array(z.unknown()).max(0, `${what} are not taken; name a payment_route_id instead`).optional();

/** Accepted as published as long as it prefers nothing: which processor takes a payment is for its route to say. */
const checkoutPreferences = z.strictObject({
  fallback_cascade_preferences: noneYet('Fallback preferences'),
  fallback_cascade_selected_product_price_quantity: noneYet('Fallback preferences'),
  override_feature_rollout_settings: z.null().optional(),
  processor_preferences: z.strictObject({
    filter_providers: noneYet('Processor preferences'),
    ids_whitelist: noneYet('Processor preferences'),
    names_whitelist: noneYet('Processor preferences'),
  }).nullable().optional(),
});

const notHere = <T extends z.ZodType>(kind: T, why: string) => kind.nullable().optional().refine((value) => value === null || value === undefined, { error: why });

const linkFields = z.strictObject({
  mode: z.enum(linkModes).refine((mode) => mode === 'payment', { error: 'Only links of mode payment are available' }),
  success_url: successUrl.nullable().describe('Where the visitor goes after paying; null: our own page'),
  line_items: z.array(lineItem).max(longestLink).default([]).describe('At least one in mode `payment`'),
  customer_id: idText.nullable().optional().describe('Who pays; without it the page asks for e-mail and name'),
  always_create_new_customer: z.boolean().default(false)
    .describe('False: a visitor with the same e-mail address as an earlier one of this link is the same customer'),
  checkout_preferences: checkoutPreferences.nullable().optional(),
  coupon_id: notHere(z.string(), 'Coupons are not taken in mode payment'),
  trial_end: notHere(instant, 'A link of mode payment has no trial'),
  trial_from_price: notHere(z.boolean(), 'A link of mode payment has no trial'),
  trial_period_days: notHere(z.int(), 'A link of mode payment has no trial'),
  payment_route_id: idText.nullable().optional().describe('The route of its payments; without it the account\'s'),
  custom_fields: freeFields.nullable().optional().describe('Copied to each payment; `simulate` triggers the simulator'),
  metadata: freeFields.nullable().optional(),
});

export const createPaymentLinkBody = linkFields.refine((link) => link.mode !== 'payment' || link.line_items.length > 0, {
  path: ['line_items'],
  error: 'A link of mode payment sells at least one price',
});
export type CreatePaymentLinkBody = z.infer<typeof createPaymentLinkBody>;

export const updatePaymentLinkBody = z.strictObject({
  active: z.boolean().optional().describe('A link that paused itself is reopened by resolving its attention item'),
  success_url: successUrl.nullable().optional(),
  always_create_new_customer: z.boolean().optional(),
  payment_route_id: idText.nullable().optional(),
  custom_fields: freeFields.nullable().optional(),
  metadata: freeFields.nullable().optional(),
});
export type UpdatePaymentLinkBody = z.infer<typeof updatePaymentLinkBody>;

export const listPaymentLinksBody = listBody(['created_at', 'updated_at'], {});
export type ListPaymentLinksBody = z.infer<typeof listPaymentLinksBody>;

export const paymentLinksQuery = cursorQuery({ active: z.stringbool().optional() });
export type PaymentLinksQuery = z.infer<typeof paymentLinksQuery>;

export const publicLinkQuery = z.strictObject({ ref_id: z.string().max(200).optional(), customer_id: z.string().max(200).optional() });

const time = z.iso.datetime();
const free = z.record(z.string(), z.unknown()).nullable();

const lineShape = z.object({
  id: z.string(),
  object: z.literal('payment_link_line_item'),
  payment_link_id: z.string(),
  price_id: z.string(),
  quantity: z.int(),
  description: z.string().nullable(),
  custom_fields: free,
  is_deleted: z.boolean(),
  created_at: time,
  updated_at: time,
}).meta({ id: 'PaymentLinkLineItem' });

export const paymentLinkShape = z.object({
  id: z.string(),
  object: z.literal('payment_link'),
  account_id: z.string(),
  account_name: z.string(),
  active: z.boolean(),
  inactive_reason: z.enum(['declines', 'request']).nullable().describe('`declines`: it paused itself; `request`: it was switched off'),
  mode: z.enum(linkModes),
  currency: z.string().nullable(),
  customer_id: z.string().nullable(),
  customer_email: z.string().nullable(),
  always_create_new_customer: z.boolean(),
  payment_route_id: z.string().nullable(),
  success_url: z.string().nullable(),
  checkout_preferences: z.object({}).loose(),
  coupon_id: z.string().nullable(),
  custom_fields: free,
  metadata: free,
  trial_end: time.nullable(),
  trial_from_price: z.boolean().nullable(),
  trial_period_days: z.int().nullable(),
  line_items: z.array(lineShape),
  secure_token: z.string().describe('Opens the page; empty in events'),
  url: z.string().describe('The page; empty in events'),
  is_deleted: z.boolean(),
  created_at: time,
  updated_at: time,
}).meta({ id: 'PaymentLink' });

export const publicPaymentLinkShape = z.object({
  object: z.literal('payment_link'),
  account_name: z.string(),
  active: z.boolean(),
  mode: z.enum(linkModes),
  currency: z.string(),
  amount_atom: z.int(),
  asks_customer: z.boolean().describe('Whether the page asks for e-mail and name'),
  line_items: z.array(z.object({
    name: z.string(),
    description: z.string().nullable(),
    quantity: z.int(),
    unit_amount_atom: z.int(),
    amount_atom: z.int(),
  })),
  secure_token: z.string(),
  url: z.string(),
}).meta({ id: 'PublicPaymentLink' });

function isPageUrl(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const url = new URL(value);
  return (url.protocol === 'https:' || url.protocol === 'http:') && url.username === '' && url.password === '' && url.hostname !== '';
}
