import { declineClasses } from '../../domain/payment/decline-class.js';
import { networkAdviceOf } from '../../domain/payment/network-advice.js';
import type { AttemptOutcome } from '../../domain/payment/outcome.js';
import type { DeclineCode } from '../../errors/catalogue.js';
import { declineTable, unlistedDecline, type DeclineRow } from '../decline-code.js';
import type { FailureAnswer } from './stripe.answer.js';

const cards = 'docs.stripe.com/declines/codes, card decline codes';
const local = 'docs.stripe.com/declines/codes, local payment method decline codes';
const errors = 'docs.stripe.com/error-codes';
const refunds = 'docs.stripe.com/api/refunds/object, failure_reason';

function row(code: string, declineCode: DeclineCode, source = cards): DeclineRow {
  return { code, outcomeClass: declineClasses[declineCode], declineCode, source };
}

/** `decline_code` of a refusal, else its `code`. Whatever is not listed is a soft decline that is not retried now. */
export const stripeDeclines = declineTable([
  row('authentication_required', 'authentication_required'),
  row('authentication_not_handled', 'authentication_required'),
  row('mobile_device_authentication_required', 'authentication_required'),
  row('approve_with_id', 'try_again_later'),
  row('call_issuer', 'call_issuer'),
  row('card_not_supported', 'card_not_supported'),
  row('card_velocity_exceeded', 'velocity_exceeded'),
  row('currency_not_supported', 'currency_not_supported'),
  row('do_not_honor', 'do_not_honor'),
  row('do_not_try_again', 'do_not_try_again'),
  row('duplicate_transaction', 'duplicate_transaction'),
  row('expired_card', 'expired_card'),
  row('fraudulent', 'suspected_fraud'),
  row('generic_decline', 'do_not_honor'),
  row('incorrect_address', 'incorrect_address'),
  row('incorrect_cvc', 'incorrect_cvc'),
  row('incorrect_number', 'invalid_number'),
  row('incorrect_pin', 'incorrect_pin'),
  row('incorrect_zip', 'incorrect_address'),
  row('insufficient_funds', 'insufficient_funds'),
  row('invalid_account', 'invalid_account'),
  row('invalid_amount', 'invalid_amount'),
  row('invalid_cvc', 'incorrect_cvc'),
  row('invalid_expiry_month', 'invalid_expiry'),
  row('invalid_expiry_year', 'invalid_expiry'),
  row('invalid_number', 'invalid_number'),
  row('invalid_pin', 'incorrect_pin'),
  row('issuer_not_available', 'issuer_unavailable'),
  row('lost_card', 'lost_card'),
  row('merchant_blacklist', 'blocked_by_merchant'),
  row('new_account_information_available', 'new_account_information_available'),
  row('no_action_taken', 'do_not_honor'),
  row('not_permitted', 'transaction_not_allowed'),
  row('offline_pin_required', 'pin_required'),
  row('online_or_offline_pin_required', 'pin_required'),
  row('pickup_card', 'pickup_card'),
  row('pin_try_exceeded', 'pin_tries_exceeded'),
  row('processing_error', 'processing_error'),
  row('reenter_transaction', 'try_again_later'),
  row('restricted_card', 'restricted_card'),
  row('revocation_of_all_authorizations', 'revocation_of_authorization'),
  row('revocation_of_authorization', 'revocation_of_authorization'),
  row('security_violation', 'security_violation'),
  row('service_not_allowed', 'transaction_not_allowed'),
  row('stolen_card', 'stolen_card'),
  row('stop_payment_order', 'stop_payment_order'),
  row('testmode_decline', 'test_card_refused'),
  row('transaction_not_allowed', 'transaction_not_allowed'),
  row('try_again_later', 'try_again_later'),
  row('withdrawal_count_limit_exceeded', 'velocity_exceeded'),
  row('partner_generic_decline', 'do_not_honor', local),
  row('invalid_customer_account', 'invalid_account', local),
  row('payment_limit_exceeded', 'amount_limit_exceeded', local),
  row('invalid_billing_agreement', 'mandate_invalid', local),
  row('invalid_business_account', 'misconfigured', local),
  row('partner_high_risk_customer', 'suspected_fraud', local),
  row('compliance_violation', 'transaction_not_allowed', local),
  row('payment_disputed', 'do_not_honor', local),
  row('invalid_authorization', 'mandate_invalid', local),
  row('invalid_payment_information', 'invalid_account', local),
  row('partner_payment_not_found', 'processing_error', local),
  row('expired_payment_information', 'expired_card', local),
  row('card_declined', 'do_not_honor', errors),
  row('card_decline_rate_limit_exceeded', 'velocity_exceeded', errors),
  row('payment_intent_authentication_failure', 'authentication_failed', errors),
  row('setup_intent_authentication_failure', 'authentication_failed', errors),
  row('payment_method_provider_decline', 'do_not_honor', errors),
  row('payment_method_provider_timeout', 'issuer_unavailable', errors),
  row('payment_method_customer_decline', 'blocked_by_cardholder', errors),
  row('payment_method_not_available', 'issuer_unavailable', errors),
  row('payment_method_currency_mismatch', 'currency_not_supported', errors),
  row('debit_not_authorized', 'mandate_invalid', errors),
  row('payment_intent_mandate_invalid', 'mandate_invalid', errors),
  row('account_closed', 'closed_account', errors),
  row('no_account', 'invalid_account', errors),
  row('expired_payment_method', 'expired_card', errors),
  row('incorrect_postal_code', 'incorrect_address', errors),
  row('billing_invalid_mandate', 'mandate_invalid', errors),
  row('india_recurring_payment_mandate_canceled', 'mandate_invalid', errors),
  row('refer_to_customer', 'stop_payment_order', errors),
  row('payment_method_restricted', 'restricted_card', errors),
  row('payment_method_bank_account_blocked', 'restricted_card', errors),
  row('payment_intent_payment_attempt_failed', 'do_not_honor', errors),
  row('payment_intent_payment_attempt_expired', 'authentication_failed', errors),
  row('payment_intent_action_required', 'authentication_required', errors),
]);

