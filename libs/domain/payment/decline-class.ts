import type { DeclineCode } from '../../errors/catalogue.js';
import type { OutcomeClass } from './outcome.js';

/** The one outcome class of each normalised decline code; every processor's table agrees with it. */
export const declineClasses: Record<DeclineCode, OutcomeClass> = {
  do_not_honor: 'soft_decline',
  call_issuer: 'soft_decline',
  try_again_later: 'soft_decline',
  issuer_unavailable: 'soft_decline',
  insufficient_funds: 'insufficient_funds',
  amount_limit_exceeded: 'soft_decline',
  velocity_exceeded: 'soft_decline',
  lost_card: 'hard_decline',
  stolen_card: 'hard_decline',
  pickup_card: 'hard_decline',
  expired_card: 'hard_decline',
  closed_account: 'hard_decline',
  invalid_account: 'hard_decline',
  invalid_number: 'hard_decline',
  no_such_issuer: 'hard_decline',
  invalid_expiry: 'hard_decline',
  new_account_information_available: 'soft_decline',
  restricted_card: 'soft_decline',
  card_not_supported: 'soft_decline',
  currency_not_supported: 'soft_decline',
  transaction_not_allowed: 'soft_decline',
  blocked_by_cardholder: 'soft_decline',
  invalid_amount: 'soft_decline',
  duplicate_transaction: 'soft_decline',
  incorrect_cvc: 'soft_decline',
  incorrect_address: 'soft_decline',
  pin_required: 'soft_decline',
  incorrect_pin: 'soft_decline',
  pin_tries_exceeded: 'soft_decline',
  authentication_required: 'authentication_required',
  authentication_failed: 'soft_decline',
  security_violation: 'soft_decline',
  issuer_suspected_fraud: 'soft_decline',
  stop_payment_order: 'hard_decline',
  revocation_of_authorization: 'hard_decline',
  mandate_invalid: 'hard_decline',
  do_not_try_again: 'hard_decline',
  suspected_fraud: 'risk_refused',
  blocked_by_merchant: 'risk_refused',
  partial_approval: 'partial_approval',
  processing_error: 'processor_error',
  amount_outside_limits: 'processor_error',
  payment_method_unknown: 'processor_error',
  payment_method_not_supported: 'processor_error',
  test_card_refused: 'processor_error',
  misconfigured: 'processor_error',
  processor_rate_limited: 'processor_error',
  connection_failed: 'not_sent',
  generic_decline: 'soft_decline',
};

/**
 * Soft declines after which no other connection is tried for the same payment, whatever the route's policy: a code that
 * is in no table says too little, and a duplicate may already have been paid.
 */
const notRetriedNow: ReadonlySet<string> = new Set<DeclineCode>(['generic_decline', 'duplicate_transaction']);

export function mayBeRetriedNow(declineCode: string | null | undefined): boolean {
  return !declineCode || !notRetriedNow.has(declineCode);
}
