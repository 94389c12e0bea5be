import type { SimulatorOutcome } from '../../../libs/processors/simulator/simulator-outcome.js';
import type { TestCard } from '../../../libs/processors/simulator/test-card.js';
import type { PaymentRecord } from './ledger-entry.js';
import { mint } from './mint.js';
import { approved, declined } from './payment.changes.js';

export interface PaymentAsked {
  reference: string;
  amount: number;
  currency: string;
  capture: 'automatic' | 'manual';
  payment_method: string;
  off_session: boolean;
  return_url: string | null;
  callback_url: string | null;
}

const declines = new Set<SimulatorOutcome>([
  'do_not_honor', 'issuer_unavailable', 'velocity_exceeded', 'insufficient_funds', 'lost_card', 'stolen_card', 'expired_card',
  'incorrect_cvc', 'suspected_fraud', 'authentication_required',
]);

/** Whether a verification, capture, void or refund with this outcome is declined. */
export function isDecline(outcome: SimulatorOutcome): boolean {
  return declines.has(outcome);
}

export interface Moment {
  /** Epoch milliseconds. */
  now: number;
  settleMs: number;
}

/** The payment that a charge with this outcome makes. */
export function paymentFor(connection: string, asked: PaymentAsked, outcome: SimulatorOutcome, card: TestCard, moment: Moment): PaymentRecord {
  const blank: PaymentRecord = {
    id: mint('sim_pay'), connection, reference: asked.reference, status: 'pending',
    amount: asked.amount, amount_authorized: 0, amount_captured: 0, amount_refunded: 0, currency: asked.currency, capture: asked.capture,
    payment_method: asked.payment_method, outcome, decline_code: null, network_transaction_id: null, disputed: false, settles: null,
    after_challenge: null, return_url: asked.return_url, callback_url: asked.callback_url,
  };
  const later = (to: 'approved' | 'declined' | 'disputed') => ({ at: moment.now + moment.settleMs, to });
  if (declines.has(outcome)) return declined(blank, outcome);
  switch (outcome) {
    case 'challenge':
      if (asked.off_session) return declined(blank, 'authentication_required');
      return { ...blank, status: 'requires_action', after_challenge: card.afterChallenge ?? 'approved' };
    case 'pending_then_declined':
      return { ...blank, settles: later('declined') };
    case 'pending_then_approved':
    case 'late_callback':
    case 'reordered_callbacks':
      return { ...blank, settles: later('approved') };
    case 'partial_approval':
      return asked.amount < 2 ? declined(blank, 'insufficient_funds') : approved(blank, Math.floor(asked.amount / 2));
    case 'disputed':
      return { ...approved(blank, asked.amount), settles: later('disputed') };
    default:
      return approved(blank, asked.amount);
  }
}

/** The payment after its challenge: passed leads to the card's outcome, failed to a decline. */
export function answerChallenge(payment: PaymentRecord, passed: boolean): PaymentRecord {
  if (!passed) return declined(payment, 'authentication_failed');
  if (payment.after_challenge === 'insufficient_funds') return declined(payment, 'insufficient_funds');
  return approved(payment, payment.amount);
}
