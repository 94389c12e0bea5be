import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { PaymentIntentRow } from '../../../../libs/db/schema/index.js';
import { advancePayment } from '../../../../libs/payments/advance-payment.js';
import { paymentStart } from '../../../../libs/payments/payment-start.js';
import { receiveCallback } from '../../../../libs/payments/receive-callback.js';
import { wakePaymentWorkflow } from '../../../../libs/temporal/payment.client.js';
import { pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { Payments } from '../kernel/payments.js';

/** More than these at once are left to the sweeper, which finds them within seconds. */
const wakesAtOnce = 8;

/** Takes what processors tell. The answer says only that it is stored: applying it is the payment's own business. */
@Injectable()
export class CallbacksService implements OnApplicationShutdown {
  private readonly waking = new Set<Promise<void>>();

  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly payments: Payments,
  ) {}

  async receive(processor: string, request: FastifyRequest): Promise<{ received: true }> {
    const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
    const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
    const callback = { headers, body, receivedAt: Date.now() };
    const woken = await receiveCallback(this.payments.deps, pathId('processor', processor, this.infrastructure), callback);
    if (woken && this.waking.size < wakesAtOnce) this.wake(woken);
    return { received: true };
  }

  async onApplicationShutdown(): Promise<void> {
    await Promise.all(this.waking);
  }

  private wake(intent: PaymentIntentRow): void {
    const work = this.goOn(intent)
      .catch((err: unknown) => this.infrastructure.log.warn({ err, payment_intent_id: intent.id }, 'a callback is applied later'))
      .finally(() => this.waking.delete(work));
    this.waking.add(work);
  }

  /** A payment that no workflow has seen needs none for this, unless it then waits. */
  private async goOn(intent: PaymentIntentRow): Promise<void> {
    const { deps } = this.payments;
    if (intent.execution === 'inline' && intent.driver === 'api') {
      const { state } = await advancePayment(deps, { intentId: intent.id, driver: 'api' });
      if (state !== 'waiting') return;
    }
    await wakePaymentWorkflow(this.infrastructure.temporal.client, await paymentStart(deps, intent));
  }
}
