import { Injectable } from '@nestjs/common';
import { eq, isNull } from 'drizzle-orm';
import type { Db } from '../../../../libs/db/client.js';
import { snapshot } from '../../../../libs/db/snapshot.js';
import { transact } from '../../../../libs/db/change.js';
import { findCustomer } from '../../../../libs/db/customer.queries.js';
import { routeOf, nameableProcessors, routeVersion, routeVersions, shownDocument } from '../../../../libs/db/route.queries.js';
import { createRoute, deleteRoute, documentOfVersion, publishRoute, updateRoute } from '../../../../libs/db/route.writes.js';
import { paymentRoutes, type PaymentRouteRow } from '../../../../libs/db/schema/index.js';
import { checkPublishable, checkRouteDocument, type RouteMistake } from '../../../../libs/domain/route/route.checks.js';
import type { RouteDocument } from '../../../../libs/domain/route/route.document.js';
import { DomainError, invalidField, notFound } from '../../../../libs/errors/domain-error.js';
import { evaluateRoute } from '../../../../libs/payments/evaluate-route.js';
import { publicId } from '../../../../libs/views/ids.js';
import { paymentRouteVersionView, paymentRouteView } from '../../../../libs/views/payment-route.view.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId, unknownReference } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { composedList, composedPage } from '../kernel/lists.js';
import { Payments } from '../kernel/payments.js';
import type {
  CreatePaymentRouteBody, EvaluatePaymentRouteBody, ListPaymentRoutesBody, PaymentRoutesQuery, UpdatePaymentRouteBody,
} from './payment-routes.dto.js';

