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
import { isTemporalOutage } from '../../../../libs/temporal/connection.js';
import { settleDeadlineMs, settlePaymentByWorkflow, wakePaymentWorkflow } from '../../../../libs/temporal/payment.client.js';
import { publicId } from '../../../../libs/views/ids.js';
import { paymentIntentView, type PaymentIntentParts, type PaymentIntentView } from '../../../../libs/views/payment-intent.view.js';
import type { Caller } from '../kernel/callers.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { Payments } from '../kernel/payments.js';

/** Moves a payment for a caller who waits, at most 10 s, and answers where it stands. */
@Injectable()
export class SettlementsService {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly payments: Payments,
  ) {}

  /** After the transaction that gave the payment something to do. Null: still under way. */
  async settle(intent: PaymentIntentRow, change: Change): Promise<AdvanceResult | null> {
    if (intent.execution === 'inline') {
      const advanced = advancePayment(this.payments.deps, { intentId: intent.id, driver: 'api', origin: originOf(change) });
      const result = await this.payments.within(advanced, settleDeadlineMs);
      if (result === null) return this.afterwards(intent, advanced);
      if (result.state === 'final') return result;
      if (result.status !== 'processing') return this.handOver(intent, result);
    }
    return this.byWorkflow(intent, change);
  }

  /**
   * Creates a payment, confirms it and runs its first step here, without a workflow unless something is left to do.
   * @returns where it stands; null where it cannot be done at once: then nothing was written.
   */
  async payInline(caller: Caller, change: Change, { input, context }: { input: NewIntent; context: RoutingContext }): Promise<PaymentIntentView | null> {
    const begun = await payInline(this.payments.deps, change, input, context);
    if (!begun) return null;
    const ended = await this.payments.within(begun.advanced, settleDeadlineMs);
    if (ended?.result.state === 'final') return this.answerWith(caller, ended.standing.intent, partsOf(ended.standing));
    if (ended === null) this.afterwards(begun.intent, begun.advanced.then((late) => late?.result ?? null));
    else if (ended.result.status === 'processing') await this.byWorkflow(begun.intent, change);
    else await this.handOver(begun.intent, ended.result);
    return this.answer(caller, begun.intent.id);
  }

  private async byWorkflow(intent: PaymentIntentRow, change: Change): Promise<AdvanceResult | null> {
    const start = await paymentStart(this.payments.deps, intent);
    return settlePaymentByWorkflow(this.infrastructure.temporal.client, start, { updateId: change.commandId, request: originOf(change) });
  }

  /** The caller's time is over, the processor's is not: what the step comes to is handed over when it has ended. */
  private afterwards(intent: PaymentIntentRow, advanced: Promise<AdvanceResult | null>): null {
    const handedOver = advanced.then(async (result) => {
      if (result && result.state !== 'final') await this.handOver(intent, result);
    });
    this.payments.track(handedOver.catch((err: unknown) => this.infrastructure.log.warn({ err, payment_intent_id: intent.id }, 'interrupted payment goes on later')));
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

  /** What waits for the customer, a capture or a lookup is the workflow's; while Temporal is away the sweeper starts it later. */
  private async handOver(intent: PaymentIntentRow, result: AdvanceResult): Promise<AdvanceResult> {
    try {
      await wakePaymentWorkflow(this.infrastructure.temporal.client, await paymentStart(this.payments.deps, intent));
    } catch (err) {
      if (!isTemporalOutage(err)) throw err;
      this.infrastructure.log.warn({ err, payment_intent_id: intent.id }, 'payment workflow starts later');
    }
    return result;
  }
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
