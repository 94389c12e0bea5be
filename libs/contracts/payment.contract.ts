import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { AdvanceResult } from '../domain/payment/advance-result.js';

export const paymentQueue = 'payments';
export const paymentWorkflow = 'payment';

export function paymentWorkflowId(payment: string): string {
  return `payment/${payment}`;
}

/** A call limited to 7 s runs as a local activity: after a kill it runs again when this has passed. */
export const paymentTaskTimeout = '5s';

/** Whose request moves the payment; ends up on the events. */
export interface PaymentRequest {
  actor: string | null;
  requestId: string | null;
  idempotencyKey: string | null;
  clockTime: string | null;
}

export interface PaymentWorkflowInput {
  /** UUID of the intent's row. */
  intentId: string;
  /** Public ids, for people who read the workflow and for search. */
  payment: string;
  account: string;
  customer: string | null;
  /** The subscription to tell when the payment is final; null if none waits. */
  subscription: string | null;
  /** A connection of the account may take longer than 7 s: the step then runs as a normal activity. */
  longCalls: boolean;
  /** What is known of it already: by the process that began it, or by the run before. */
  last?: AdvanceResult | null;
}

/** Moves the payment on and answers when it is final, waits for somebody else, or cannot be told yet. */
export const settlePayment = defineUpdate<AdvanceResult, [PaymentRequest | null]>('settlePayment');
/** Something changed in the payment's rows: look again. */
export const wakePayment = defineSignal('wakePayment');
export const paymentStanding = defineQuery<AdvanceResult | null>('paymentStanding');

export interface AdvancePaymentInput {
  intentId: string;
  request: PaymentRequest | null;
  /** The workflow's first pass: probably nobody moved the payment yet. */
  first?: boolean;
}

/** What the workflow may call. */
export interface PaymentActivities {
  advancePayment(input: AdvancePaymentInput): Promise<AdvanceResult>;
}
