import type { ChargeOperationRow, ChargeRow, PaymentIntentRow, RefundRow } from '../db/schema/index.js';

/** One fact: what changes in one transaction, and which events tell it. Made by pure functions, written by `commitMove`. */
export interface Move {
  /** Distinguishes the events of this fact, for example `attempt:1:approved`. */
  step: string;
  intent?: Partial<PaymentIntentRow>;
  newCharge?: ChargeRow;
  charge?: { id: string; set: Partial<ChargeRow> };
  newOperation?: ChargeOperationRow;
  operation?: { id: string; set: Partial<ChargeOperationRow> };
  newRefund?: RefundRow;
  refund?: { id: string; set: Partial<RefundRow> };
  /** Evidence that this move takes into account. */
  appliedEvidence?: string[];
  /** Lets later unattended charges use the credential. */
  networkTransaction?: { paymentMethodId: string; processorId: string; id: string };
  attention?: { type: string; reason: string; actions: string[] };
  /** Set when the payment no longer needs a person. */
  solved?: string;
  /** Stops that the payment begins to wait for; they must stand while it is written. */
  waitsFor?: string[];
  events: { intent?: string; charge?: string; refund?: string };
  /** What the payment's invoice must learn. */
  invoice?: 'paid' | 'failed';
  /** Amount that left the invoice's payment again. */
  refundedAtom?: number;
}
