import { z } from 'zod';
import { currency, freeFields, idText, text } from '../kernel/fields.dto.js';
import { cursorQuery, listBody } from '../kernel/lists.dto.js';

const intervals = ['day', 'week', 'month', 'year'] as const;
const priceTypes = ['one_time', 'recurring'] as const;
/** Ten years at most. */
const mostIntervals = { day: 3650, week: 520, month: 120, year: 10 };
const mostAtoms = 1_000_000_000_000;

const tier = z.strictObject({
  units_from: z.int(), units_upto: z.int().nullable().optional(), unit_amount_atom: z.int(), flat_amount_atom: z.int().nullable().optional(),
});

const terms = {
  currency: currency.nullable().optional(),
  unit_amount_atom: z.int().min(0).max(mostAtoms).nullable().optional(),
  billing_interval: z.enum(intervals).nullable().optional(),
  billing_interval_count: z.int().min(1).nullable().optional().describe('Default 1; at most ten years in all'),
  trial_period_days: z.int().min(0).max(1095).nullable().optional(),
  usage_type: z.enum(['licensed', 'metered']).nullable().optional(),
  aggregate_usage: z.enum(['sum', 'last_during_period', 'last_ever', 'max']).nullable().optional(),
  price_tiers: z.array(tier).max(100).nullable().optional(),
  meter_id: idText.nullable().optional(),
  transform_quantity_divide_by: z.number().positive().nullable().optional(),
  default_net_d: z.int().min(0).max(365).nullable().optional(),
  contract_auto_renew: z.boolean().nullable().optional(),
  contract_term_multiple: z.int().min(1).max(1000).nullable().optional(),
};

const details = {
  name: text(500).nullable().optional(),
  internal_description: text(5000).nullable().optional(),
  can_only_be_purchased_with: z.array(idText).max(50).nullable().optional().describe('Ids of prices or products'),
  listed_exclusively_for_customers: z.array(idText).max(500).nullable().optional(),
  is_exclusive: z.boolean().nullable().optional(),
  custom_fields: freeFields.nullable().optional(),
  meta: freeFields.nullable().optional().describe('Shown as `metadata`'),
};

interface Terms {
  price_type?: string;
  pricing_model?: string;
  billing_interval?: (typeof intervals)[number] | null;
  billing_interval_count?: number | null;
  trial_period_days?: number | null;
  usage_type?: string | null;
  aggregate_usage?: string | null;
  price_tiers?: unknown[] | null;
  meter_id?: string | null;
  transform_quantity_divide_by?: number | null;
}

/** What this version does not bill yet is refused by name, never taken and ignored. */
function refuseUnsupported(body: Terms, context: z.core.$RefinementCtx<unknown>): void {
  const refuse = (field: string, message: string) => context.addIssue({ code: 'custom', path: [field], message, params: { type: 'not_supported' } });
  if (body.pricing_model !== undefined && body.pricing_model !== 'standard') refuse('pricing_model', 'Only standard prices (per unit) can be billed yet');
  if (body.usage_type === 'metered') refuse('usage_type', 'Metered prices cannot be billed yet');
  if (body.aggregate_usage) refuse('aggregate_usage', 'Metered prices cannot be billed yet');
  if (body.meter_id) refuse('meter_id', 'Metered prices cannot be billed yet');
  if (body.price_tiers && body.price_tiers.length > 0) refuse('price_tiers', 'Tiered prices cannot be billed yet');
  if (body.transform_quantity_divide_by && body.transform_quantity_divide_by !== 1) {
    refuse('transform_quantity_divide_by', 'Packages cannot be billed yet; only 1');
  }
}

/** Problems of a whole price, after defaults: `[field, message]`. */
export function problemsOfTerms(terms: Terms & { unit_amount_atom?: number | null }): [string, string][] {
  const problems: [string, string][] = [];
  if (terms.unit_amount_atom === null || terms.unit_amount_atom === undefined) problems.push(['unit_amount_atom', 'Required for a standard price']);
  if (terms.price_type === 'one_time') {
    if (terms.billing_interval) problems.push(['billing_interval', 'A one-time price has no interval']);
    if (terms.billing_interval_count) problems.push(['billing_interval_count', 'A one-time price has no interval']);
    if (terms.trial_period_days) problems.push(['trial_period_days', 'A one-time price has no trial']);
  } else if (!terms.billing_interval) problems.push(['billing_interval', 'Required for a recurring price']);
  else if ((terms.billing_interval_count ?? 1) > mostIntervals[terms.billing_interval]) {
    problems.push(['billing_interval_count', `At most ${mostIntervals[terms.billing_interval]} (ten years)`]);
  }
  return problems;
}

