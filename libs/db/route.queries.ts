import { and, count, desc, eq, isNotNull, isNull } from 'drizzle-orm';
import type { Db, Tx } from './client.js';
import { paymentProcessors, paymentRoutes, paymentRouteVersions, type PaymentRouteRow, type PaymentRouteVersionRow } from './schema/index.js';

/** Null for a deleted one too. */
export async function routeOf(db: Db | Tx, accountId: string, id: string): Promise<PaymentRouteRow | null> {
  const [row] = await db
    .select()
    .from(paymentRoutes)
    .where(and(eq(paymentRoutes.id, id), eq(paymentRoutes.accountId, accountId), isNull(paymentRoutes.deletedAt)));
  return row ?? null;
}

/** With its row lock. */
export async function lockRoute(tx: Tx, accountId: string, id: string): Promise<PaymentRouteRow | null> {
  const [row] = await tx
    .select()
    .from(paymentRoutes)
    .where(and(eq(paymentRoutes.id, id), eq(paymentRoutes.accountId, accountId), isNull(paymentRoutes.deletedAt)))
    .for('update');
  return row ?? null;
}

export async function routeVersion(db: Db | Tx, routeId: string, number: number): Promise<PaymentRouteVersionRow | null> {
  const [row] = await db
    .select()
    .from(paymentRouteVersions)
    .where(and(eq(paymentRouteVersions.routeId, routeId), eq(paymentRouteVersions.number, number)));
  return row ?? null;
}

/** Newest first. */
export async function routeVersions(db: Db, routeId: string): Promise<PaymentRouteVersionRow[]> {
  return db.select().from(paymentRouteVersions).where(eq(paymentRouteVersions.routeId, routeId)).orderBy(desc(paymentRouteVersions.number));
}

/** The document that a route shows: its live version's, before the first publication its latest draft's. */
export async function shownDocument(db: Db | Tx, route: PaymentRouteRow): Promise<unknown> {
  return (await routeVersion(db, route.id, route.liveVersion ?? route.latestVersion))?.document ?? {};
}

/** Connections that a route may name: the account's, not deleted. UUIDs. */
export async function nameableProcessors(db: Db | Tx, accountId: string): Promise<string[]> {
  const rows = await db
    .select({ id: paymentProcessors.id })
    .from(paymentProcessors)
    .where(and(eq(paymentProcessors.accountId, accountId), isNull(paymentProcessors.deletedAt)));
  return rows.map((row) => row.id);
}

/** How many routes of the account decide now. */
export async function liveRoutes(db: Db, accountId: string): Promise<number> {
  const [row] = await db
    .select({ live: count() })
    .from(paymentRoutes)
    .where(and(eq(paymentRoutes.accountId, accountId), isNotNull(paymentRoutes.liveVersion), isNull(paymentRoutes.deletedAt)));
  return row?.live ?? 0;
}
