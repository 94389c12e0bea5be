import { eq } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { RouteDocument } from '../domain/route/route.document.js';
import { DomainError, invalidField, notFound } from '../errors/domain-error.js';
import { paymentRouteView, type PaymentRouteView } from '../views/payment-route.view.js';
import type { Tx } from './client.js';
import { oncePerCommand } from './command.writes.js';
import { appendEvents, previousValues } from './event.writes.js';
import { newId } from './mint.js';
import { lockRoute, routeOf, routeVersion, shownDocument } from './route.queries.js';
import { paymentRoutes, paymentRouteVersions, type PaymentRouteRow } from './schema/index.js';

export interface RouteWish {
  id: string;
  name: string;
  document: RouteDocument;
  execution: PaymentRouteRow['execution'];
  /** Keep the version unpublished. */
  draft: boolean;
}

export async function createRoute(tx: Tx, change: Change, wish: RouteWish): Promise<PaymentRouteView> {
  const known = await routeOf(tx, change.accountId, wish.id);
  if (known) return paymentRouteView(known, await shownDocument(tx, known), change.environment);
  const at = new Date();
  const row: PaymentRouteRow = {
    id: wish.id,
    accountId: change.accountId,
    name: wish.name,
    execution: wish.execution,
    liveVersion: wish.draft ? null : 1,
    latestVersion: 1,
    deletedAt: null,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
  await tx.insert(paymentRoutes).values(row);
  await insertVersion(tx, change, { routeId: row.id, number: 1, document: wish.document, at });
  const view = paymentRouteView(row, wish.document, change.environment);
  await appendEvents(tx, change, [{ type: 'payment_route.created', kind: 'route', objectId: row.id, data: view, previous: null }]);
  return view;
}

export interface RouteUpdate {
  id: string;
  name?: string;
  execution?: PaymentRouteRow['execution'];
  /** Without one there is no new version. */
  document?: RouteDocument;
  draft: boolean;
  /** Whether the caller may touch what is live. */
  mayPublish: boolean;
}

/**
 * With a document a new version, live at once unless it is a draft. Name and execution belong to the route, not to a version.
 * @throws DomainError 404; 403 where one who may only draft changes them on a live route.
 */
export async function updateRoute(tx: Tx, change: Change, wish: RouteUpdate): Promise<PaymentRouteView> {
  return oncePerCommand(tx, change, { objectId: wish.id, step: 'update' }, async () => {
    const route = await requireRoute(tx, change, wish.id);
    const before = await viewOf(tx, change, route);
    const own = { name: wish.name ?? route.name, execution: wish.execution === undefined ? route.execution : wish.execution };
    const { document } = wish;
    const changes = own.name !== route.name || own.execution !== route.execution;
    if (changes && route.liveVersion !== null && !wish.mayPublish) {
      throw new DomainError('role_too_small', 'Changing the name or execution of a live route needs the role ADMIN.');
    }
    if (!changes && !document) return before;
    const at = new Date();
    if (!document) return changeRoute(tx, change, { route, before, set: own, at, event: 'payment_route.updated' });
    const number = route.latestVersion + 1;
    await insertVersion(tx, change, { routeId: route.id, number, document, at });
    const set = { ...own, latestVersion: number, liveVersion: wish.draft ? route.liveVersion : number };
    return changeRoute(tx, change, { route, before, set, at, event: 'payment_route.updated' });
  });
}

/** Makes a version the one that decides; an older one rolls back. Publishing the live one again changes nothing. */
export async function publishRoute(tx: Tx, change: Change, { id, number }: { id: string; number: number }): Promise<PaymentRouteView> {
  return oncePerCommand(tx, change, { objectId: id, step: 'publish' }, async () => {
    const route = await requireRoute(tx, change, id);
    if (number < 1 || number > route.latestVersion) throw invalidField('version', `the route has versions 1 to ${route.latestVersion}`);
    const before = await viewOf(tx, change, route);
    if (route.liveVersion === number) return before;
    return changeRoute(tx, change, { route, before, set: { liveVersion: number }, at: new Date(), event: 'payment_route.published' });
  });
}

export async function deleteRoute(tx: Tx, change: Change, id: string): Promise<void> {
  await oncePerCommand(tx, change, { objectId: id, step: 'delete' }, async () => {
    const route = await requireRoute(tx, change, id);
    const before = await viewOf(tx, change, route);
    const at = new Date();
    await changeRoute(tx, change, { route, before, set: { deletedAt: at }, at, event: 'payment_route.deleted' });
    return true;
  });
}

/** The document of a version, for its checks before publication. @throws DomainError 404. */
export async function documentOfVersion(tx: Tx, change: Change, { id, number }: { id: string; number: number }): Promise<RouteDocument | null> {
  await requireRoute(tx, change, id);
  return ((await routeVersion(tx, id, number))?.document as RouteDocument | undefined) ?? null;
}

async function requireRoute(tx: Tx, change: Change, id: string): Promise<PaymentRouteRow> {
  const route = await lockRoute(tx, change.accountId, id);
  if (!route) throw notFound('payment route');
  return route;
}

async function viewOf(tx: Tx, change: Change, route: PaymentRouteRow): Promise<PaymentRouteView> {
  return paymentRouteView(route, await shownDocument(tx, route), change.environment);
}

interface RouteChange {
  route: PaymentRouteRow;
  before: PaymentRouteView;
  set: Partial<PaymentRouteRow>;
  at: Date;
  event: string;
}

async function changeRoute(tx: Tx, change: Change, { route, before, set, at, event }: RouteChange): Promise<PaymentRouteView> {
  const [row] = await tx
    .update(paymentRoutes)
    .set({ ...set, version: route.version + 1, updatedAt: at })
    .where(eq(paymentRoutes.id, route.id))
    .returning();
  if (!row) throw new DomainError('version_conflict');
  const after = await viewOf(tx, change, row);
  await appendEvents(tx, change, [{ type: event, kind: 'route', objectId: route.id, data: after, previous: previousValues(before, after) }]);
  return after;
}

async function insertVersion(tx: Tx, change: Change, version: { routeId: string; number: number; document: RouteDocument; at: Date }): Promise<void> {
  await tx.insert(paymentRouteVersions).values({
    id: newId(),
    routeId: version.routeId,
    number: version.number,
    document: version.document,
    createdBy: change.actor,
    createdAt: version.at,
  });
}