export const createPriceBody = z
  .strictObject({
    product_id: idText,
    price_type: z.enum(priceTypes),
    pricing_model: z.enum(['standard', 'package', 'graduated', 'volume']),
    is_active: z.boolean(),
    is_default: z.boolean().nullable().optional(),
    ...terms,
    ...details,
  })
  .superRefine((body, context) => {
    refuseUnsupported(body, context);
    for (const [field, message] of problemsOfTerms(body)) context.addIssue({ code: 'custom', path: [field], message });
  });
export type CreatePriceBody = z.infer<typeof createPriceBody>;

export const updatePriceBody = z
  .strictObject({
    price_type: z.enum(priceTypes).optional(),
    pricing_model: z.enum(['standard', 'package', 'graduated', 'volume']).optional(),
    is_active: z.boolean().nullable().optional().describe('Null leaves it as it is'),
    ...terms,
    ...details,
  })
  .superRefine(refuseUnsupported);
export type UpdatePriceBody = z.infer<typeof updatePriceBody>;

export const listPricesBody = listBody(['created_at', 'updated_at', 'unit_amount_atom'] as const, {
  product_id: idText.nullable().optional(),
  is_active: z.boolean().nullable().optional(),
  currency: currency.nullable().optional(),
  price_type: z.enum(priceTypes).nullable().optional(),
});
export type ListPricesBody = z.infer<typeof listPricesBody>;
export const pricesQuery = cursorQuery({ product_id: idText.optional(), is_active: z.stringbool().optional() });
export type PricesQuery = z.infer<typeof pricesQuery>;

export const amountPath = z.strictObject({ amount: z.string().regex(/^\d{1,13}$/, 'Expected a whole number of atoms').transform(Number) });
export type AmountPath = z.infer<typeof amountPath>;
export const findByAmountQuery = z.strictObject({
  product_id: idText.optional(),
  page_size: z.coerce.number<string>().int().min(1).max(100).default(100),
});
export type FindByAmountQuery = z.infer<typeof findByAmountQuery>;

const shownText = z.string().nullable();
const record = z.record(z.string(), z.unknown()).nullable();

export const priceShape = z.object({
  id: z.string(),
  object: z.literal('price'),
  product_id: z.string(),
  product_name: z.string(),
  name: shownText,
  internal_description: shownText,
  price_type: z.enum(priceTypes),
  pricing_model: z.literal('standard'),
  currency,
  unit_amount_atom: z.int().nullable(),
  billing_interval: z.enum(intervals).describe('Without meaning for a one-time price'),
  billing_interval_count: z.int().nullable(),
  billing_scheme: z.literal('per_unit'),
  tiers_mode: z.literal('volume').describe('Without meaning while there are no tiers'),
  price_tiers: z.array(z.object({})),
  recurring_details: z.object({ trial_period_days: z.int(), usage_type: z.literal('licensed') }),
  transform_quantity_divide_by: z.number(),
  is_active: z.boolean(),
  is_default: z.boolean(),
  is_exclusive: z.boolean(),
  is_licensed: z.boolean(),
  can_only_be_purchased_with: z.array(z.string()),
  optional_add_ons: z.array(z.string()),
  listed_exclusively_for_customers: z.array(z.string()),
  contract_auto_renew: z.boolean().nullable(),
  contract_term_multiple: z.int().nullable(),
  invoice_settings: z.object({ default_net_d: z.int().nullable() }),
  eligible_for_updates: z.boolean().describe('False once it was used: then what is paid can no longer change'),
  meter_id: shownText,
  custom_fields: record,
  metadata: record,
  is_deleted: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}).meta({ id: 'Price' });
