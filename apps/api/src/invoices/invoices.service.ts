import { Injectable } from '@nestjs/common';
import { eq, type SQL } from 'drizzle-orm';
import type { Db } from '../../../../libs/db/client.js';
import { snapshot } from '../../../../libs/db/snapshot.js';
import { findCommand, oncePerCommand } from '../../../../libs/db/command.writes.js';
import { transact } from '../../../../libs/db/change.js';
import { findInvoice, invoiceViews } from '../../../../libs/db/invoice.queries.js';
import { equals, inRange, matching } from '../../../../libs/db/list.queries.js';
import { commentInvoice } from '../../../../libs/db/manual-invoice.writes.js';
import { intentOf } from '../../../../libs/db/payment.queries.js';
import { onceIfKeyed } from '../../../../libs/db/record.writes.js';
import { invoices, type InvoiceRow, type PaymentIntentRow } from '../../../../libs/db/schema/index.js';
import { nowOf } from '../../../../libs/db/test-clock.queries.js';
import { assertAttached } from '../../../../libs/db/subscription-prices.queries.js';
import { findSubscription } from '../../../../libs/db/subscription.queries.js';
import type { Change } from '../../../../libs/domain/change/change.js';
import { DomainError, notFound } from '../../../../libs/errors/domain-error.js';
import { closeInvoiceByHand, payInvoice, payInvoiceOutOfBand } from '../../../../libs/payments/pay-invoice.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { composedList, composedPage } from '../kernel/lists.js';
import { declined, SettlementsService } from '../payment-intents/settlements.service.js';
import { SubscriptionPreviewsService } from '../subscriptions/subscription-previews.service.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import type { InvoicesQuery, ListInvoicesBody, PayInvoiceBody } from './invoices.dto.js';

