import { Context } from '@temporalio/activity';
import type { AdvancePaymentInput, PaymentActivities } from '../libs/contracts/payment.contract.js';
import type { AdvanceResult } from '../libs/domain/payment/advance-result.js';
import { advancePayment } from '../libs/payments/advance-payment.js';
import type { PaymentDeps } from '../libs/payments/payment.deps.js';

const heartbeatMs = 1_000;

/** Never cancelled: a call to a processor that has begun ends by its own deadlines. */
export function createPaymentActivities(deps: PaymentDeps): PaymentActivities {
  return {
    async advancePayment({ intentId, request }: AdvancePaymentInput): Promise<AdvanceResult> {
      const context = Context.current();
      const heartbeat = context.info.isLocal ? null : setInterval(() => context.heartbeat(), heartbeatMs);
      try {
        return await advancePayment(deps, { intentId, driver: 'workflow', ...(request ? { origin: request } : {}) });
      } finally {
        if (heartbeat) clearInterval(heartbeat);
      }
    },
  };
}
