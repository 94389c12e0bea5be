import { Injectable } from '@nestjs/common';
import ipaddr from 'ipaddr.js';
import { transact } from '../../../../libs/db/change.js';
import { derivedId, newId } from '../../../../libs/db/mint.js';
import { beginAttempt, readTries, recordAttempt, settleAttempts, type AttemptOutcome, type AttemptStart } from '../../../../libs/db/payment-link-attempt.writes.js';
import { executionOf } from '../../../../libs/db/payment-context.queries.js';
import { payerOf } from '../../../../libs/db/payment-link-payer.writes.js';
import { keyedHash } from '../../../../libs/db/payment-link-token.js';
import { pauseOnDeclines } from '../../../../libs/db/payment-link.writes.js';
import { attachPaymentMethod } from '../../../../libs/db/payment-method.writes.js';
import { intentOf } from '../../../../libs/db/payment.queries.js';
import type { PaymentIntentRow, PaymentLinkRow } from '../../../../libs/db/schema/index.js';
import type { Change } from '../../../../libs/domain/change/change.js';
import type { LinkLimits } from '../../../../libs/domain/payment-link/attempt-limit.js';
import type { CardFormInput, PayerInput } from '../../../../libs/domain/payment-link/card-form.js';
import { DomainError } from '../../../../libs/errors/domain-error.js';
import { confirmIntent } from '../../../../libs/payments/confirm-intent.js';
import { createIntent } from '../../../../libs/payments/create-intent.js';
import { lookAgain } from '../../../../libs/payments/look-again.js';
import { tokenisePaymentMethod } from '../../../../libs/payments/tokenise.js';
import { isTemporalOutage } from '../../../../libs/temporal/connection.js';
import { publicId } from '../../../../libs/views/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { Payments } from '../kernel/payments.js';
import { SettlementsService } from '../payment-intents/settlements.service.js';

/** How the one payment of a form stands. */
export type Standing =
  /** The form may be sent; `declineCode` says why the last try of it failed, if it reached a processor. */
  | { kind: 'open'; nextTry: number; intent: PaymentIntentRow | null }
  | { kind: 'waiting'; long: boolean }
  | { kind: 'challenge'; url: string }
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

/** How a try that reached its payment ended; where it was sent, how the payment stands tells the rest. */
export type TryResult = { kind: 'sent' } | { kind: 'declined'; code: string };

export type LinkPaymentResult = TryResult | { kind: 'repeated' } | { kind: 'limited'; retryAfterSeconds: number } | { kind: 'paused' };

/** So long after its start a try may still be on its way to the processor. */
const onItsWayMs = 30_000;
const longMs = 60_000;

