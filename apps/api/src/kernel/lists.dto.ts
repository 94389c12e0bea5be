import { z } from 'zod';
import { instant } from './fields.dto.js';

/** `{ eq, gt, gte, lt, lte }` over instants. */
export const dateTimeFilter = z.strictObject({
  eq: instant.nullable().optional(),
  gt: instant.nullable().optional(),
  gte: instant.nullable().optional(),
  lt: instant.nullable().optional(),
  lte: instant.nullable().optional(),
});

/** `{ eq, gt, gte, lt, lte }` over integers. */
export const integerFilter = z.strictObject({
  eq: z.int().nullable().optional(),
  gt: z.int().nullable().optional(),
  gte: z.int().nullable().optional(),
  lt: z.int().nullable().optional(),
  lte: z.int().nullable().optional(),
});

/** `{ eq, ilike }` over text; `%` and `_` are wildcards in `ilike`. */
export const searchFilter = z.strictObject({ eq: z.string().max(500).nullable().optional(), ilike: z.string().max(500).nullable().optional() });

/** Accepted as published; objects are always returned unexpanded. */
export const expand = z.array(z.string().max(100).nullable()).max(50);

/**
 * Body of `POST /x/list`. `sortKeys` are the published names of the columns it may sort by.
 * @example listBody(['created_at', 'updated_at'], { status: z.enum([...]).nullable() })
 */
export function listBody<K extends string, F extends Record<string, z.ZodType>>(sortKeys: readonly [K, ...K[]], filters: F) {
  return z.strictObject({
    page_number: z.int().min(1).max(2 ** 31 - 1).default(1),
    page_size: z.int().min(1).max(100).default(100),
    sort_key: z.enum(sortKeys).default(sortKeys[0]),
    sort_descending: z.boolean().default(false),
    created_at: dateTimeFilter.nullable().optional(),
    updated_at: dateTimeFilter.nullable().optional(),
    expand: expand.nullable().optional(),
    ...filters,
  });
}

/** Query of `GET /x`. Filters arrive as text: use `z.enum`, `z.stringbool()` or `instant` for them. */
export function cursorQuery<F extends Record<string, z.ZodType>>(filters: F) {
  return z.strictObject({
    limit: z.coerce.number<string>().int().min(1).max(100).default(25),
    cursor: z.string().max(200).optional(),
    ...filters,
  });
}

export interface Page<T> {
  data: T[];
  page_number: number;
  page_size: number;
  total_objects: number;
}

export interface CursorPage<T> {
  data: T[];
  has_more: boolean;
  next_cursor: string | null;
}

/** Schemas of both answers, for the reference. */
export const pageOf = (item: z.ZodType) =>
  z.object({ data: z.array(item), page_number: z.int(), page_size: z.int(), total_objects: z.int() });
export const cursorPageOf = (item: z.ZodType) =>
  z.object({ data: z.array(item), has_more: z.boolean(), next_cursor: z.string().nullable() });

/** Query of `GET /x/{id}`: `expand` is accepted as published, once or several times. */
export const expandQuery = z.strictObject({ expand: z.union([expand, z.string().max(100)]).optional() });
export type ExpandQuery = z.infer<typeof expandQuery>;
