import type { AnyColumn, SQL } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Db } from '../../../../libs/db/client.js';
import { decodeCursor, encodeCursor, inRange, keysetPage, numberedPage, type RangeFilter } from '../../../../libs/db/list.queries.js';
import { snapshot } from '../../../../libs/db/snapshot.js';
import type { CursorPage, Page } from './lists.dto.js';

interface ListRequest {
  page_number: number;
  page_size: number;
  sort_key: string;
  sort_descending: boolean;
  created_at?: RangeFilter<Date> | null;
  updated_at?: RangeFilter<Date> | null;
}

type ListTable = PgTable & { id: AnyColumn; createdAt: AnyColumn; updatedAt: AnyColumn };

/** Answers `POST /x/list`: `where` holds the account and the resource's own filters, `sorts` the column of each sort key. */
export async function listPage<T extends ListTable, V>(
  db: Db,
  table: T,
  request: ListRequest,
  { where, sorts = {}, view }: { where: (SQL | undefined)[]; sorts?: Record<string, AnyColumn>; view: (row: T['$inferSelect']) => V },
): Promise<Page<V>> {
  const columns: Record<string, AnyColumn> = { created_at: table.createdAt, updated_at: table.updatedAt, ...sorts };
  const { rows, total } = await numberedPage(db, table, {
    where: [...where, ...inRange(table.createdAt, request.created_at), ...inRange(table.updatedAt, request.updated_at)],
    sort: columns[request.sort_key]!,
    descending: request.sort_descending,
    pageNumber: request.page_number,
    pageSize: request.page_size,
  });
  return { data: rows.map(view), page_number: request.page_number, page_size: request.page_size, total_objects: total };
}

/** Answers `GET /x`. */
export async function cursorPage<T extends PgTable & { id: AnyColumn }, V>(
  db: Db,
  table: T,
  request: { limit: number; cursor?: string },
  { where, view }: { where: (SQL | undefined)[]; view: (row: T['$inferSelect']) => V },
): Promise<CursorPage<V>> {
  const { rows, hasMore } = await keysetPage(db, table, { where, limit: request.limit, before: decodeCursor(request.cursor) });
  const last = rows[rows.length - 1] as { id: string } | undefined;
  return { data: rows.map(view), has_more: hasMore, next_cursor: hasMore && last ? encodeCursor(last.id) : null };
}

/** What a row's object shows of other rows is read by `views`, at the moment of the page. */
interface Composed<T extends PgTable, V> {
  where: (SQL | undefined)[];
  views: (db: Db, rows: T['$inferSelect'][]) => Promise<V[]>;
}

/** `listPage` of objects that show more than their own row. */
export function composedList<T extends ListTable, V>(
  db: Db,
  table: T,
  request: ListRequest,
  { views, ...options }: Composed<T, V> & { sorts?: Record<string, AnyColumn> },
): Promise<Page<V>> {
  return snapshot(db, async (at) => {
    const page = await listPage(at, table, request, { ...options, view: (row) => row });
    return { ...page, data: await views(at, page.data) };
  });
}

/** `cursorPage` of objects that show more than their own row. */
export function composedPage<T extends PgTable & { id: AnyColumn }, V>(
  db: Db,
  table: T,
  request: { limit: number; cursor?: string },
  { where, views }: Composed<T, V>,
): Promise<CursorPage<V>> {
  return snapshot(db, async (at) => {
    const page = await cursorPage(at, table, request, { where, view: (row) => row });
    return { ...page, data: await views(at, page.data) };
  });
}
