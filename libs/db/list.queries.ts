import { and, asc, desc, eq, gt, gte, ilike, lt, lte, type AnyColumn, type SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import { DomainError } from '../errors/domain-error.js';
import type { Db } from './client.js';

export interface RangeFilter<T> {
  eq?: T | null;
  gt?: T | null;
  gte?: T | null;
  lt?: T | null;
  lte?: T | null;
}

/** Conditions for `{ eq, gt, gte, lt, lte }`; absent and null bounds say nothing. */
export function inRange<T>(column: AnyColumn, filter: RangeFilter<T> | null | undefined): SQL[] {
  const operators = { eq, gt, gte, lt, lte };
  return Object.entries(filter ?? {})
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => operators[name as keyof typeof operators](column, value));
}

/** Conditions for `{ eq, ilike }`. */
export function matching(column: AnyColumn, filter: { eq?: string | null; ilike?: string | null } | null | undefined): SQL[] {
  const conditions: SQL[] = [];
  if (typeof filter?.eq === 'string') conditions.push(eq(column, filter.eq));
  if (typeof filter?.ilike === 'string') conditions.push(ilike(column, endsClean(filter.ilike)));
  return conditions;
}

/** A pattern that ends in a lone backslash is an error to Postgres. */
function endsClean(pattern: string): string {
  return /(?:^|[^\\])(?:\\\\)*\\$/.test(pattern) ? `${pattern}\\` : pattern;
}

/** Absent says nothing, null asks for rows without a value. */
export function equals<T>(column: AnyColumn, value: T | null | undefined): SQL[] {
  return value === undefined || value === null ? [] : [eq(column, value)];
}

type ListTable = PgTable & { id: AnyColumn };

export interface NumberedPage {
  where: (SQL | undefined)[];
  sort: AnyColumn;
  descending: boolean;
  /** From 1. */
  pageNumber: number;
  pageSize: number;
}

/** One page by number, with the total: the id breaks ties, so pages do not overlap. */
export async function numberedPage<T extends ListTable>(db: Db, table: T, options: NumberedPage): Promise<{ rows: T['$inferSelect'][]; total: number }> {
  const where = and(...options.where);
  const direction = options.descending ? desc : asc;
  const rows = await db
    .select()
    .from(table as PgTable)
    .where(where)
    .orderBy(direction(options.sort), direction(table.id))
    .limit(options.pageSize)
    .offset((options.pageNumber - 1) * options.pageSize);
  return { rows: rows as T['$inferSelect'][], total: await db.$count(table as PgTable, where) };
}

export interface Keyset {
  where: (SQL | undefined)[];
  limit: number;
  /** The last id of the page before. */
  before: string | null;
}

/** Newest first by id (UUIDv7 rises with time); reads one row more than asked to know whether there are more. */
export async function keysetPage<T extends ListTable>(db: Db, table: T, { where, limit, before }: Keyset): Promise<{ rows: T['$inferSelect'][]; hasMore: boolean }> {
  const rows = await db
    .select()
    .from(table as PgTable)
    .where(and(...where, before === null ? undefined : lt(table.id, before)))
    .orderBy(desc(table.id))
    .limit(limit + 1);
  return { rows: rows.slice(0, limit) as T['$inferSelect'][], hasMore: rows.length > limit };
}

/** A cursor is opaque to callers: the last row's UUID in base64url. */
export function encodeCursor(id: string): string {
  return Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
}

/** @throws DomainError 422 naming `cursor`. */
export function decodeCursor(cursor: string | undefined): string | null {
  if (cursor === undefined) return null;
  const hex = /^[A-Za-z0-9_-]{22}$/.test(cursor) ? Buffer.from(cursor, 'base64url').toString('hex') : '';
  const parts = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(hex);
  if (!parts) {
    const msg = 'Not a cursor of this list';
    throw new DomainError('invalid_request', `cursor: ${msg}`, { errors: [{ loc: ['query', 'cursor'], msg, type: 'value_error' }] });
  }
  return parts.slice(1).join('-');
}
