import { Injectable } from '@nestjs/common';
import type { HostedInvoice } from '../../../../libs/db/hosted-invoice.queries.js';
import { methodKept, methodsToKeep, wishToKeep } from '../../../../libs/db/kept-method.writes.js';
import { derivedId } from '../../../../libs/db/mint.js';
import { attachPaymentMethod } from '../../../../libs/db/payment-method.writes.js';
import type { SubscriptionRow } from '../../../../libs/db/schema/index.js';
import { nowOf } from '../../../../libs/db/test-clock.queries.js';
import type { LinkLimits } from '../../../../libs/domain/payment-link/attempt-limit.js';
import type { CardFormInput } from '../../../../libs/domain/payment-link/card-form.js';
import { nextIntentId } from '../../../../libs/payments/invoice-payments.js';
import { payInvoice } from '../../../../libs/payments/pay-invoice.js';
import { publicId } from '../../../../libs/views/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { SubscriptionsService } from '../subscriptions/subscriptions.service.js';
import { CardTriesService, type Attempted } from './card-tries.service.js';

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

/** Payments of invoices by their customers: the invoice's one intent, counted before the card is used, as those of links are. */
@Injectable()
export class InvoicePaymentsService {
  private readonly limits: LinkLimits;

  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly tries: CardTriesService,
    private readonly subscriptions: SubscriptionsService,
  ) {
    const { config } = infrastructure;
    this.limits = {
      perLink: config.linkDeclinesToPause,
      perAddress: config.linkAttemptsPerAddress,
      perMethod: config.linkAttemptsPerMethod,
      declines: config.linkDeclinesToPause,
    };
  }

  /** The payment that a try belongs to, also before it begins. */
  intentIdOf({ invoice, intent }: HostedInvoice): string {
    return intent && intent.status !== 'canceled' ? intent.id : nextIntentId(invoice);
  }

  /** The caller has seen that the invoice can be paid and that this is its next try. */
  async pay({ hosted, tryNumber, card, keep, address, requestId }: InvoiceTry): Promise<Attempted> {
    const { environment, config } = this.infrastructure;
    const { id: invoiceId, accountId, customerId } = hosted.invoice;
    const intentId = this.intentIdOf(hosted);
    const change = this.tries.changeFor(accountId, requestId, derivedId('invoice page try', intentId, tryNumber));
    const returnUrl = (id: string) => `${config.publicUrl}/pay/return/${publicId('pi', environment, id)}`;
    const result = await this.tries.attempt({
      accountId, ownerId: invoiceId, intentId, tryNumber, card, address, limits: this.limits, change,
      async ask(tx, { attemptId, methodId }) {
        await attachPaymentMethod(tx, change, { id: methodId, customerId });
        if (keep) await wishToKeep(tx, { attemptId, paymentMethodId: methodId });
        return payInvoice(tx, change, { invoiceId, paymentMethodId: methodId, now: await nowOf(tx, customerId), returnUrl });
      },
    });
    if (hosted.subscription && 'attemptId' in result && result.attemptId) await this.tellSubscription(hosted.subscription, { attemptId: result.attemptId, requestId });
    return result;
  }

  /** The payment stands either way; what cannot be told now, the worker's loops tell. */
  private async tellSubscription(subscription: SubscriptionRow, told: { attemptId: string; requestId: string }): Promise<void> {
    await this.tell(subscription, told).catch((err: unknown) =>
      this.infrastructure.log.warn({ err, subscription_id: subscription.id }, 'subscription is told later'));
  }

  private async tell(subscription: SubscriptionRow, { attemptId, requestId }: { attemptId: string; requestId: string }): Promise<void> {
    const { db, environment } = this.infrastructure;
    const [kept] = await methodsToKeep(db, environment, { attemptId, requestId });
    if (!kept) return this.subscriptions.wake(subscription, subscription);
    if (await this.subscriptions.keepMethod(kept)) await methodKept(db, attemptId);
  }
}
