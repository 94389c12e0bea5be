import { z } from 'zod';
import { amountAtom, freeFields, idText, instant, text } from '../kernel/fields.dto.js';
import { cursorQuery, dateTimeFilter, listBody, searchFilter } from '../kernel/lists.dto.js';
import { dunningPolicyBody, dunningPolicyShape } from '../accounts/policies.dto.js';
import { invoiceItemShape, invoiceShape } from '../invoices/invoices.dto.js';
import { priceShape } from '../prices/prices.dto.js';

/** Published, and not built yet: accepted as null, so that clients that send every field work. */
const later = z.null('Not supported yet').optional();
const id = idText.nullable().optional();
const note = text(5000).nullable().optional();
const days = z.int().min(0).max(3650);
const net = z.int().min(0).max(3650).nullable().optional();
const collection = z.enum(['charge_automatically', 'send_invoice']);
export const prorations = z.enum(['create_prorations', 'none', 'always_invoice']);
const dunning = dunningPolicyBody.nullable().optional().describe('ADMIN only. Null: the account\'s; a run under way keeps its own');
const preview = z.boolean().default(false).describe('Answers what would happen and changes nothing');

const selected = z.strictObject({ price_id: idText, quantity: z.int().min(1).max(1_000_000) });
const itemDetails = z.strictObject({ description: note, custom_fields: freeFields.nullable().optional() });

export const createSubscriptionBody = z
  .strictObject({
    customer_id: idText,
    selected_product_price_quantity: z.array(selected).min(1).max(50),
    subscription_item_details: z.record(idText, itemDetails).nullable().optional().describe('By price id'),
    payment_method_id: id,
    payment_route_id: id,
    starts_at: instant.nullable().optional().describe('In the future: scheduled. In the past: only the anchor; the first period is prorated'),
    trial_end: instant.nullable().optional(),
    trial_period_days: days.nullable().optional().describe('Default: the trial of the prices'),
    trial_from_price: z.boolean().default(true),
    trial_settings: z.strictObject({ missing_payment_method: z.enum(['pause', 'cancel']).default('pause') }).nullable().optional(),
    cancel_at_end: z.boolean().default(false),
    total_billing_cycles: z.int().min(1).max(10_000).nullable().optional(),
    collection_method: collection.default('charge_automatically'),
    net_d: net,
    total_amount_atom: amountAtom.nullable().optional().describe('Refused unless the first invoice is exactly this'),
    description: note,
    custom_fields: freeFields.nullable().optional(),
    dunning_policy: dunning,
    is_preview: preview,
    skip_invoice_payment: z.boolean().default(false).describe('The first invoice is made and not charged: `billing_status` is `incomplete` until it is paid by hand, for 23 h'),
    attach_to_checkout_attempt_id: later,
    checkout_preferences: later,
    coupon_id: later,
    promotion_code: later,
  })
  .refine((body) => !(body.trial_end && body.trial_period_days != null), { path: ['trial_end'], message: 'Give trial_end or trial_period_days, not both' });
export type CreateSubscriptionBody = z.infer<typeof createSubscriptionBody>;

const inlineItem = z.strictObject({
  id,
  price_id: id,
  quantity: z.int().min(1).max(1_000_000).nullable().optional(),
  description: note,
  custom_fields: freeFields.nullable().optional(),
  add_at_period_end: z.boolean().nullable().optional(),
  drop_at_end: z.boolean().nullable().optional(),
  delete: z.boolean().default(false).describe('Now; with `drop_at_end` with the current period'),
  starts_at: z.null('An item begins now, or with add_at_period_end').optional(),
});

export const updateSubscriptionBody = z
  .strictObject({
    description: note,
    custom_fields: freeFields.nullable().optional(),
    payment_method_id: id.describe('Null: the customer\'s default is used'),
    payment_route_id: id,
    remove_payment_route_id: z.boolean().nullable().optional(),
    cancel_at_end: z.boolean().nullable().optional(),
    dunning_policy: dunning,
    trial_end: instant.nullable().optional(),
    trial_period_days: days.nullable().optional().describe('0 ends the trial now'),
    is_preview: preview,
    preview_renewal_invoices: z.boolean().default(false),
    proration_behavior: prorations.nullable().optional(),
    items: z.array(inlineItem).max(50).nullable().optional().describe('Without `id`: added; with `delete`: removed; else changed. All at once'),
    collection_method: collection.nullable().optional().describe('Refused while an invoice is open; the next one is collected so'),
    net_d: net.describe('Days until the next invoice is due, where it is sent'),
    new_period_end: z.null('A period cannot be moved by itself: in a trial give trial_end; another billing interval of the items begins a new period').optional(),
    coupon_id: later,
    promotion_code: later,
  })
  .refine((body) => !(body.trial_end && body.trial_period_days != null), { path: ['trial_end'], message: 'Give trial_end or trial_period_days, not both' })
  .refine((body) => !(body.payment_route_id && body.remove_payment_route_id), { path: ['payment_route_id'], message: 'Give it or remove it, not both' });