@Injectable()
export class InvoicesService {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly settlements: SettlementsService,
    private readonly subscriptions: SubscriptionsService,
    private readonly previews: SubscriptionPreviewsService,
  ) {}

  async get(caller: Caller, id: string) {
    const invoiceId = pathId('inv', id, caller);
    return snapshot(this.infrastructure.db, async (db) => {
      const row = await findInvoice(db, caller.accountId, invoiceId);
      if (!row) throw notFound('invoice');
      return (await this.views(db, [row]))[0]!;
    });
  }

  async list(caller: Caller, body: ListInvoicesBody) {
    return composedList(this.infrastructure.db, invoices, body, {
      where: [
        ...this.conditions(caller, body),
        ...equals(invoices.billingReason, body.billing_reason),
        ...equals(invoices.collectionMethod, body.collection_method),
        ...equals(invoices.currency, body.currency),
        ...inRange(invoices.periodStart, body.period_start),
        ...inRange(invoices.periodEnd, body.period_end),
        ...inRange(invoices.totalAtom, body.total_amount_atom),
        ...matching(invoices.description, body.search),
      ],
      sorts: { period_start: invoices.periodStart, period_end: invoices.periodEnd, total_amount_atom: invoices.totalAtom },
      views: (db, rows) => this.views(db, rows),
    });
  }

  async browse(caller: Caller, query: InvoicesQuery) {
    return composedPage(this.infrastructure.db, invoices, query, { where: this.conditions(caller, query), views: (db, rows) => this.views(db, rows) });
  }

  /** What the end of the current trial or period will bill. @throws DomainError 409 where nothing follows. */
  async previewNext(caller: Caller, subscription: string) {
    const subscriptionId = pathId('sub', subscription, caller);
    const invoice = await snapshot(this.infrastructure.db, async (db) => {
      const row = await findSubscription(db, caller.accountId, subscriptionId);
      if (!row) throw notFound('subscription');
      return this.previews.nextInvoice(db, row);
    });
    if (!invoice) throw new DomainError('conflict', 'No invoice follows: the subscription is paused, cancelled, or set to end or pause at its period\'s end.');
    return invoice;
  }

  async pay(caller: Caller, id: string, body: PayInvoiceBody) {
    const invoice = await this.find(caller, id);
    const change = caller.change();
    const { db } = this.infrastructure;
    const now = await nowOf(db, invoice.customerId);
    const comment = body.comment ?? null;
    const step = { objectId: invoice.id, step: 'pay' };
    if (body.paid_out_of_band) {
      await transact(db, change, (tx) => onceIfKeyed(tx, change, step, async () => {
        await payInvoiceOutOfBand(tx, change, { invoiceId: invoice.id, now, comment });
      }));
      await this.tellSubscription(caller, invoice);
      return this.get(caller, id);
    }
    const paymentMethodId = body.payment_method_id ? bodyId('payment_method_id', 'pm', body.payment_method_id, caller) : null;
    if (paymentMethodId) await assertAttached(db, caller.accountId, { paymentMethodId, customerId: invoice.customerId });
    const { intentId } = await transact(db, change, (tx) => onceIfKeyed(tx, change, step, async () => {
      const intent = await payInvoice(tx, change, { invoiceId: invoice.id, paymentMethodId, now });
      if (comment) await commentInvoice(tx, change, { invoiceId: invoice.id, comment, now });
      return { intentId: intent.id };
    }));
    await this.settlements.settle((await intentOf(db, caller.accountId, intentId))!, change);
    const refused = body.void_on_failure ? await this.voidDeclined(change, { invoiceId: invoice.id, intentId, now }) : null;
    await this.tellSubscription(caller, invoice);
    if (refused) throw declined(refused, this.infrastructure);
    await this.settlements.answer(caller, intentId);
    return this.get(caller, id);
  }

  async close(caller: Caller, id: string, { as, comment }: { as: 'void' | 'uncollectible'; comment: string | null }) {
    const invoice = await this.find(caller, id);
    const change = caller.change();
    const now = await nowOf(this.infrastructure.db, invoice.customerId);
    await transact(this.infrastructure.db, change, (tx) => onceIfKeyed(tx, change, { objectId: invoice.id, step: as }, () =>
      closeInvoiceByHand(tx, change, { invoiceId: invoice.id, as, comment, now })));
    await this.tellSubscription(caller, invoice);
    return this.get(caller, id);
  }

  /** Once, and only where every attempt was refused; answers the payment that was. */
  private async voidDeclined(change: Change, { invoiceId, intentId, now }: { invoiceId: string; intentId: string; now: Date }): Promise<PaymentIntentRow | null> {
    const { db } = this.infrastructure;
    const step = { objectId: invoiceId, step: 'void_on_failure' };
    const intent = (await intentOf(db, change.accountId, intentId))!;
    if ((await findCommand(db, change.commandId, step)) !== undefined) return intent;
    if (intent.status !== 'requires_payment_method' || !intent.declineCode) return null;
    await transact(db, change, (tx) => oncePerCommand(tx, change, step, async () => {
      await closeInvoiceByHand(tx, change, { invoiceId, as: 'void', comment: null, now });
      return { voided: true };
    }));
    return intent;
  }

  async find(caller: Caller, id: string): Promise<InvoiceRow> {
    const row = await findInvoice(this.infrastructure.db, caller.accountId, pathId('inv', id, caller));
    if (!row) throw notFound('invoice');
    return row;
  }

  private views(db: Db, rows: InvoiceRow[]) {
    return invoiceViews(db, rows, this.infrastructure.environment, this.infrastructure.config);
  }

  /** The invoice is settled either way; a subscription that cannot be told now is told by the reconciler. */
  async tellSubscription(caller: Caller, invoice: InvoiceRow): Promise<void> {
    const { db, log } = this.infrastructure;
    const row = invoice.subscriptionId ? await findSubscription(db, caller.accountId, invoice.subscriptionId) : undefined;
    if (!row) return;
    await this.subscriptions.wake(caller, row).catch((err: unknown) => log.warn({ err, subscription_id: row.id }, 'subscription is told later'));
  }

  private conditions(caller: Caller, filter: Pick<ListInvoicesBody, 'customer_id' | 'subscription_id' | 'status'>): SQL[] {
    return [
      eq(invoices.accountId, caller.accountId),
      ...equals(invoices.customerId, filter.customer_id ? bodyId('customer_id', 'cus', filter.customer_id, caller) : undefined),
      ...equals(invoices.subscriptionId, filter.subscription_id ? bodyId('subscription_id', 'sub', filter.subscription_id, caller) : undefined),
      ...equals(invoices.status, filter.status),
    ];
  }
}
