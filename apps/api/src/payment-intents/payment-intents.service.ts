import { Injectable } from '@nestjs/common';
import { eq, type SQL } from 'drizzle-orm';
import { LRUCache } from 'lru-cache';
import type { Db } from '../../../../libs/db/client.js';
import { snapshot } from '../../../../libs/db/snapshot.js';
import { transact } from '../../../../libs/db/change.js';
import { equals, inRange, matching } from '../../../../libs/db/list.queries.js';
import { chargesOfIntent, intentOf, intentParts, operationOfCommand, processorNames } from '../../../../libs/db/payment.queries.js';
import { referencesAndContext, referencesOf } from '../../../../libs/db/payment-references.queries.js';
import { paymentIntents, type PaymentIntentRow } from '../../../../libs/db/schema/index.js';
import type { Execution } from '../../../../libs/domain/payment/payment-status.js';
import { DomainError, notFound } from '../../../../libs/errors/domain-error.js';
import type { ErrorCode } from '../../../../libs/errors/catalogue.js';
import { cancelIntentByHand } from '../../../../libs/payments/cancel-intent.js';
import { captureIntent } from '../../../../libs/payments/capture-intent.js';
import { confirmIntent } from '../../../../libs/payments/confirm-intent.js';
import { assertUsable, createIntent, createIntentAtOnce, type NewIntent } from '../../../../libs/payments/create-intent.js';
import { describeIntent } from '../../../../libs/payments/describe-intent.js';
import { explainPayment } from '../../../../libs/views/payment-decision.view.js';
import { publicId } from '../../../../libs/views/ids.js';
import { paymentIntentView } from '../../../../libs/views/payment-intent.view.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId, unknownReference } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { composedList, composedPage } from '../kernel/lists.js';
import type {
  CapturePaymentIntentBody, ConfirmPaymentIntentBody, CreatePaymentIntentBody, ListPaymentIntentsBody, PaymentIntentsQuery,
  UpdatePaymentIntentBody,
} from './payment-intents.dto.js';
import { SettlementsService } from './settlements.service.js';

