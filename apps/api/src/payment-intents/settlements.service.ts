import { Injectable } from '@nestjs/common';
import type { RoutingContext } from '../../../../libs/db/payment-context.queries.js';
import { intentWithParts } from '../../../../libs/db/payment.queries.js';
import type { PaymentIntentRow } from '../../../../libs/db/schema/index.js';
import type { Change } from '../../../../libs/domain/change/change.js';
import type { AdvanceResult } from '../../../../libs/domain/payment/advance-result.js';
import { catalogue, type ErrorCode } from '../../../../libs/errors/catalogue.js';
import { DomainError, notFound } from '../../../../libs/errors/domain-error.js';
import { advancePayment } from '../../../../libs/payments/advance-payment.js';
import type { NewIntent } from '../../../../libs/payments/create-intent.js';
import { originOf, partsOf } from '../../../../libs/payments/held-payment.js';
import { payInline } from '../../../../libs/payments/pay-inline.js';
import { paymentStart } from '../../../../libs/payments/payment-start.js';
import { settleDeadlineMs, settlePaymentByWorkflow } from '../../../../libs/temporal/payment.client.js';
import { publicId } from '../../../../libs/views/ids.js';
import { paymentIntentView, type PaymentIntentParts, type PaymentIntentView } from '../../../../libs/views/payment-intent.view.js';
import type { Caller } from '../kernel/callers.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { Payments } from '../kernel/payments.js';
import { HandOversService } from './hand-overs.service.js';

/** Moves a payment for a caller who waits, at most 10 s, and answers where it stands. */
@Injectable()
export class SettlementsService {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly payments: Payments,
    private readonly handOvers: HandOversService,
  ) {}

  /** After the transaction that gave the payment something to do. Null: still under way. */
  async settle(intent: PaymentIntentRow, change: Change): Promise<AdvanceResult | null> {
    const deadline = Date.now() + settleDeadlineMs;
    if (intent.execution !== 'inline') return this.byWorkflow(intent, change, deadline);
    const advanced = advancePayment(this.payments.deps, { intentId: intent.id, driver: 'api', origin: originOf(change) });
    const result = await this.payments.within(advanced, settleDeadlineMs);
    if (result === null) return this.afterwards(intent, advanced);
    return this.goOn(intent, change, { result, deadline });
  }

  /**
   * Creates a payment, confirms it and runs its first step here, without a workflow unless something is left to do.
   * @returns where it stands; null where it cannot be done at once: then nothing was written.
   */
  async payInline(caller: Caller, change: Change, { input, context }: { input: NewIntent; context: RoutingContext }): Promise<PaymentIntentView | null> {
    const deadline = Date.now() + settleDeadlineMs;
    const begun = await payInline(this.payments.deps, change, input, context);
    if (!begun) return null;
    const ended = await this.payments.within(begun.advanced, settleDeadlineMs);
    if (ended?.result.state === 'final') return this.answerWith(caller, ended.standing.intent, partsOf(ended.standing));
    if (ended === null) this.afterwards(begun.intent, begun.advanced.then((late) => late?.result ?? null));
    else await this.goOn(begun.intent, change, { result: ended.result, deadline });
    return this.answer(caller, begun.intent.id);
  }

  /** After the first step here: the rest is the workflow's. Its caller waits for it only where it can be known within the caller's time. */
  private async goOn(intent: PaymentIntentRow, change: Change, { result, deadline }: { result: AdvanceResult; deadline: number }): Promise<AdvanceResult | null> {
    if (result.state === 'final') return result;
    if (isKnownBy(deadline, result)) return this.byWorkflow(intent, change, deadline);
    if (result.status === 'processing') this.handOvers.unwatched(intent, result);
    else await this.handOvers.watched(intent, result);
    return result;
  }

  private async byWorkflow(intent: PaymentIntentRow, change: Change, deadline: number): Promise<AdvanceResult | null> {
    const start = await paymentStart(this.payments.deps, intent);
    return settlePaymentByWorkflow(this.infrastructure.temporal.client, start, { updateId: change.commandId, request: originOf(change), deadline });
  }

  /** The caller's time is over, the processor's is not: what the step comes to is handed over when it has ended. */
  private afterwards(intent: PaymentIntentRow, advanced: Promise<AdvanceResult | null>): null {
    this.handOvers.unwatched(intent, advanced);
    return null;
  }

  /** The intent as it stands now. @throws DomainError 404. */
  async show(caller: Pick<Caller, 'accountId' | 'environment'>, intentId: string): Promise<PaymentIntentView> {
    const { row, parts } = await this.read(caller, intentId);
    return paymentIntentView(row, parts, this.infrastructure.environment);
  }

  /**
   * The answer to whoever asked for money: the intent, or 402 where it was refused. A payment still under way leaves the
   * request's idempotency record open.
   */
  async answer(caller: Caller, intentId: string): Promise<PaymentIntentView> {
    const { row, parts } = await this.read(caller, intentId);
    return this.answerWith(caller, row, parts);
  }

  private async read(caller: Pick<Caller, 'accountId'>, intentId: string): Promise<{ row: PaymentIntentRow; parts: PaymentIntentParts }> {
    const found = await intentWithParts(this.infrastructure.db, caller.accountId, intentId);
    if (!found) throw notFound('payment intent');
    return found;
  }

  private answerWith(caller: Caller, row: PaymentIntentRow, parts: PaymentIntentParts): PaymentIntentView {
    if (row.status === 'processing') caller.leaveOpen();
    if (row.status === 'requires_payment_method' && row.declineCode) throw declined(row, this.infrastructure);
    return paymentIntentView(row, parts, this.infrastructure.environment);
  }
}

/** Whether the next look comes early enough to tell its caller. What is pending, or stopped, is told as it is. */
function isKnownBy(deadline: number, { state, status, outcomeClass, nextAt }: AdvanceResult): boolean {
  if (status !== 'processing') return false;
  return state === 'busy' || (outcomeClass === 'unknown' && !!nextAt && Date.parse(nextAt) < deadline);
}

export function declined(row: PaymentIntentRow, { environment }: Pick<Infrastructure, 'environment'>): DomainError {
  const code = (row.declineCode && row.declineCode in catalogue ? row.declineCode : 'generic_decline') as ErrorCode;
  const none = code === 'no_processor_available';
  return new DomainError(code, row.declineReason ?? undefined, {
    extra: {
      payment_intent_id: publicId('pi', environment, row.id),
      ...(row.lastChargeId && !none ? { charge_id: publicId('ch', environment, row.lastChargeId) } : {}),
    },
  });
}
