import type { SimulatorOutcome } from '../../../libs/processors/simulator/simulator-outcome.js';

export type PaymentStatus = 'authorized' | 'captured' | 'declined' | 'pending' | 'requires_action' | 'voided';

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
  settles: { at: number; to: 'approved' | 'declined' | 'disputed' } | null;
  after_challenge: 'approved' | 'insufficient_funds' | null;
  return_url: string | null;
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
  | { type: 'without_effect'; connection: string; reference: string; path: string; outcome: string };

export type LedgerEntry = LedgerFact & { seq: number; at: string };
