import { Injectable } from '@nestjs/common';
import type { Tx } from '../../../../libs/db/client.js';
import { derivedId } from '../../../../libs/db/mint.js';
import { readTries } from '../../../../libs/db/payment-link-attempt.writes.js';
import { executionOf } from '../../../../libs/db/payment-references.queries.js';
import { payerOf } from '../../../../libs/db/payment-link-payer.writes.js';
import { pauseOnDeclines } from '../../../../libs/db/payment-link.writes.js';
import { attachPaymentMethod } from '../../../../libs/db/payment-method.writes.js';
import { intentOf } from '../../../../libs/db/payment.queries.js';
import type { PaymentIntentRow, PaymentLinkRow } from '../../../../libs/db/schema/index.js';
import type { Change } from '../../../../libs/domain/change/change.js';
import type { LinkLimits } from '../../../../libs/domain/payment-link/attempt-limit.js';
import type { CardFormInput, PayerInput } from '../../../../libs/domain/payment-link/card-form.js';
import type { Execution } from '../../../../libs/domain/payment/payment-status.js';
import { DomainError } from '../../../../libs/errors/domain-error.js';
import { confirmIntent } from '../../../../libs/payments/confirm-intent.js';
import { createIntent } from '../../../../libs/payments/create-intent.js';
import { publicId } from '../../../../libs/views/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { CardTriesService, type Attempted } from './card-tries.service.js';
import { underwayOf, type Underway } from './payment-standing.js';

/** How the one payment of a form stands. */
export type Standing =
  /** The form may be sent; `declineCode` says why the last try of it failed, if it reached a processor. */
  | { kind: 'open'; nextTry: number; intent: PaymentIntentRow | null }
  | Underway
  | { kind: 'paid'; intent: PaymentIntentRow }
  /** Cancelled by the account: this form makes no payment any more. */
  | { kind: 'over' };

export interface LinkPayment {
  link: PaymentLinkRow;
  /** Atoms of the link's currency. */
  amountAtom: number;
  formId: string;
  tryNumber: number;
  card: CardFormInput;
  /** Null where the customer is known already. */
  payer: PayerInput | null;
  /** The visitor's address, and the request's id for events and logs. */
  address: string;
  requestId: string;
}

export type LinkPaymentResult = Exclude<Attempted, { kind: 'refused' }> | { kind: 'paused' };

/** Payments of links: counted before the card is used, one per form however often the form is sent. */
@Injectable()
export class LinkPaymentsService {
  private readonly limits: LinkLimits;

  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly tries: CardTriesService,
  ) {
    const { config } = infrastructure;
    this.limits = {
      perLink: config.linkAttemptsPerLink,
      perAddress: config.linkAttemptsPerAddress,
      perMethod: config.linkAttemptsPerMethod,
      declines: config.linkDeclinesToPause,
    };
  }

  async standing(link: PaymentLinkRow, formId: string): Promise<Standing> {
    const { db } = this.infrastructure;
    const [intent, tries] = await Promise.all([intentOf(db, link.accountId, formId), readTries(db, formId)]);
    if (intent && (intent.paymentLinkId !== link.id || intent.status === 'canceled')) return { kind: 'over' };
    if (intent?.status === 'succeeded' || intent?.status === 'requires_capture') return { kind: 'paid', intent };
    return underwayOf(intent, tries) ?? { kind: 'open', nextTry: tries.next, intent };
  }

  /** The caller has seen that the form is open and that this is its next try. */
  async pay(payment: LinkPayment): Promise<LinkPaymentResult> {
    const { link, formId, tryNumber, card, address, requestId } = payment;
    const change = this.tries.changeFor(link.accountId, requestId, derivedId('payment link try', formId, String(tryNumber)));
    const execution = await executionOf(this.infrastructure.db, link.accountId, link.paymentRouteId);
    const result = await this.tries.attempt({
      accountId: link.accountId, ownerId: link.id, intentId: formId, tryNumber, card, address, limits: this.limits, change,
      refuses: (tx, now) => this.pauses(tx, change, { link, now }),
      ask: (tx, { methodId }) => this.ask(tx, change, { payment, methodId, execution }),
      declined: async (tx) => void (await this.pauses(tx, change, { link, now: new Date() })),
    });
    return result.kind === 'refused' ? { kind: 'paused' } : result;
  }

  private pauses(tx: Tx, change: Change, { link, now }: { link: PaymentLinkRow; now: Date }): Promise<boolean> {
    return pauseOnDeclines(tx, change, { id: link.id, limit: this.limits.declines, now });
  }

  /** Customer, method and intent. */
  private async ask(tx: Tx, change: Change, { payment, methodId, execution }: Asking): Promise<PaymentIntentRow> {
    const { link, formId, amountAtom } = payment;
    const { environment, config } = this.infrastructure;
    const returnUrl = `${config.publicUrl}/pay/return/${publicId('pi', environment, formId)}`;
    const known = await intentOf(tx, link.accountId, formId);
    const customerId = known?.customerId ?? link.customerId ?? (payment.payer && (await payerOf(tx, change, { link, payer: payment.payer })));
    if (customerId) await attachPaymentMethod(tx, change, { id: methodId, customerId });
    if (known) {
      await confirmIntent(tx, change, { intentId: formId, paymentMethodId: methodId, returnUrl });
      return known;
    }
    const intent = await createIntent(tx, change, {
      id: formId,
      customerId,
      amountAtom,
      currency: link.currency!,
      paymentMethodId: methodId,
      paymentRouteId: link.paymentRouteId,
      confirm: true,
      execution,
      returnUrl,
      customFields: link.customFields,
      metadata: link.metadata,
      paymentLinkId: link.id,
      reference: `${publicId('plink', environment, link.id)}:${publicId('pi', environment, formId)}`,
    });
    if (intent.paymentMethodId !== methodId) throw new DomainError('payment_in_flight');
    return intent;
  }
}

interface Asking {
  payment: LinkPayment;
  methodId: string;
  execution: Execution;
}
