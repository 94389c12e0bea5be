import { and, eq, inArray, like, or, sql, type SQL } from 'drizzle-orm';
import type { Db } from './client.js';
import { inRange, numberedPage, type RangeFilter } from './list.queries.js';
import { events, webhookDeliveries, type EventRow } from './schema/index.js';

export async function findEvent(db: Db, accountId: string, id: string): Promise<EventRow | undefined> {
  const [row] = await db.select().from(events).where(and(eq(events.accountId, accountId), eq(events.id, id)));
  return row;
}

export interface EventFilter {
  objectId?: string;
  /** Exact types and prefixes (`x.*`); `*` and `all` are everything. */
  types?: readonly string[] | null;
  createdAt?: RangeFilter<Date> | null;
  /** Events never change: the same instant, another filter. */
  updatedAt?: RangeFilter<Date> | null;
  /** True: every delivery arrived (and there is one). False: at least one did not. */
  deliverySuccess?: boolean | null;
}

export async function pageOfEvents(
  db: Db,
  accountId: string,
  { filter, ...page }: { filter: EventFilter; descending: boolean; pageNumber: number; pageSize: number },
): Promise<{ rows: EventRow[]; total: number }> {
  return numberedPage(db, events, { ...page, where: [eq(events.accountId, accountId), ...conditions(filter)], sort: events.createdAt });
}

function conditions({ objectId, types, createdAt, updatedAt, deliverySuccess }: EventFilter): (SQL | undefined)[] {
  return [
    objectId === undefined ? undefined : eq(events.objectId, objectId),
    types ? ofTypes(types) : undefined,
    ...inRange(events.createdAt, createdAt),
    ...inRange(events.createdAt, updatedAt),
    deliverySuccess === true ? and(hasDelivery(), sql`not ${hasDelivery(sql`d.status <> 'delivered'`)}`) : undefined,
    deliverySuccess === false ? hasDelivery(sql`d.status <> 'delivered'`) : undefined,
  ];
}

function ofTypes(types: readonly string[]): SQL | undefined {
  if (types.length === 0 || types.includes('*') || types.includes('all')) return undefined;
  const prefixes = types.filter((type) => type.endsWith('.*')).map((type) => like(events.type, `${type.slice(0, -1).replaceAll('_', '\\_')}%`));
  return or(inArray(events.type, types.filter((type) => !type.endsWith('.*'))), ...prefixes);
}

function hasDelivery(condition: SQL = sql`true`): SQL {
  return sql`exists (select 1 from ${webhookDeliveries} d where d.event_id = ${events.id} and ${condition})`;
}
