import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';

export interface PriceFields {
  id: string;
  productId: string;
  name: string | null;
  internalDescription: string | null;
  priceType: 'one_time' | 'recurring';
  pricingModel: string;
  currency: string;
  unitAmountAtom: number;
  billingInterval: 'day' | 'week' | 'month' | 'year' | null;
  billingIntervalCount: number | null;
  trialPeriodDays: number;
  usageType: string;
  transformQuantityDivideBy: number;
  isActive: boolean;
  isExclusive: boolean;
  /** Public ids of prices or products. */
  canOnlyBePurchasedWith: string[];
  /** UUIDs. */
  listedExclusivelyForCustomers: string[];
  contractAutoRenew: boolean | null;
  contractTermMultiple: number | null;
  defaultNetD: number | null;
  customFields: Record<string, unknown> | null;
  metadata: Record<string, unknown> | null;
  usedAt: Date | null;
  deletedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** What a price shows of its product. */
export interface PriceProduct {
  name: string;
  defaultPriceId: string | null;
}

/**
 * The published price. `billing_interval` and `tiers_mode` are published as required and without null: a one-time price says
 * `month` with a count of null, a price without tiers says `volume` with no tiers. `addOns` are UUIDs of prices.
 */
export function priceView(price: PriceFields, product: PriceProduct, environment: Environment, addOns: string[] = []) {
  return {
    id: publicId('price', environment, price.id),
    object: 'price',
    product_id: publicId('product', environment, price.productId),
    product_name: product.name,
    name: price.name,
    internal_description: price.internalDescription,
    price_type: price.priceType,
    pricing_model: price.pricingModel,
    currency: price.currency,
    unit_amount_atom: price.unitAmountAtom,
    billing_interval: price.billingInterval ?? 'month',
    billing_interval_count: price.billingIntervalCount,
    billing_scheme: 'per_unit',
    tiers_mode: 'volume',
    price_tiers: [],
    recurring_details: { trial_period_days: price.trialPeriodDays, usage_type: price.usageType },
    transform_quantity_divide_by: price.transformQuantityDivideBy,
    is_active: price.isActive,
    is_default: product.defaultPriceId === price.id,
    is_exclusive: price.isExclusive,
    is_licensed: price.usageType === 'licensed',
    can_only_be_purchased_with: price.canOnlyBePurchasedWith,
    optional_add_ons: addOns.map((id) => publicId('price', environment, id)),
    listed_exclusively_for_customers: price.listedExclusivelyForCustomers.map((id) => publicId('cus', environment, id)),
    contract_auto_renew: price.contractAutoRenew,
    contract_term_multiple: price.contractTermMultiple,
    invoice_settings: { default_net_d: price.defaultNetD },
    eligible_for_updates: price.usedAt === null,
    meter_id: null,
    custom_fields: price.customFields,
    metadata: price.metadata,
    is_deleted: price.deletedAt !== null,
    created_at: price.createdAt.toISOString(),
    updated_at: price.updatedAt.toISOString(),
  };
}

export type PriceView = ReturnType<typeof priceView>;