export type UpdateSubscriptionBody = z.infer<typeof updateSubscriptionBody>;

export const pauseSubscriptionBody = z.strictObject({
  number_of_billing_cycles_to_skip: z.int().max(1000).nullable().optional().describe('Pauses at the period\'s end and resumes so many cycles later'),
  resumption_date: instant.nullable().optional().describe('Pauses now and resumes then; null: nobody resumes it but you'),
  is_preview: preview,
});
export type PauseSubscriptionBody = z.infer<typeof pauseSubscriptionBody>;

export const resumeSubscriptionBody = z.strictObject({
  is_preview: preview,
  proration_behavior: prorations.default('create_prorations').describe('`none`: the rest of a running cycle is free'),
});
export type ResumeSubscriptionBody = z.infer<typeof resumeSubscriptionBody>;

const feedback = z.enum([
  'too_expensive', 'missing_features', 'switched_service', 'unused', 'customer_service', 'too_complex', 'low_quality', 'other',
]);
const details = z.strictObject({ comment: note, feedback: feedback.nullable().optional(), reason: text(500).nullable().optional() });

export const cancelSubscriptionBody = z.strictObject({
  cancel_unpaid_invoices: z.boolean().default(false).describe('Voids open invoices; else they stay payable by hand'),
  cancellation_details: details.nullable().optional(),
  full_refund: z.boolean().default(false).describe('Refunds the current period; credit that paid a part of it returns to the balance. No credit for unused time then'),
  prorate: z.boolean().default(true).describe('Credits unused paid time to the customer\'s balance'),
  is_preview: preview,
});
export type CancelSubscriptionBody = z.infer<typeof cancelSubscriptionBody>;

/** The same fields in the query, because clients drop DELETE bodies. */
export const cancelSubscriptionQuery = z.strictObject({
  cancel_unpaid_invoices: z.stringbool().optional(),
  full_refund: z.stringbool().optional(),
  prorate: z.stringbool().optional(),
  is_preview: z.stringbool().optional(),
  comment: text(5000).optional(),
  feedback: feedback.optional(),
  reason: text(500).optional(),
});
export type CancelSubscriptionQuery = z.infer<typeof cancelSubscriptionQuery>;

export const cancelSubscriptionOptionalBody = z.strictObject({
  cancel_unpaid_invoices: z.boolean().optional(),
  cancellation_details: details.nullable().optional(),
  full_refund: z.boolean().optional(),
  prorate: z.boolean().optional(),
  is_preview: z.boolean().optional(),
});
export type CancelSubscriptionOptionalBody = z.infer<typeof cancelSubscriptionOptionalBody>;

export const statusFilters = [
  'trialing', 'active', 'paused', 'cancelled', 'canceled', 'scheduled', 'incomplete', 'past_due', 'unpaid',
] as const;
export type StatusFilter = (typeof statusFilters)[number];
const statusFilter = z.enum(statusFilters);

export const listSubscriptionsBody = listBody(['created_at', 'updated_at', 'current_period_start', 'current_period_end'] as const, {
  customer_id: id,
  price_id: id,
  product_id: id,
  statuses: z.array(statusFilter).max(20).default([]).describe('Lifecycle or billing status; any of them'),
  current_period_start: dateTimeFilter.nullable().optional(),
  current_period_end: dateTimeFilter.nullable().optional(),
  search: searchFilter.nullable().optional().describe('Over the name'),
  coupon_id: later,
});
export type ListSubscriptionsBody = z.infer<typeof listSubscriptionsBody>;

export const subscriptionsQuery = cursorQuery({ customer_id: idText.optional(), status: statusFilter.optional() });
export type SubscriptionsQuery = z.infer<typeof subscriptionsQuery>;

export const validSubscriptionsBody = z.strictObject({ price_id: id, product_id: id });
export type ValidSubscriptionsBody = z.infer<typeof validSubscriptionsBody>;

export const emptyBody = z.strictObject({});