/** Why Stripe refused a request (400, 404): nothing was created. What is not listed is `processing_error`. */
export const stripeRefusals = declineTable([
  row('amount_too_small', 'amount_outside_limits', errors),
  row('amount_too_large', 'amount_outside_limits', errors),
  row('resource_missing', 'payment_method_unknown', errors),
  row('payment_method_unactivated', 'payment_method_not_supported', errors),
  row('payment_method_invalid_parameter', 'payment_method_not_supported', errors),
  row('payment_method_unsupported_type', 'payment_method_not_supported', errors),
  row('payment_method_unexpected_state', 'payment_method_unknown', errors),
  row('payment_intent_incompatible_payment_method', 'payment_method_not_supported', errors),
  row('livemode_mismatch', 'misconfigured', errors),
  row('testmode_charges_only', 'misconfigured', errors),
  row('account_invalid', 'misconfigured', errors),
  row('platform_api_key_expired', 'misconfigured', errors),
  row('charge_already_refunded', 'processing_error', errors),
  row('charge_disputed', 'processing_error', errors),
  row('charge_expired_for_capture', 'processing_error', errors),
  row('charge_already_captured', 'processing_error', errors),
  row('charge_not_refundable', 'processing_error', errors),
  row('refund_disputed_payment', 'processing_error', errors),
  row('balance_insufficient', 'processing_error', errors),
  row('capture_charge_authorization_expired', 'processing_error', errors),
  row('capture_unauthorized_payment', 'processing_error', errors),
  row('charge_exceeds_transaction_limit', 'amount_outside_limits', errors),
  row('invalid_charge_amount', 'amount_outside_limits', errors),
  row('sepa_unsupported_account', 'payment_method_not_supported', errors),
  row('token_already_used', 'payment_method_unknown', errors),
  row('token_in_use', 'payment_method_unknown', errors),
  row('capability_not_active', 'misconfigured', errors),
  row('secret_key_required', 'misconfigured', errors),
  row('api_key_expired', 'misconfigured', errors),
  row('payment_intent_rate_limit_exceeded', 'processor_rate_limited', errors),
]);

/** Why a refund failed that Stripe had accepted. */
export const stripeRefundFailures = declineTable([
  row('lost_or_stolen_card', 'lost_card', refunds),
  row('expired_or_canceled_card', 'expired_card', refunds),
  row('declined', 'do_not_honor', refunds),
  row('charge_for_pending_refund_disputed', 'processing_error', refunds),
  row('insufficient_funds', 'processing_error', refunds),
]);

/** Stripe's own words about trying again. Source: docs.stripe.com/declines/card, retrying issuer declines. */
const adviceCodes: Record<string, 'never' | 'later'> = { do_not_try_again: 'never', try_again_later: 'later' };

type Advice = Pick<AttemptOutcome, 'retryAdvice' | 'networkAdviceCode'>;

/** The scheme's code decides where it forbids another try; else what Stripe made of it. */
function adviceOf(failure: FailureAnswer): Advice {
  const codes = { responseCode: failure.network_decline_code, merchantAdviceCode: failure.network_advice_code };
  const scheme = networkAdviceOf(failure.payment_method?.card?.brand, codes);
  const stripes = adviceCodes[failure.advice_code ?? ''] ?? null;
  const retryAdvice = scheme.retryAdvice === 'never' || stripes === 'never' ? 'never' : (scheme.retryAdvice ?? stripes);
  return { retryAdvice, networkAdviceCode: scheme.networkAdviceCode ?? failure.network_advice_code ?? null };
}

/** What a refused payment or setup means. */
export function declineOutcome(failure: FailureAnswer): AttemptOutcome {
  const code = failure.decline_code ?? failure.code ?? null;
  const { outcomeClass, declineCode } = (code ? stripeDeclines.get(code) : undefined) ?? unlistedDecline;
  return { outcomeClass, declineCode, rawCode: code, rawMessage: failure.message ?? null, ...adviceOf(failure) };
}
