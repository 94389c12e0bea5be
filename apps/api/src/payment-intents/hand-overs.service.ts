import { Injectable } from '@nestjs/common';
import { giveToWorkflow } from '../../../../libs/db/payment-lease.writes.js';
import type { PaymentIntentRow } from '../../../../libs/db/schema/index.js';
import type { AdvanceResult } from '../../../../libs/domain/payment/advance-result.js';
import { paymentStart, startDelayMs } from '../../../../libs/payments/payment-start.js';
import { isTemporalOutage } from '../../../../libs/temporal/connection.js';
import { Pace } from '../../../../libs/temporal/pace.js';
import { wakePaymentWorkflow } from '../../../../libs/temporal/payment.client.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { Payments } from '../kernel/payments.js';

/** What ends without an outcome at the same time, because its processor hangs or lost all connections, is spread over time. */
const perSecond = 25;
/** What would wait longer is found by the sweeper, within the 10 s that it promises. */
const longestWaitMs = 1_500;

/**
 * Gives inline payments that are not final their workflow. It begins when the payment wants to be looked at, not before: until then
 * nothing could be done. A process that dies before leaves the payment to the sweeper.
 */
@Injectable()
export class HandOversService {
  private readonly pace = new Pace(perSecond);

  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly payments: Payments,
  ) {}

  /** Somebody waits for the answer: at once. While Temporal is away the sweeper does it later. */
  async watched(intent: PaymentIntentRow, result: AdvanceResult): Promise<void> {
    try {
      await this.handOver(intent, result, Date.now());
    } catch (err) {
      if (!isTemporalOutage(err)) throw err;
      this.infrastructure.log.warn({ err, payment_intent_id: intent.id }, 'payment workflow starts later');
    }
  }

  /** Nobody waits: in turn, once the step has ended. Never rejects. */
  unwatched(intent: PaymentIntentRow, step: AdvanceResult | Promise<AdvanceResult | null>): void {
    const handedOver = Promise.resolve(step).then(async (result) => {
      if (!result || result.state === 'final' || this.pace.waitMs(performance.now()) > longestWaitMs) return;
      const endedAt = Date.now();
      await this.pace.turn();
      await this.handOver(intent, result, endedAt);
    });
    this.payments.track(handedOver.catch((err: unknown) => this.infrastructure.log.warn({ err, payment_intent_id: intent.id }, 'interrupted payment goes on later')));
  }

  private async handOver(intent: PaymentIntentRow, result: AdvanceResult, endedAt: number): Promise<void> {
    const start = await paymentStart(this.payments.deps, intent, result);
    await wakePaymentWorkflow(this.infrastructure.temporal.client, start, { delayMs: startDelayMs(result, endedAt) });
    await giveToWorkflow(this.infrastructure.db, intent.id);
  }
}