@Injectable()
export class PaymentIntentsService {
  /** By account and route, as last read: only a guess at what is worth reading with the references. */
  private readonly executions = new LRUCache<string, Execution>({ max: 10_000 });

  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly settlements: SettlementsService,
  ) {}

  async create(caller: Caller, body: CreatePaymentIntentBody) {
    const { db } = this.infrastructure;
    const named = {
      customerId: bodyId('customer_id', 'cus', body.customer_id, caller),
      paymentMethodId: body.payment_method_id ? bodyId('payment_method_id', 'pm', body.payment_method_id, caller) : null,
      paymentRouteId: body.payment_route_id ? bodyId('payment_route_id', 'route', body.payment_route_id, caller) : null,
    };
    const change = caller.change();
    const routed = `${caller.accountId} ${named.paymentRouteId ?? ''}`;
    const mayBeInline = body.confirm && (body.execution ?? this.executions.get(routed)) !== 'workflow';
    const { known, context } = mayBeInline
      ? await referencesAndContext(db, caller.accountId, named, new Date())
      : { known: await referencesOf(db, caller.accountId, named), context: null };
    this.executions.set(routed, known.execution);
    if (!known.customer) throw unknownReference('customer_id', 'cus');
    if (named.paymentRouteId && !known.route) throw unknownReference('payment_route_id', 'route');
    if (named.paymentMethodId) assertUsable(known.method, named);
    const wish: NewIntent & { invoiceId: null } = {
      invoiceId: null,
      id: caller.objectId(),
      ...named,
      amountAtom: body.amount_atom,
      currency: body.currency,
      captureMethod: body.capture_method,
      offSession: body.off_session,
      confirm: body.confirm,
      execution: body.execution ?? known.execution,
      returnUrl: body.return_url ?? null,
      description: body.description ?? null,
      customFields: body.custom_fields ?? null,
      metadata: body.metadata ?? null,
    };
    const paid = context && wish.execution === 'inline' ? await this.settlements.payInline(caller, change, { input: wish, context }) : null;
    if (paid) return paid;
    const intent = (await createIntentAtOnce(db, change, wish)) ?? (await transact(db, change, (tx) => createIntent(tx, change, wish)));
    if (!body.confirm) return this.settlements.show(caller, intent.id);
    if (!intent.settled) await this.settlements.settle(intent, change);
    return this.settlements.answer(caller, intent.id);
  }

  async confirm(caller: Caller, id: string, body: ConfirmPaymentIntentBody) {
    const change = caller.change();
    const wanted = {
      intentId: pathId('pi', id, caller),
      paymentMethodId: body.payment_method_id ? bodyId('payment_method_id', 'pm', body.payment_method_id, caller) : null,
      returnUrl: body.return_url,
    };
    const intent = await transact(this.infrastructure.db, change, (tx) => confirmIntent(tx, change, wanted));
    await this.settlements.settle(intent, change);
    return this.settlements.answer(caller, intent.id);
  }

  /** A refused capture is 402; the intent can be captured again. */
  async capture(caller: Caller, id: string, body: CapturePaymentIntentBody) {
    const { db } = this.infrastructure;
    const change = caller.change();
    const wanted = { intentId: pathId('pi', id, caller), amountAtom: body.amount_atom ?? null };
    const { intent } = await transact(db, change, (tx) => captureIntent(tx, change, wanted));
    await this.settlements.settle(intent, change);
    const operation = await operationOfCommand(db, intent.id, change.commandId);
    if (operation?.status === 'pending') caller.leaveOpen();
    if (operation?.status === 'failed') throw this.refused(intent, operation.failureCode, operation.failureMessage);
    return this.settlements.show(caller, intent.id);
  }

  /** `canceled` only after the processor confirmed; until then the intent is shown as it is. */
  async cancel(caller: Caller, id: string) {
    const { db } = this.infrastructure;
    const change = caller.change();
    const { intent, advance } = await transact(db, change, (tx) => cancelIntentByHand(tx, change, { intentId: pathId('pi', id, caller) }));
    if (advance) {
      await this.settlements.settle(intent, change);
      const operation = await operationOfCommand(db, intent.id, change.commandId);
      if (operation?.status === 'pending') caller.leaveOpen();
      if (operation?.status === 'failed') throw new DomainError('conflict', `The processor refused to cancel: ${operation.failureMessage}.`);
    }
    return this.settlements.show(caller, intent.id);
  }

  async update(caller: Caller, id: string, body: UpdatePaymentIntentBody) {
    const change = caller.change();
    const wanted = { intentId: pathId('pi', id, caller), customFields: body.custom_fields, metadata: body.metadata, description: body.description };
    return transact(this.infrastructure.db, change, (tx) => describeIntent(tx, change, wanted));
  }

  async get(caller: Caller, id: string) {
    return this.settlements.show(caller, pathId('pi', id, caller));
  }

  /** Why the payment went where it went, attempt by attempt. */
  async decisions(caller: Caller, id: string) {
    const intentId = pathId('pi', id, caller);
    return snapshot(this.infrastructure.db, async (db) => {
      const intent = await intentOf(db, caller.accountId, intentId);
      if (!intent) throw notFound('payment intent');
      const charges = await chargesOfIntent(db, intent.id);
      const names = await processorNames(db, charges.map((charge) => charge.processorId));
      return explainPayment(intent, charges, { names, environment: caller.environment });
    });
  }

  async list(caller: Caller, body: ListPaymentIntentsBody) {
    return composedList(this.infrastructure.db, paymentIntents, body, {
      where: [
        ...this.conditions(caller, body),
        ...inRange(paymentIntents.amountAtom, body.amount_atom),
        ...matching(paymentIntents.reference, body.search),
      ],
      sorts: { amount_atom: paymentIntents.amountAtom, status: paymentIntents.status },
      views: (db, rows) => this.views(db, rows),
    });
  }

  async page(caller: Caller, query: PaymentIntentsQuery) {
    return composedPage(this.infrastructure.db, paymentIntents, query, { where: this.conditions(caller, query), views: (db, rows) => this.views(db, rows) });
  }

  private async views(db: Db, rows: PaymentIntentRow[]) {
    const parts = await intentParts(db, rows.map((row) => row.id));
    return rows.map((row) => paymentIntentView(row, parts.get(row.id)!, this.infrastructure.environment));
  }

  private conditions(
    caller: Caller,
    filter: Pick<ListPaymentIntentsBody, 'customer_id' | 'invoice_id' | 'payment_method_id' | 'status'>,
  ): (SQL | undefined)[] {
    const id = (field: string, kind: 'cus' | 'inv' | 'pm', value: string | null | undefined) => (value ? bodyId(field, kind, value, caller) : undefined);
    return [
      eq(paymentIntents.accountId, caller.accountId),
      ...equals(paymentIntents.customerId, id('customer_id', 'cus', filter.customer_id)),
      ...equals(paymentIntents.invoiceId, id('invoice_id', 'inv', filter.invoice_id)),
      ...equals(paymentIntents.paymentMethodId, id('payment_method_id', 'pm', filter.payment_method_id)),
      ...equals(paymentIntents.status, filter.status),
    ];
  }

  private refused(intent: PaymentIntentRow, code: string | null, message: string | null): DomainError {
    return new DomainError((code ?? 'generic_decline') as ErrorCode, message ?? undefined, {
      extra: {
        payment_intent_id: publicId('pi', this.infrastructure.environment, intent.id),
        ...(intent.lastChargeId ? { charge_id: publicId('ch', this.infrastructure.environment, intent.lastChargeId) } : {}),
      },
    });
  }
}
