import { Injectable } from '@nestjs/common';
import { transact } from '../../../../libs/db/change.js';
import type { HostedInvoice } from '../../../../libs/db/hosted-invoice.queries.js';
import { methodKept, methodsToKeep, wishToKeep } from '../../../../libs/db/kept-method.writes.js';
import { derivedId, newId } from '../../../../libs/db/mint.js';
import { beginAttempt, recordAttempt, settleAttempts, type AttemptOutcome, type AttemptStart } from '../../../../libs/db/payment-link-attempt.writes.js';
import { keyedHash } from '../../../../libs/db/payment-link-token.js';
import { attachPaymentMethod } from '../../../../libs/db/payment-method.writes.js';
import type { PaymentIntentRow, SubscriptionRow } from '../../../../libs/db/schema/index.js';
import type { Change } from '../../../../libs/domain/change/change.js';
import type { CardFormInput } from '../../../../libs/domain/payment-link/card-form.js';
import { DomainError } from '../../../../libs/errors/domain-error.js';
import { nextIntentId } from '../../../../libs/payments/invoice-payments.js';
import { payInvoice } from '../../../../libs/payments/pay-invoice.js';
import { tokenisePaymentMethod } from '../../../../libs/payments/tokenise.js';
import { publicId } from '../../../../libs/views/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { Payments } from '../kernel/payments.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import { LinkPaymentsService, networkOf, type TryResult } from './link-payments.service.js';

export interface InvoiceTry {
  hosted: HostedInvoice;
  tryNumber: number;
  card: CardFormInput;
  /** The customer wants the subscription to be paid with this card from now on. */
  keep: boolean;
  /** The visitor's address, and the request's id for events and logs. */
  address: string;
  requestId: string;
}

export type InvoiceTryResult = TryResult | { kind: 'repeated' } | { kind: 'limited'; retryAfterSeconds: number };

/** Payments of invoices by their customers: the invoice's one intent, counted before the card is used, as those of links are. */
@Injectable()
export class InvoicePaymentsService {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly payments: Payments,
    private readonly linkPayments: LinkPaymentsService,
    private readonly subscriptions: SubscriptionsService,
  ) {}

  /** The payment that a try belongs to, also before it begins. */
  intentIdOf({ invoice, intent }: HostedInvoice): string {
    return intent && intent.status !== 'canceled' ? intent.id : nextIntentId(invoice);
  }

  /** The caller has seen that the invoice can be paid and that this is its next try. */
  async pay(wish: InvoiceTry): Promise<InvoiceTryResult> {
    const change = this.changeOf(wish);
    const start = await this.begin(wish, change);
    if (start.kind !== 'begun') return start;
    const record = (outcome: AttemptOutcome) => transact(this.infrastructure.db, change, (tx) => recordAttempt(tx, start.id, outcome));
    const method = newId();
    let intent: PaymentIntentRow | null;
    try {
      const { number, expMonth, expYear, cvc } = wish.card;
      await tokenisePaymentMethod(this.payments.deps, change, { id: method, source: { card: { number, expMonth, expYear, cvc } } });
      intent = await this.ask(wish, change, { attemptId: start.id, methodId: method });
    } catch (error) {
      const declined = error instanceof DomainError && error.http === 402;
      await record(declined ? 'declined' : 'refused');
      if (declined) return { kind: 'declined', code: error.code };
      throw error;
    }
    if (!intent) {
      await record('refused');
      return { kind: 'repeated' };
    }
    const result = await this.linkPayments.settle(intent, change, record);
    await this.tellSubscription(wish, start.id);
    return result;
  }

  private begin({ hosted, ...wish }: InvoiceTry, change: Change): Promise<AttemptStart> {
    const { db, config } = this.infrastructure;
    const { invoice } = hosted;
    const now = new Date();
    const limits = {
      perLink: config.linkDeclinesToPause,
      perAddress: config.linkAttemptsPerAddress,
      perMethod: config.linkAttemptsPerMethod,
      declines: config.linkDeclinesToPause,
    };
    return transact(db, change, async (tx) => {
      await settleAttempts(tx, { paymentLinkId: invoice.id, now });
      const attempt = {
        accountId: invoice.accountId,
        paymentLinkId: invoice.id,
        addressHash: keyedHash(config.tokenKey, 'link visitor', networkOf(wish.address)),
        methodHash: keyedHash(config.tokenKey, 'link card', invoice.accountId, wish.card.number),
        paymentIntentId: this.intentIdOf(hosted),
        tryNumber: wish.tryNumber,
      };
      return beginAttempt(tx, attempt, { limits, now });
    });
  }

  /** Method, payment and the wish to keep the method in one transaction. Null if another payment of the invoice was first. */
  private async ask({ hosted: { invoice }, keep }: InvoiceTry, change: Change, { attemptId, methodId }: { attemptId: string; methodId: string }): Promise<PaymentIntentRow | null> {
    const { db, environment, config } = this.infrastructure;
    const returnUrl = (intentId: string) => `${config.publicUrl}/pay/return/${publicId('pi', environment, intentId)}`;
    try {
      return await transact(db, change, async (tx) => {
        await attachPaymentMethod(tx, change, { id: methodId, customerId: invoice.customerId });
        if (keep) await wishToKeep(tx, { attemptId, paymentMethodId: methodId });
        return payInvoice(tx, change, { invoiceId: invoice.id, paymentMethodId: methodId, now: new Date(), returnUrl });
      });
    } catch (error) {
      if (error instanceof DomainError && (error.code === 'payment_in_flight' || error.code === 'invalid_state_transition')) return null;
      throw error;
    }
  }

  /** The payment stands either way; what cannot be told now, the worker's loops tell. */
  private async tellSubscription({ hosted: { subscription }, requestId }: InvoiceTry, attemptId: string): Promise<void> {
    if (!subscription) return;
    await this.tell(subscription, { attemptId, requestId }).catch((err: unknown) =>
      this.infrastructure.log.warn({ err, subscription_id: subscription.id }, 'subscription is told later'));
  }

  private async tell(subscription: SubscriptionRow, { attemptId, requestId }: { attemptId: string; requestId: string }): Promise<void> {
    const { db, environment } = this.infrastructure;
    const [kept] = await methodsToKeep(db, environment, { attemptId, requestId });
    if (!kept) return this.subscriptions.wake(subscription, subscription);
    if (await this.subscriptions.keepMethod(kept)) await methodKept(db, attemptId);
  }

  private changeOf({ hosted, tryNumber, requestId }: InvoiceTry): Change {
    return { ...this.changeFor(hosted.invoice.accountId, requestId), commandId: derivedId('invoice page try', this.intentIdOf(hosted), tryNumber) };
  }

  private changeFor(accountId: string, requestId: string): Omit<Change, 'commandId'> {
    return { accountId, environment: this.infrastructure.environment, actor: 'system', requestId, idempotencyKey: null, clockTime: null };
  }
}
