import type { SimulatorOutcome } from '../../../libs/processors/simulator/simulator-outcome.js';

export type PaymentStatus = 'authorized' | 'captured' | 'declined' | 'pending' | 'requires_action' | 'voided';

export type OperationStatus = 'pending' | 'succeeded' | 'failed';

export interface Settles<To> {
  at: number;
  to: To;
}

export interface PaymentRecord {
  id: string;
  connection: string;
  reference: string;
  status: PaymentStatus;
  amount: number;
  amount_authorized: number;
  amount_captured: number;
  amount_refunded: number;
  currency: string;
  capture: 'automatic' | 'manual';
  payment_method: string;
  outcome: SimulatorOutcome;
  decline_code: string | null;
  network_transaction_id: string | null;
  disputed: boolean;
  /** What time will bring: epoch milliseconds and the change. */
  settles: Settles<'approved' | 'declined' | 'disputed'> | null;
  after_challenge: 'approved' | 'insufficient_funds' | null;
  return_url: string | null;
  /** Where what happens later is told; absent in ledgers of old. */
  callback_url?: string | null;
}

export interface OperationRecord {
  id: string;
  connection: string;
  kind: 'capture' | 'void' | 'refund';
  reference: string;
  /** Null: a void that came before its payment; the payment's reference is then closed for ever. */
  payment: string | null;
  payment_reference: string;
  amount: number;
  currency: string | null;
  /** Absent: succeeded. */
  status?: OperationStatus;
  settles?: Settles<'succeeded' | 'failed'> | null;
  failure_message?: string | null;
  /** Made by a person at the provider, not by a request of the merchant's. */
  out_of_band?: boolean;
}

export interface DisputeRecord {
  id: string;
  connection: string;
  payment: string;
  reference: string;
  amount: number;
  reason: string | null;
  status: 'open' | 'won' | 'lost';
}

/** The card behind a method is known by its fingerprint alone: no number, no expiry, no CVC is ever written. */
export interface MethodRecord {
  id: string;
  connection: string;
  brand: string;
  last4: string;
  fingerprint: string;
}

export interface VerificationRecord {
  id: string;
  connection: string;
  reference: string;
  payment_method: string;
  amount: number;
  currency: string;
  approved: boolean;
}

export interface Answer {
  status: number;
  body: object;
}

/** The request that caused an entry, so that its repetition is answered by the same bytes. */
export interface Cause {
  key: string | null;
  request: string;
  answer: Answer | null;
}

export type LedgerFact =
  | { type: 'payment_method'; record: MethodRecord; cause: Cause }
  | { type: 'verification'; record: VerificationRecord; cause: Cause }
  | { type: 'payment'; record: PaymentRecord; cause: Cause }
  | { type: 'payment_changed'; record: PaymentRecord; reason: 'settled' | 'challenge' | 'disputed' }
  | { type: 'operation'; record: OperationRecord; cause: Cause }
  | { type: 'operation_changed'; record: OperationRecord }
  | { type: 'dispute'; record: DisputeRecord }
  | { type: 'callback_delivered'; connection: string; reference: string; event: string }
  | { type: 'without_effect'; connection: string; reference: string; path: string; outcome: string };

export type LedgerEntry = LedgerFact & { seq: number; at: string };
