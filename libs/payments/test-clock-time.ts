import { customerTime } from '../db/test-clock.queries.js';
import type { PaymentIntentRow } from '../db/schema/index.js';
import type { HeldPayment, PaymentOrigin } from './held-payment.js';
import type { PaymentDeps } from './payment.deps.js';

/** The time of an invoice's payment whose customer lives on a test clock; null on real time, as in production always. */
export async function testClockTime(deps: Pick<PaymentDeps, 'db' | 'environment'>, intent: PaymentIntentRow): Promise<Date | null> {
  if (deps.environment !== 'staging' || intent.invoiceId === null || intent.customerId === null) return null;
  return customerTime(deps.db, intent.customerId);
}

/** How such a payment is moved: its time is the clock's and does not pass meanwhile. */
export function onTestClock(lease: HeldPayment['lease'], time: Date, origin: PaymentOrigin) {
  return { lease, clock: () => time.getTime(), onClock: true, origin: { ...origin, clockTime: time.toISOString() } };
}
