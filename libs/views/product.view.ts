import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';
import { priceView, type PriceFields } from './price.view.js';

export interface ProductFields {
  id: string;
  name: string;
  description: string | null;
  accountSku: string | null;
  features: string[];
  unitLabel: string | null;
  isActive: boolean;
  defaultPriceId: string | null;
  customFields: Record<string, unknown> | null;
  metadata: Record<string, unknown> | null;
  deletedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** The published product as its events carry it: without its prices. */
export function productView(product: ProductFields, environment: Environment) {
  return {
    id: publicId('product', environment, product.id),
    object: 'product',
    name: product.name,
    description: product.description,
    account_sku: product.accountSku,
    features: product.features,
    unit_label: product.unitLabel,
    is_active: product.isActive,
    default_price: product.defaultPriceId && publicId('price', environment, product.defaultPriceId),
    custom_fields: product.customFields,
    metadata: product.metadata,
    is_deleted: product.deletedAt !== null,
    created_at: product.createdAt.toISOString(),
    updated_at: product.updatedAt.toISOString(),
  };
}

export interface PricesOfProduct {
  prices: PriceFields[];
  /** UUIDs of prices, by the id of the price that they go with. */
  addOns: Map<string, string[]>;
}

/** The published product as reads answer it. */
export function productWithPricesView(product: ProductFields, { prices, addOns }: PricesOfProduct, environment: Environment) {
  return { ...productView(product, environment), prices: prices.map((price) => priceView(price, product, environment, addOns.get(price.id))) };
}

export interface ProductFamilyFields {
  id: string;
  name: string;
  description: string | null;
  hierarchy: string;
  products: string[];
  deletedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

export function productFamilyView(family: ProductFamilyFields, environment: Environment) {
  return {
    id: publicId('pf', environment, family.id),
    object: 'product_family',
    name: family.name,
    description: family.description,
    hierarchy: family.hierarchy,
    products: family.products.map((id) => publicId('product', environment, id)),
    is_deleted: family.deletedAt !== null,
    created_at: family.createdAt.toISOString(),
    updated_at: family.updatedAt.toISOString(),
  };
}
