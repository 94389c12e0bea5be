import type { AdvanceResult } from '../domain/payment/advance-result.js';
import type { PaymentDriver } from '../domain/payment/payment-status.js';
import type { PaymentDeps } from './payment.deps.js';

export type { AdvanceResult } from '../domain/payment/advance-result.js';

export interface AdvanceInput {
  /** UUID of the intent. */
  intentId: string;
  driver: PaymentDriver;
  /** RFC 3339; the workflow's time (the test clock's, where there is one). Default: now. */
  now?: string;
}

/**
 * The only code that moves a payment: takes its lease and goes on until nothing can be done without waiting.
 * Safe to call twice, at once and after a crash at any point. A decline is a result, never an error; throws only when
 * the database cannot be reached.
 */
export async function advancePayment(_deps: PaymentDeps, _input: AdvanceInput): Promise<AdvanceResult> {
  throw new Error('advancePayment is being built');
}
