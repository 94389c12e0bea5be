import type { CaptureMethod, Execution, PaymentDriver } from '../domain/payment/payment-status.js';

/** Ids are UUIDs of the change's account, already checked by the caller. */
export interface NewIntent {
  /** Minted by the caller (`newId()`), so that a retry of the same command makes the same intent. */
  id: string;
  customerId: string;
  amountAtom: number;
  currency: string;
  paymentMethodId: string | null;
  /** Without a route the account's default decides, else the only live one. */
  paymentRouteId?: string | null;
  captureMethod?: CaptureMethod;
  /** The customer is absent. */
  offSession?: boolean;
  /** Ask for the money at once: the intent is `processing` and `advancePayment` may be called. */
  confirm: boolean;
  execution?: Execution;
  /** Who will call `advancePayment`. Invoices of a subscription: `workflow`. */
  driver?: PaymentDriver;
  returnUrl?: string | null;
  customFields?: Record<string, unknown> | null;
  metadata?: Record<string, unknown> | null;
  /** One uncancelled intent per invoice; a second one is 409 `conflict`. */
  invoiceId?: string | null;
  subscriptionId?: string | null;
  subscriptionPayment?: 'first' | 'later' | null;
  paymentLinkId?: string | null;
  checkoutSessionId?: string | null;
  /**
   * Business identity that reaches the processor as reference and idempotency key (with the attempt number), at most 80
   * characters. Subscriptions: `<subscription public id>:<period start, epoch seconds>`. Default: the intent's public id.
   */
  reference?: string | null;
}
