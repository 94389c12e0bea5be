import { Injectable } from '@nestjs/common';
import ipaddr from 'ipaddr.js';
import { transact } from '../../../../libs/db/change.js';
import type { Tx } from '../../../../libs/db/client.js';
import { newId } from '../../../../libs/db/mint.js';
import { beginAttempt, recordAttempt, settleAttempts, type AttemptOutcome, type AttemptStart } from '../../../../libs/db/payment-link-attempt.writes.js';
import { keyedHash } from '../../../../libs/db/payment-link-token.js';
import { intentOf } from '../../../../libs/db/payment.queries.js';
import type { PaymentIntentRow } from '../../../../libs/db/schema/index.js';
import type { Change } from '../../../../libs/domain/change/change.js';
import type { LinkLimits } from '../../../../libs/domain/payment-link/attempt-limit.js';
import type { CardFormInput } from '../../../../libs/domain/payment-link/card-form.js';
import { DomainError } from '../../../../libs/errors/domain-error.js';
import { lookAgain } from '../../../../libs/payments/look-again.js';
import { tokenisePaymentMethod } from '../../../../libs/payments/tokenise.js';
import { isTemporalOutage } from '../../../../libs/temporal/connection.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { Payments } from '../kernel/payments.js';
import { SettlementsService } from '../payment-intents/settlements.service.js';

/** A card that a visitor sent for one payment. */
export interface CardTry {
  accountId: string;
  /** The link or the invoice: what the limits count by. */
  ownerId: string;
  /** The one payment of the form, also before there is one. */
  intentId: string;
  tryNumber: number;
  card: CardFormInput;
  /** The visitor's address. */
  address: string;
  limits: LinkLimits;
  change: Change;
  /** In the transaction that counts the try, before it counts; true: no try begins. */
  refuses?(tx: Tx, now: Date): Promise<boolean>;
  /** Attaches the method and asks for the money, in one transaction. */
  ask(tx: Tx, made: { attemptId: string; methodId: string }): Promise<PaymentIntentRow>;
  /** In the transaction that notes a decline. */
  declined?(tx: Tx): Promise<void>;
}

/** How a try ended; where it was sent, how the payment stands tells the rest. The attempt is named where it reached its payment. */
export type TryResult = { kind: 'sent'; attemptId: string } | { kind: 'declined'; code: string; attemptId?: string };
export type Attempted = TryResult | { kind: 'repeated' } | { kind: 'limited'; retryAfterSeconds: number } | { kind: 'refused' };

/** Cards on hosted pages: each is counted before it is used, then tokenised, asked for its money, and noted how it ended. */
@Injectable()
export class CardTriesService {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly payments: Payments,
    private readonly settlements: SettlementsService,
  ) {}

  /** The visitor's doing. */
  changeFor(accountId: string, requestId: string, commandId: string): Change {
    return { accountId, environment: this.infrastructure.environment, actor: 'system', requestId, idempotencyKey: null, commandId, clockTime: null };
  }

  /** The caller has seen that the form is open and that this is its next try. */
  async attempt(wish: CardTry): Promise<Attempted> {
    const start = await this.begin(wish);
    if (start.kind !== 'begun') return start;
    const { id: attemptId } = start;
    let intent: PaymentIntentRow | null;
    try {
      intent = await this.ask(wish, attemptId);
    } catch (error) {
      const declined = error instanceof DomainError && error.http === 402;
      await this.record(wish, attemptId, declined ? 'declined' : 'refused');
      if (declined) return { kind: 'declined', code: error.code };
      throw error;
    }
    if (intent) return this.settle(wish, intent, attemptId);
    await this.record(wish, attemptId, 'refused');
    return { kind: 'repeated' };
  }

  /** The visitor is back from a challenge: asks the processor now and waits for what it says. */
  async comeBack(intent: PaymentIntentRow, requestId: string): Promise<void> {
    const change = this.changeFor(intent.accountId, requestId, newId());
    const waiting = await transact(this.infrastructure.db, change, (tx) => lookAgain(tx, change, intent.id));
    if (waiting) await this.run(waiting, change);
  }

  private begin(wish: CardTry): Promise<AttemptStart | { kind: 'refused' }> {
    const { db, config } = this.infrastructure;
    const { accountId, ownerId, intentId, tryNumber, card, limits, change } = wish;
    const now = new Date();
    return transact(db, change, async (tx) => {
      await settleAttempts(tx, { paymentLinkId: ownerId, now });
      if (await wish.refuses?.(tx, now)) return { kind: 'refused' };
      const attempt = {
        accountId,
        paymentLinkId: ownerId,
        addressHash: keyedHash(config.tokenKey, 'link visitor', networkOf(wish.address)),
        methodHash: keyedHash(config.tokenKey, 'link card', accountId, card.number),
        paymentIntentId: intentId,
        tryNumber,
      };
      return beginAttempt(tx, attempt, { limits, now });
    });
  }

  /** Null if another try or payment was first. */
  private async ask({ card, change, ask }: CardTry, attemptId: string): Promise<PaymentIntentRow | null> {
    const methodId = newId();
    const { number, expMonth, expYear, cvc } = card;
    await tokenisePaymentMethod(this.payments.deps, change, { id: methodId, source: { card: { number, expMonth, expYear, cvc } } });
    try {
      return await transact(this.infrastructure.db, change, (tx) => ask(tx, { attemptId, methodId }));
    } catch (error) {
      if (error instanceof DomainError && (error.code === 'payment_in_flight' || error.code === 'invalid_state_transition')) return null;
      throw error;
    }
  }

  /** Runs the payment and notes how the try ended. */
  private async settle(wish: CardTry, intent: PaymentIntentRow, attemptId: string): Promise<TryResult> {
    await this.run(intent, wish.change);
    const after = await intentOf(this.infrastructure.db, intent.accountId, intent.id);
    if (after?.status !== 'requires_payment_method') {
      const paid = after?.status === 'succeeded' || after?.status === 'requires_capture';
      await this.record(wish, attemptId, paid ? 'succeeded' : 'pending');
      return { kind: 'sent', attemptId };
    }
    const code = after.declineCode ?? 'generic_decline';
    await this.record(wish, attemptId, code === 'no_processor_available' || code === 'charging_stopped' ? 'refused' : 'declined');
    return { kind: 'declined', code, attemptId };
  }

  /** Like any other payment. While Temporal is away the sweeper starts it later. */
  private async run(intent: PaymentIntentRow, change: Change): Promise<void> {
    try {
      await this.settlements.settle(intent, change);
    } catch (err) {
      if (!isTemporalOutage(err)) throw err;
      this.infrastructure.log.warn({ err, request_id: change.requestId }, 'payment of a hosted page waits for Temporal');
    }
  }

  private async record({ change, declined }: CardTry, attemptId: string, outcome: AttemptOutcome): Promise<void> {
    await transact(this.infrastructure.db, change, async (tx) => {
      await recordAttempt(tx, attemptId, outcome);
      if (outcome === 'declined') await declined?.(tx);
    });
  }
}

/** One visitor may use any address of an IPv6 network, so those count by their first 64 bits. */
function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return (parsed as ipaddr.IPv6).parts.slice(0, 4).map((part) => part.toString(16)).join(':');
}