export const listSubscriptionItemsBody = z.strictObject({ subscription_id: idText });
export type ListSubscriptionItemsBody = z.infer<typeof listSubscriptionItemsBody>;

const shown = z.string().nullable();
const time = z.iso.datetime();
const record = z.record(z.string(), z.unknown()).nullable();

export const subscriptionItemShape = z.object({
  id: z.string(),
  object: z.literal('subscription_item'),
  subscription_id: z.string(),
  pending_attachment_to_subscription_id: shown,
  price_id: z.string(),
  product_id: z.string(),
  price: priceShape,
  quantity: z.int(),
  currency: z.string(),
  description: shown,
  custom_fields: record,
  add_at_period_end: z.boolean(),
  drop_at_end: z.boolean(),
  deleted_at: time.nullable(),
  is_deleted: z.boolean(),
  created_at: time,
  updated_at: time,
}).meta({ id: 'SubscriptionItem' });

const dunningShape = z.object({
  started_at: time,
  failures: z.int(),
  next_attempt_at: time.nullable(),
  blocked: z.enum(['hard_decline', 'authentication_required', 'risk_refused', 'no_payment_method', 'send_invoice']).nullable()
    .describe('Why no unattended retry follows: another method, or the customer, helps'),
  ends_at: time.describe('When the final action follows, unless it is paid before'),
  final_action: z.enum(['cancel', 'pause', 'leave_unpaid']),
}).meta({ id: 'Dunning' });

export const subscriptionShape = z.object({
  id: z.string(),
  object: z.literal('subscription'),
  account_id: z.string(),
  customer_id: z.string(),
  name: z.string(),
  description: shown,
  status: z.enum(['trialing', 'active', 'paused', 'cancelled']),
  billing_status: z.enum(['scheduled', 'incomplete', 'current', 'past_due', 'unpaid']).nullable().describe('Whether money is owed; null once cancelled'),
  entitled: z.boolean().describe('Whether service may be given'),
  currency: z.string(),
  billing_interval: z.enum(['day', 'week', 'month', 'year']),
  billing_interval_count: z.int(),
  collection_method: collection,
  net_d: z.int().nullable(),
  initial_start: time,
  contract_start: time,
  contract_auto_renew: z.boolean(),
  starts_at: time.nullable(),
  billing_anchor: time.describe('Periods are this + n intervals'),
  current_period_start: time,
  current_period_end: time,
  renews_at: time.nullable(),
  trial_start: time.nullable(),
  trial_end: time.nullable(),
  trial_settings: z.object({ missing_payment_method: z.enum(['pause', 'cancel']) }),
  default_payment_method_id: shown,
  payment_route_id: shown,
  cancel_at_end: z.boolean(),
  cancelled_at: time.nullable(),
  cancellation_details: z.record(z.string(), z.unknown()),
  pause_at_end: z.boolean(),
  pause_for_cycles: z.int().nullable(),
  paused_at: time.nullable(),
  resumes_at: time.nullable(),
  next_payment_attempt_at: time.nullable(),
  dunning: dunningShape.nullable().describe('The run under way, while money is owed'),
  dunning_policy: dunningPolicyShape.nullable().describe('Null: the account\'s'),
  total_billing_cycles: z.int().nullable(),
  remaining_billing_cycles: z.int().nullable(),
  checkout_session_id: shown,
  test_clock_id: shown,
  subscription_items: z.array(subscriptionItemShape),
  custom_fields: record,
  metadata: record,
  is_deleted: z.boolean(),
  created_at: time,
  updated_at: time,
}).meta({ id: 'Subscription' });

export const createdSubscriptionShape = z.object({
  created: z.array(subscriptionShape),
  invoices: z.array(invoiceShape),
  processors_used: z.array(z.string()).describe('Connections that were asked for the first payment'),
});
export const updatedSubscriptionShape = z.object({
  subscriptions: z.array(subscriptionShape),
  invoices: z.array(invoiceShape),
  pending_invoice_items: z.array(invoiceItemShape).describe('Lines that the next invoice takes in'),
  renewal_invoices: z.array(invoiceShape),
});
export const resumedSubscriptionShape = z.object({ subscription: subscriptionShape, invoice: invoiceShape.optional() });
export const cancelledSubscriptionShape = z.object({
  subscription: subscriptionShape,
  balance_credit_amount_atom: z.int(),
  refund_amount_atom: z.int(),
});
export const validSubscriptionsShape = z.object({ has_active_subscriptions: z.boolean(), subscriptions: z.array(subscriptionShape) });
