import { z } from 'zod';
import { freeFields, idText, text } from '../kernel/fields.dto.js';
import { cursorQuery, listBody, searchFilter } from '../kernel/lists.dto.js';
import { priceShape } from '../prices/prices.dto.js';

const features = z.array(text(200).min(1)).max(100);
const rest = {
  account_sku: text(200).nullable().optional(),
  unit_label: text(100).nullable().optional(),
  custom_fields: freeFields.nullable().optional(),
  metadata: freeFields.nullable().optional(),
};

export const createProductBody = z.strictObject({
  name: text(500).min(1),
  description: text(5000),
  features: features.default([]),
  is_active: z.boolean().default(true),
  ...rest,
});
export type CreateProductBody = z.infer<typeof createProductBody>;

export const updateProductBody = z.strictObject({
  name: text(500).min(1).nullable().optional().describe('Null leaves it as it is'),
  description: text(5000).nullable().optional(),
  features: features.nullable().optional(),
  is_active: z.boolean().nullable().optional().describe('Null leaves it as it is'),
  default_price_id: idText.nullable().optional(),
  ...rest,
});
export type UpdateProductBody = z.infer<typeof updateProductBody>;

export const listProductsBody = listBody(['created_at', 'updated_at', 'name'] as const, {
  is_active: z.boolean().nullable().optional(),
  name_contains: text(500).nullable().optional(),
  search: searchFilter.nullable().optional().describe('Over the name'),
  created_by: text(100).nullable().optional().describe('Accepted as published; products carry no author'),
});
export type ListProductsBody = z.infer<typeof listProductsBody>;
export const productsQuery = cursorQuery({ is_active: z.stringbool().optional() });
export type ProductsQuery = z.infer<typeof productsQuery>;

const shownText = z.string().nullable();
const record = z.record(z.string(), z.unknown()).nullable();

export const productShape = z.object({
  id: z.string(),
  object: z.literal('product'),
  name: z.string(),
  description: shownText,
  account_sku: shownText,
  features: z.array(z.string()),
  unit_label: shownText,
  is_active: z.boolean(),
  default_price: shownText,
  prices: z.array(priceShape),
  custom_fields: record,
  metadata: record,
  is_deleted: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}).meta({ id: 'Product' });