@Injectable()
export class PaymentRoutesService {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly payments: Payments,
  ) {}

  async create(caller: Caller, body: CreatePaymentRouteBody) {
    await this.check(caller, body.route_configuration, body.draft);
    const change = caller.change();
    const wish = { id: caller.objectId(), name: body.name, document: body.route_configuration, execution: body.execution ?? null, draft: body.draft };
    return transact(this.infrastructure.db, change, (tx) => createRoute(tx, change, wish));
  }

  async update(caller: Caller, id: string, body: UpdatePaymentRouteBody) {
    const { name, execution, route_configuration: document, draft } = body;
    if (document) await this.check(caller, document, draft);
    const change = caller.change();
    const wish = { id: pathId('route', id, caller), name, execution, document, draft, mayPublish: caller.role === 'ADMIN' };
    return transact(this.infrastructure.db, change, (tx) => updateRoute(tx, change, wish));
  }

  /** The version is checked again: a connection that it names may be gone. */
  async publish(caller: Caller, id: string, number: number) {
    const change = caller.change();
    const wish = { id: pathId('route', id, caller), number };
    const known = await this.known(caller);
    return transact(this.infrastructure.db, change, async (tx) => {
      const document = await documentOfVersion(tx, change, wish);
      if (document) refuse([...checkRouteDocument(document, known), ...checkPublishable(document)], ['version']);
      return publishRoute(tx, change, wish);
    });
  }

  async delete(caller: Caller, id: string) {
    const change = caller.change();
    const uuid = pathId('route', id, caller);
    await transact(this.infrastructure.db, change, (tx) => deleteRoute(tx, change, uuid));
    return { message: 'Payment route deleted.', payment_route_id: publicId('route', caller.environment, uuid) };
  }

  async get(caller: Caller, id: string) {
    return snapshot(this.infrastructure.db, async (db) => {
      const [view] = await this.views(db, caller, [await this.require(caller, id, db)]);
      return view!;
    });
  }

  async versions(caller: Caller, id: string) {
    return snapshot(this.infrastructure.db, async (db) => {
      const route = await this.require(caller, id, db);
      const rows = await routeVersions(db, route.id);
      return { data: rows.map((row) => paymentRouteVersionView(row, route.liveVersion)) };
    });
  }

  async list(caller: Caller, body: ListPaymentRoutesBody) {
    return composedList(this.infrastructure.db, paymentRoutes, body, {
      where: this.conditions(caller),
      sorts: { name: paymentRoutes.name },
      views: (db, rows) => this.views(db, caller, rows),
    });
  }

  async page(caller: Caller, query: PaymentRoutesQuery) {
    return composedPage(this.infrastructure.db, paymentRoutes, query, { where: this.conditions(caller), views: (db, rows) => this.views(db, caller, rows) });
  }

  /** What the route would do with such a payment. Changes nothing. */
  async evaluate(caller: Caller, id: string, body: EvaluatePaymentRouteBody) {
    const route = await this.require(caller, id);
    const number = body.version ?? route.liveVersion;
    const version = number === null ? null : await routeVersion(this.infrastructure.db, route.id, number);
    if (!version) throw invalidField('version', number === null ? 'the route has no live version; name one' : 'no such version');
    const { customer_id: customerId, ...payment } = body.payment;
    await this.checkCustomer(caller, customerId);
    const decision = await evaluateRoute(this.payments.deps, {
      accountId: caller.accountId,
      document: version.document as RouteDocument,
      paymentMethodId: body.payment_method_id ? bodyId('payment_method_id', 'pm', body.payment_method_id, caller) : null,
      facts: {
        payment_id: payment.payment_id ?? '',
        amount_atom: payment.amount_atom,
        currency: payment.currency,
        payment_method_kind: payment.payment_method_kind ?? null,
        card_brand: payment.card_brand ?? null,
        funding: payment.funding ?? null,
        bin: payment.bin ?? null,
        issuer_country: payment.issuer_country ?? null,
        billing_country: payment.billing_country ?? null,
        initiator: payment.initiator,
        subscription_payment: payment.subscription_payment ?? null,
        customer_id: customerId ?? null,
        metadata: payment.metadata ?? null,
        custom_fields: payment.custom_fields ?? null,
      },
    });
    return { route_id: publicId('route', caller.environment, route.id), version: version.number, ...decision };
  }

  private async checkCustomer(caller: Caller, customerId: string | null | undefined): Promise<void> {
    if (!customerId) return;
    const field = 'payment.customer_id';
    const found = await findCustomer(this.infrastructure.db, caller.accountId, bodyId(field, 'cus', customerId, caller));
    if (!found) throw unknownReference(field, 'cus');
  }

  private async check(caller: Caller, document: RouteDocument, draft: boolean): Promise<void> {
    if (!draft && caller.role !== 'ADMIN') throw new DomainError('role_too_small', 'Publishing a route needs the role ADMIN; send draft: true.');
    const mistakes = checkRouteDocument(document, await this.known(caller));
    refuse([...mistakes, ...(draft ? [] : checkPublishable(document))], ['route_configuration']);
  }

  private async known(caller: Caller): Promise<Set<string>> {
    const ids = await nameableProcessors(this.infrastructure.db, caller.accountId);
    return new Set(ids.map((id) => publicId('processor', caller.environment, id)));
  }

  private async require(caller: Caller, id: string, db = this.infrastructure.db): Promise<PaymentRouteRow> {
    const route = await routeOf(db, caller.accountId, pathId('route', id, caller));
    if (!route) throw notFound('payment route');
    return route;
  }

  private async views(db: Db, caller: Caller, rows: PaymentRouteRow[]) {
    const views = [];
    for (const row of rows) views.push(paymentRouteView(row, await shownDocument(db, row), caller.environment));
    return views;
  }

  private conditions(caller: Caller) {
    return [eq(paymentRoutes.accountId, caller.accountId), isNull(paymentRoutes.deletedAt)];
  }
}

function refuse(mistakes: RouteMistake[], root: string[]): void {
  const [first] = mistakes;
  if (!first) return;
  throw new DomainError('invalid_request', `${[...root, ...first.path].join('.')}: ${first.message}`, {
    errors: mistakes.slice(0, 50).map(({ path, message }) => ({ loc: ['body', ...root, ...path], msg: message, type: 'value_error' })),
  });
}
