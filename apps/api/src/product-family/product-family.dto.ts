import { z } from 'zod';
import { idText, text } from '../kernel/fields.dto.js';
import { cursorQuery, listBody } from '../kernel/lists.dto.js';

const hierarchy = text(20_000).refine(isJsonObject, { error: 'Expected the text of a JSON object' });
const members = z.array(idText).max(500);

export const createProductFamilyBody = z.strictObject({
  name: text(500).min(1),
  description: text(5000).nullable().optional(),
  hierarchy: hierarchy.default('{}').describe('A JSON object as text; its meaning is the caller\'s'),
  products: members,
});
export type CreateProductFamilyBody = z.infer<typeof createProductFamilyBody>;

export const updateProductFamilyBody = z.strictObject({
  name: text(500).min(1).nullable().optional().describe('Null leaves it as it is'),
  description: text(5000).nullable().optional(),
  hierarchy: hierarchy.nullable().optional(),
  products: members.nullable().optional(),
});
export type UpdateProductFamilyBody = z.infer<typeof updateProductFamilyBody>;

export const listProductFamiliesBody = listBody(['created_at', 'updated_at', 'name'] as const, { is_deleted: z.boolean().nullable().optional() });
export type ListProductFamiliesBody = z.infer<typeof listProductFamiliesBody>;
export const productFamiliesQuery = cursorQuery({});
export type ProductFamiliesQuery = z.infer<typeof productFamiliesQuery>;

export const productFamilyShape = z.object({
  id: z.string(),
  object: z.literal('product_family'),
  name: z.string(),
  description: z.string().nullable(),
  hierarchy: z.string(),
  products: z.array(z.string()),
  is_deleted: z.boolean(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
}).meta({ id: 'ProductFamily' });

function isJsonObject(value: string): boolean {
  try {
    const parsed: unknown = JSON.parse(value);
    return typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed);
  } catch {
    return false;
  }
}