/** Payments of links: counted before the card is used, one per form however often the form is sent. */
@Injectable()
export class LinkPaymentsService {
  private readonly limits: LinkLimits;

  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly payments: Payments,
    private readonly settlements: SettlementsService,
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
    const now = Date.now();
    if (intent && intent.paymentLinkId !== link.id) return { kind: 'over' };
    switch (intent?.status) {
      case 'succeeded':
      case 'requires_capture':
        return { kind: 'paid', intent };
      case 'canceled':
        return { kind: 'over' };
      case 'processing':
      case 'exception':
        return { kind: 'waiting', long: now - intent.updatedAt.getTime() > longMs };
      case 'requires_action':
        return intent.redirectUrl && isWebAddress(intent.redirectUrl) ? { kind: 'challenge', url: intent.redirectUrl } : { kind: 'waiting', long: false };
    }
    const onItsWay = tries.latest?.outcome === 'started' && now - tries.latest.createdAt.getTime() < onItsWayMs;
    return onItsWay ? { kind: 'waiting', long: false } : { kind: 'open', nextTry: tries.next, intent };
  }

  /** The caller has seen that the form is open and that this is its next try. */
  async pay(payment: LinkPayment): Promise<LinkPaymentResult> {
    const change = this.changeOf(payment);
    const start = await this.begin(payment, change);
    if (start.kind !== 'begun') return start;
    const record = (outcome: AttemptOutcome) => this.record({ payment, change, attemptId: start.id, outcome });
    let intent: PaymentIntentRow | null;
    try {
      const method = newId();
      const { number, expMonth, expYear, cvc } = payment.card;
      await tokenisePaymentMethod(this.payments.deps, change, { id: method, source: { card: { number, expMonth, expYear, cvc } } });
      intent = await this.ask(payment, change, method);
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
    return this.settle(intent, change, record);
  }

  /** Runs the payment and notes how the try ended. */
  async settle(intent: PaymentIntentRow, change: Change, record: (outcome: AttemptOutcome) => Promise<void>): Promise<TryResult> {
    await this.run(intent, change);
    const after = await intentOf(this.infrastructure.db, intent.accountId, intent.id);
    if (after?.status === 'succeeded' || after?.status === 'requires_capture') {
      await record('succeeded');
      return { kind: 'sent' };
    }
    if (after?.status !== 'requires_payment_method') {
      await record('pending');
      return { kind: 'sent' };
    }
    const code = after.declineCode ?? 'generic_decline';
    await record(code === 'no_processor_available' || code === 'charging_stopped' ? 'refused' : 'declined');
    return { kind: 'declined', code };
  }

  /** The visitor is back from a challenge: asks the processor now and waits for what it says. */
  async comeBack(intent: PaymentIntentRow, requestId: string): Promise<void> {
    const change: Change = { ...this.changeFor(intent.accountId, requestId), commandId: newId() };
    const waiting = await transact(this.infrastructure.db, change, (tx) => lookAgain(tx, change, intent.id));
    if (waiting) await this.run(waiting, change);
  }

  private async begin(payment: LinkPayment, change: Change): Promise<AttemptStart | { kind: 'paused' }> {
    const { db, config } = this.infrastructure;
    const { link, card, formId, tryNumber } = payment;
    const now = new Date();
    return transact(db, change, async (tx) => {
      await settleAttempts(tx, { paymentLinkId: link.id, now });
      if (await pauseOnDeclines(tx, change, { id: link.id, limit: this.limits.declines, now })) return { kind: 'paused' };
      const attempt = {
        accountId: link.accountId,
        paymentLinkId: link.id,
        addressHash: keyedHash(config.tokenKey, 'link visitor', networkOf(payment.address)),
        methodHash: keyedHash(config.tokenKey, 'link card', link.accountId, card.number),
        paymentIntentId: formId,
        tryNumber,
      };
      return beginAttempt(tx, attempt, { limits: this.limits, now });
    });
  }

  /** Customer, method and intent in one transaction. Null if another try of the form was first. */
  private async ask(payment: LinkPayment, change: Change, methodId: string): Promise<PaymentIntentRow | null> {
    const { link, formId, amountAtom } = payment;
    const { db, environment, config } = this.infrastructure;
    const execution = await executionOf(db, link.accountId, link.paymentRouteId);
    const returnUrl = `${config.publicUrl}/pay/return/${publicId('pi', environment, formId)}`;
    try {
      return await transact(db, change, async (tx) => {
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
      });
    } catch (error) {
      if (error instanceof DomainError && (error.code === 'payment_in_flight' || error.code === 'invalid_state_transition')) return null;
      throw error;
    }
  }

  /** Like any other payment. While Temporal is away the sweeper starts it later. */
  private async run(intent: PaymentIntentRow, change: Change): Promise<void> {
    try {
      await this.settlements.settle(intent, change);
    } catch (err) {
      if (!isTemporalOutage(err)) throw err;
      this.infrastructure.log.warn({ err, request_id: change.requestId }, 'payment of a link waits for Temporal');
    }
  }

  private async record({ payment, change, attemptId, outcome }: Recording): Promise<void> {
    const { link } = payment;
    await transact(this.infrastructure.db, change, async (tx) => {
      await recordAttempt(tx, attemptId, outcome);
      if (outcome === 'declined') await pauseOnDeclines(tx, change, { id: link.id, limit: this.limits.declines, now: new Date() });
    });
  }

  private changeOf({ link, formId, tryNumber, requestId }: LinkPayment): Change {
    return { ...this.changeFor(link.accountId, requestId), commandId: derivedId('payment link try', formId, String(tryNumber)) };
  }

  private changeFor(accountId: string, requestId: string): Omit<Change, 'commandId'> {
    return { accountId, environment: this.infrastructure.environment, actor: 'system', requestId, idempotencyKey: null, clockTime: null };
  }
}

interface Recording {
  payment: LinkPayment;
  change: Change;
  attemptId: string;
  outcome: AttemptOutcome;
}

/** One visitor may use any address of an IPv6 network, so those count by their first 64 bits. */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return (parsed as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16)).join(':');
}

export function isWebAddress(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}
