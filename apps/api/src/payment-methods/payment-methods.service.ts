import { Injectable } from '@nestjs/common';
import { eq, type SQL } from 'drizzle-orm';
import { snapshot } from '../../../../libs/db/snapshot.js';
import { transact } from '../../../../libs/db/change.js';
import { equals } from '../../../../libs/db/list.queries.js';
import { customerExists, findPaymentMethod, shownMethods, viewMethod, viewMethods } from '../../../../libs/db/payment-method.queries.js';
import { attachPaymentMethod, detachPaymentMethod, importMapping } from '../../../../libs/db/payment-method.writes.js';
import { paymentMethods } from '../../../../libs/db/schema/index.js';
import { notFound } from '../../../../libs/errors/domain-error.js';
import { tokenisePaymentMethod, type NewPaymentMethod } from '../../../../libs/payments/tokenise.js';
import { authorisePaymentMethod } from '../../../../libs/payments/verify-method.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { composedList, composedPage } from '../kernel/lists.js';
import { Payments } from '../kernel/payments.js';
import type {
  AttachPaymentMethodBody, AuthorizePaymentMethodBody, CreatePaymentMethodBody, ImportMappingBody, ListCustomerPaymentMethodsBody,
  ListPaymentMethodsBody, PaymentMethodsQuery,
} from './payment-methods.dto.js';

@Injectable()
export class PaymentMethodsService {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly payments: Payments,
  ) {}

  async create(caller: Caller, body: CreatePaymentMethodBody) {
    return tokenisePaymentMethod(this.payments.deps, caller.change(), {
      id: caller.objectId(),
      source: sourceOf(caller, body),
      displayName: body.display_name ?? null,
      billingAddress: body.billing_address ?? null,
      customFields: body.custom_fields ?? null,
      metadata: body.metadata ?? null,
    });
  }

  async get(caller: Caller, publicId: string) {
    const methodId = pathId('pm', publicId, caller);
    return snapshot(this.infrastructure.db, async (db) => {
      const row = await findPaymentMethod(db, caller.accountId, methodId);
      if (!row) throw notFound('payment method');
      return viewMethod(db, row, caller.environment);
    });
  }

  async authorize(caller: Caller, body: AuthorizePaymentMethodBody) {
    const id = bodyId('payment_method_id', 'pm', body.payment_method_id, caller);
    const asked = { id, amountAtom: body.authorize_amount_atom, currency: body.currency };
    return authorisePaymentMethod(this.payments.deps, caller.change(), asked);
  }

  async attach(caller: Caller, publicId: string, body: AttachPaymentMethodBody) {
    const id = pathId('pm', publicId, caller);
    const customerId = bodyId('customer_id', 'cus', body.customer_id, caller);
    return transact(this.infrastructure.db, caller.change(), (tx) => attachPaymentMethod(tx, caller.change(), { id, customerId }));
  }

  async detach(caller: Caller, publicId: string) {
    const id = pathId('pm', publicId, caller);
    return transact(this.infrastructure.db, caller.change(), (tx) => detachPaymentMethod(tx, caller.change(), id));
  }

  async importMapping(caller: Caller, publicId: string, body: ImportMappingBody) {
    const methodId = pathId('pm', publicId, caller);
    const processorId = bodyId('processor_id', 'processor', body.processor_id, caller);
    const mapping = {
      methodId,
      processorId,
      theirPaymentMethodId: body.their_payment_method_id,
      networkTransactionId: body.network_transaction_id ?? null,
      fingerprint: body.fingerprint ?? null,
    };
    return transact(this.infrastructure.db, caller.change(), (tx) => importMapping(tx, caller.change(), mapping));
  }

  async list(caller: Caller, body: ListPaymentMethodsBody) {
    return this.listWhere(caller, body, this.conditions(caller, body));
  }

  async listOfCustomer(caller: Caller, publicId: string, body: ListCustomerPaymentMethodsBody) {
    const customerId = pathId('cus', publicId, caller);
    if (!(await customerExists(this.infrastructure.db, caller.accountId, customerId))) throw notFound('customer');
    return this.listWhere(caller, body, [...this.conditions(caller, body), eq(paymentMethods.customerId, customerId)]);
  }

  async page(caller: Caller, query: PaymentMethodsQuery) {
    const { db } = this.infrastructure;
    return composedPage(db, paymentMethods, query, { where: this.conditions(caller, query), views: (at, rows) => viewMethods(at, rows, caller.environment) });
  }

  private async listWhere(caller: Caller, body: ListCustomerPaymentMethodsBody, where: (SQL | undefined)[]) {
    const { db } = this.infrastructure;
    return composedList(db, paymentMethods, body, { where, views: (at, rows) => viewMethods(at, rows, caller.environment) });
  }

  private conditions(caller: Caller, filter: Pick<ListPaymentMethodsBody, 'customer_id' | 'status' | 'provider_type'>): (SQL | undefined)[] {
    const customerId = filter.customer_id ? bodyId('customer_id', 'cus', filter.customer_id, caller) : undefined;
    return [
      shownMethods(caller.accountId),
      ...equals(paymentMethods.customerId, customerId),
      ...equals(paymentMethods.status, filter.status),
      ...equals(paymentMethods.provider, filter.provider_type),
    ];
  }
}

function sourceOf(caller: Caller, body: CreatePaymentMethodBody): NewPaymentMethod['source'] {
  if (!body.card) return { processorId: bodyId('processor_id', 'processor', body.processor_id!, caller), token: body.token! };
  const { number, exp_month, exp_year, cvc } = body.card;
  return { card: { number: number.replace(/[\s-]/g, ''), expMonth: exp_month, expYear: exp_year, cvc } };
}
