import { Injectable } from '@nestjs/common';
import { and, eq, isNull, type SQL } from 'drizzle-orm';
import type { Db } from '../../../../libs/db/client.js';
import { snapshot } from '../../../../libs/db/snapshot.js';
import { transact } from '../../../../libs/db/change.js';
import { hashLinkToken, isLinkToken, mintLinkToken, openLinkToken, sealLinkToken } from '../../../../libs/db/payment-link-token.js';
import { findPaymentLink, findPaymentLinkByToken, readLinkOffer, readLinkParts } from '../../../../libs/db/payment-link.queries.js';
import { createPaymentLink, updatePaymentLink, type PaymentLinkPatch } from '../../../../libs/db/payment-link.writes.js';
import { paymentLinks, type PaymentLinkRow } from '../../../../libs/db/schema/index.js';
import { invalidField, notFound } from '../../../../libs/errors/domain-error.js';
import { paymentLinkView, publicPaymentLinkView, withPage, type PaymentLinkView } from '../../../../libs/views/payment-link.view.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { composedList, composedPage } from '../kernel/lists.js';
import type { CreatePaymentLinkBody, ListPaymentLinksBody, PaymentLinksQuery, UpdatePaymentLinkBody } from './payment-links.dto.js';

@Injectable()
export class PaymentLinksService {
  constructor(private readonly infrastructure: Infrastructure) {}

  async create(caller: Caller, body: CreatePaymentLinkBody): Promise<PaymentLinkView> {
    const { db, config, secrets } = this.infrastructure;
    this.refusePlainHttp(body.success_url);
    const id = caller.objectId();
    const token = mintLinkToken();
    const values = {
      id,
      tokenHash: hashLinkToken(token, config.tokenKey),
      tokenSealed: sealLinkToken(secrets, id, token),
      customerId: body.customer_id ? bodyId('customer_id', 'cus', body.customer_id, caller) : null,
      alwaysCreateNewCustomer: body.always_create_new_customer,
      paymentRouteId: body.payment_route_id ? bodyId('payment_route_id', 'route', body.payment_route_id, caller) : null,
      successUrl: body.success_url,
      checkoutPreferences: null,
      customFields: body.custom_fields ?? null,
      metadata: body.metadata ?? null,
      items: body.line_items.map((item, index) => ({
        priceId: bodyId(`line_items.${index}.price_id`, 'price', item.price_id, caller),
        quantity: item.quantity,
        description: item.description ?? null,
        customFields: item.custom_fields ?? null,
      })),
    };
    await transact(db, caller.change(), (tx) => createPaymentLink(tx, caller.change(), values));
    return this.read(caller, id);
  }

  async get(caller: Caller, id: string): Promise<PaymentLinkView> {
    return this.read(caller, pathId('plink', id, caller));
  }

  async update(caller: Caller, id: string, body: UpdatePaymentLinkBody): Promise<PaymentLinkView> {
    const linkId = pathId('plink', id, caller);
    this.refusePlainHttp(body.success_url);
    const patch: PaymentLinkPatch = {
      ...(body.active === undefined ? {} : { active: body.active }),
      ...(body.success_url === undefined ? {} : { successUrl: body.success_url }),
      ...(body.always_create_new_customer === undefined ? {} : { alwaysCreateNewCustomer: body.always_create_new_customer }),
      ...(body.payment_route_id === undefined ? {} : { paymentRouteId: this.routeId(caller, body.payment_route_id) }),
      ...(body.custom_fields === undefined ? {} : { customFields: body.custom_fields }),
      ...(body.metadata === undefined ? {} : { metadata: body.metadata }),
    };
    await transact(this.infrastructure.db, caller.change(), (tx) => updatePaymentLink(tx, caller.change(), { id: linkId, patch }));
    return this.read(caller, linkId);
  }

  async list(caller: Caller, body: ListPaymentLinksBody) {
    return composedList(this.infrastructure.db, paymentLinks, body, { where: ofAccount(caller), views: (db, rows) => this.shown(db, rows) });
  }

  async page(caller: Caller, query: PaymentLinksQuery) {
    const where = [...ofAccount(caller), ...(query.active === undefined ? [] : [eq(paymentLinks.active, query.active)])];
    return composedPage(this.infrastructure.db, paymentLinks, query, { where, views: (db, rows) => this.shown(db, rows) });
  }

  /** What anybody with the token may see. */
  async getPublic(token: string) {
    const { db, config } = this.infrastructure;
    const { link, offer } = await snapshot(db, async (at) => {
      const row = isLinkToken(token) ? await findPaymentLinkByToken(at, hashLinkToken(token, config.tokenKey)) : null;
      if (!row) throw notFound('payment link');
      return { link: row, offer: await readLinkOffer(at, row) };
    });
    const lines = offer.lines.map(({ item, name, unitAmountAtom, amountAtom }) =>
      ({ name, description: item.description, quantity: item.quantity, unitAmountAtom, amountAtom }));
    const amountAtom = lines.reduce((sum, line) => sum + line.amountAtom, 0);
    const shown = { active: link.active && offer.amountAtom !== null, mode: link.mode, accountName: offer.accountName, currency: link.currency ?? '' };
    return publicPaymentLinkView({ ...shown, amountAtom, lines, asksPayer: link.customerId === null }, { token, publicUrl: config.publicUrl });
  }

  private async read(caller: Caller, id: string): Promise<PaymentLinkView> {
    return snapshot(this.infrastructure.db, async (db) => {
      const row = await findPaymentLink(db, caller.accountId, id);
      if (!row) throw notFound('payment link');
      return (await this.shown(db, [row]))[0]!;
    });
  }

  private async shown(db: Db, rows: PaymentLinkRow[]): Promise<PaymentLinkView[]> {
    const { config, environment, secrets } = this.infrastructure;
    const parts = await readLinkParts(db, rows);
    return rows.map((row) =>
      withPage(paymentLinkView(row, parts.get(row.id)!, environment), { token: openLinkToken(secrets, row), publicUrl: config.publicUrl }));
  }

  private routeId(caller: Caller, id: string | null): string | null {
    return id === null ? null : bodyId('payment_route_id', 'route', id, caller);
  }

  private refusePlainHttp(url: string | null | undefined): void {
    if (this.infrastructure.environment === 'production' && url && !url.toLowerCase().startsWith('https:')) {
      throw invalidField('success_url', 'Production leads to https addresses only');
    }
  }
}

function ofAccount(caller: Caller): SQL[] {
  return [and(eq(paymentLinks.accountId, caller.accountId), isNull(paymentLinks.deletedAt))!];
}
