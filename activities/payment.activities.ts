import type { AdvancePaymentInput, PaymentActivities } from '../libs/contracts/payment.contract.js';
import type { AdvanceResult } from '../libs/domain/payment/advance-result.js';
import { advancePayment } from '../libs/payments/advance-payment.js';
import type { PaymentDeps } from '../libs/payments/payment.deps.js';
import { beating } from './heartbeat.js';

const heartbeatMs = 1_000;

/** Never cancelled: a call to a processor that has begun ends by its own deadlines. */
export function createPaymentActivities(deps: PaymentDeps): PaymentActivities {
  return {
    advancePayment: ({ intentId, request, first }: AdvancePaymentInput): Promise<AdvanceResult> =>
      beating(heartbeatMs, () => advancePayment(deps, { intentId, driver: 'workflow', first, ...(request ? { origin: request } : {}) })),
  };
}
