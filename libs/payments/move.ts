import type { ChargeOperationRow, ChargeRow, DisputeRow, PaymentIntentRow, RefundRow } from '../db/schema/index.js';
import type { IdKind } from '../views/ids.js';

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
  newDispute?: DisputeRow;
  dispute?: { id: string; set: Partial<DisputeRow> };
  /** Evidence that this move takes into account. */
  appliedEvidence?: string[];
  /** Lets later unattended charges use the credential. */
  networkTransaction?: { paymentMethodId: string; processorId: string; id: string };
  /** The stored callback of which nothing more is new after this move. */
  appliedCallback?: { id: string; result: 'applied' | 'nothing_new' | 'attention' };
  /** A line for people: about the payment, unless it names something else. */
  attention?: { type: string; reason: string; actions: string[]; kind?: IdKind; objectId?: string };
  /** Lines that need nobody any more: about the payment, unless they name something else. */
  closes?: { type: string; objectId?: string; resolution: string }[];
  /** Set when the payment no longer needs a person. */
  solved?: string;
  /** Stops that the payment begins to wait for; they must stand while it is written. */
  waitsFor?: string[];
  events: { intent?: string; charge?: string; refund?: string; dispute?: string };
  /** What the payment's invoice must learn. `recheck`: whether it takes the money that it could not send back before. */
  invoice?: 'paid' | 'failed' | 'recheck';
  /** Amount that left the invoice's payment again. */
  refundedAtom?: number;
}
