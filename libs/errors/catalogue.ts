/** What a code means to a caller. `retryable`: the same request may succeed later without a change. */
export interface CatalogueEntry {
  http: number;
  retryable: boolean;
  title: string;
  explanation: string;
}

function entry(http: number, retryable: boolean, title: string, explanation: string): CatalogueEntry {
  return { http, retryable, title, explanation };
}

/**
 * Every error code of this service. `GET /errors/{code}` explains each. A declined payment's code is its normalised
 * decline code (`declines` below).
 */
const general = {
  unreadable_json: entry(400, false, 'Unreadable JSON', 'The body is not valid JSON in UTF-8.'),
  token_missing: entry(401, false, 'No token', 'Send `Authorization: Bearer <token>`.'),
  token_invalid: entry(401, false, 'Invalid token', 'The token is malformed, unknown, revoked or expired.'),
  token_wrong_environment: entry(401, false, 'Token of another environment', 'This token belongs to the other environment; each environment has its own base URL and tokens.'),
  callback_refused: entry(401, false, 'Callback refused', 'The signature of the callback is missing, wrong or too old, or its body is not in the processor\'s format; nothing was stored.'),
  token_address_refused: entry(401, false, 'Address not allowed', 'The token carries an allow-list of addresses and this request came from another one.'),
  role_too_small: entry(403, false, 'Role too small', 'The token has a role that may not do this.'),
  staging_only: entry(403, false, 'Staging only', 'Test clocks exist in staging only: in production time is real.'),
  not_found: entry(404, false, 'Not found', 'There is no such path, or no such object in this account and environment.'),
  method_not_allowed: entry(405, false, 'Method not allowed', 'The path exists, but not with this method.'),
  conflict: entry(409, false, 'Conflict', 'The object is in a state that refuses this change.'),
  invalid_state_transition: entry(409, false, 'Refused transition', 'The object\'s state does not allow this move; the detail names the state and the allowed moves.'),
  version_conflict: entry(409, true, 'Version conflict', 'The object changed meanwhile; read it again and retry.'),
  idempotency_key_in_use: entry(409, true, 'Idempotency key in use', 'A request with this key is still running; retry after the given time.'),
  test_clock_advancing: entry(409, true, 'Test clock is advancing', 'The customer\'s test clock is on its way to another time; change the subscription, or advance further, when it is ready.'),
  payment_in_flight: entry(409, true, 'Payment in flight', 'An attempt of this payment has no outcome yet; wait for it.'),
  charging_stopped: entry(409, true, 'Charging is stopped', 'New charges are stopped by an operator; nothing was charged. Confirm the payment again when the stop is lifted.'),
  possible_duplicate: entry(409, false, 'Possible duplicate', 'An equal request was made within the last minute; send an idempotency key to say that you mean it.'),
  last_admin: entry(409, false, 'Last administrator', 'The last ADMIN token of an account cannot be removed.'),
  payload_too_large: entry(413, false, 'Body too large', 'Bodies are limited to 1 MiB.'),
  unsupported_media_type: entry(415, false, 'Unsupported media type', 'Send `Content-Type: application/json`.'),
  invalid_request: entry(422, false, 'Invalid request', 'The body or query is well-formed but a field is invalid; `errors` names each one.'),
  idempotency_key_reused: entry(422, false, 'Idempotency key reused', 'The key was used with other parameters or by another token.'),
  idempotency_key_invalid: entry(422, false, 'Invalid idempotency key', 'An idempotency key has 1 to 255 visible characters.'),
  payment_method_required: entry(422, false, 'Payment method required', 'Money is due and neither the subscription nor its customer names a payment method.'),
  payment_method_required_to_resume: entry(409, false, 'Payment method required', 'Money is due on resume and there is no payment method.'),
  refund_exceeds_captured: entry(422, false, 'Refund exceeds captured amount', 'The refunds of a charge never exceed what was captured.'),
  unknown_test_card: entry(422, false, 'Not a test card', 'This environment accepts the simulator\'s test cards only; a real card number never belongs here.'),
  rate_limited: entry(429, true, 'Too many requests', 'Slow down; `Retry-After` says when to go on.'),
  no_processor_available: entry(402, true, 'No processor available', 'No route leads to a connection that can take this payment.'),
  internal: entry(500, true, 'Internal error', 'Something failed on our side; the request id finds it in the log.'),
  processor_unavailable: entry(503, true, 'Processor unavailable', 'No connection gave a definite answer; nothing was created, retry.'),
  service_unavailable: entry(503, true, 'Temporarily unavailable', 'Something that this service depends on cannot be reached; nothing was lost, retry.'),
} as const;

function decline(title: string, explanation: string): CatalogueEntry {
  return entry(402, false, title, explanation);
}

/** Normalised decline codes: what a processor's refusal means, whatever the processor called it. */
export const declines = {
  do_not_honor: decline('Declined by the issuer', 'The issuer refused without a reason; another try or another processor may succeed.'),
  call_issuer: decline('Refer to the issuer', 'The issuer wants to speak to the cardholder before it approves; the customer should call the bank.'),
  try_again_later: decline('Try again later', 'The issuer could not decide now; the same payment may be approved later.'),
  issuer_unavailable: decline('Issuer unavailable', 'The issuer could not be reached.'),
  insufficient_funds: decline('Insufficient funds', 'The account behind the card lacks the money.'),
  amount_limit_exceeded: decline('Amount limit exceeded', 'The amount is over what the issuer allows for this card, at once or in a period.'),
  velocity_exceeded: decline('Too many tries', 'The issuer limits how often the card may be used.'),
  lost_card: decline('Lost card', 'The card was reported lost; it can never be charged again.'),
  stolen_card: decline('Stolen card', 'The card was reported stolen; it can never be charged again.'),
  pickup_card: decline('Card to be kept', 'The issuer wants the card taken from whoever presents it; it can never be charged again.'),
  expired_card: decline('Expired card', 'The card has expired.'),
  closed_account: decline('Closed account', 'The account behind the card is closed.'),
  invalid_account: decline('Invalid account', 'There is no such account at the issuer, or it cannot be charged.'),
  invalid_number: decline('Invalid card number', 'There is no such card.'),
  no_such_issuer: decline('No such issuer', 'The card number belongs to no bank.'),
  invalid_expiry: decline('Invalid expiry date', 'The expiry date is not the card\'s.'),
  new_account_information_available: decline('New card details exist', 'The issuer has replaced the card; ask the customer for the new one.'),
  restricted_card: decline('Restricted card', 'The card may not be used here or for this; the customer should ask the bank.'),
  card_not_supported: decline('Card not supported', 'The card cannot be used for this kind of purchase.'),
  currency_not_supported: decline('Currency not supported', 'The card cannot be charged in this currency.'),
  transaction_not_allowed: decline('Not permitted', 'The issuer does not permit this kind of payment with this card.'),
  blocked_by_cardholder: decline('Blocked by the cardholder', 'The cardholder has switched off payments of this kind.'),
  invalid_amount: decline('Invalid amount', 'The issuer does not take this amount.'),
  duplicate_transaction: decline('Duplicate', 'The same amount was charged to the card a moment ago; find that payment before trying again.'),
  incorrect_cvc: decline('Incorrect CVC', 'The security code is wrong.'),
  incorrect_address: decline('Incorrect address', 'The billing address or postal code is not the one that the issuer knows.'),
  pin_required: decline('PIN required', 'The issuer wants a PIN, which cannot be asked for online.'),
  incorrect_pin: decline('Incorrect PIN', 'The PIN was wrong or missing.'),
  pin_tries_exceeded: decline('Too many PIN tries', 'The PIN was entered wrongly too often; the customer should ask the bank.'),
  authentication_required: decline('Authentication required', 'The customer must confirm the payment; it cannot be taken unattended.'),
  authentication_failed: decline('Authentication failed', 'The customer did not pass the confirmation.'),
  security_violation: decline('Security violation', 'The issuer refused for a reason of security that it does not tell.'),
  issuer_suspected_fraud: decline('Fraud suspected by the issuer', 'The issuer suspects fraud; the customer should call the bank.'),
  stop_payment_order: decline('Payment stopped', 'The cardholder told the bank to stop this payment.'),
  revocation_of_authorization: decline('Permission revoked', 'The cardholder told the bank to refuse payments to this merchant.'),
  mandate_invalid: decline('Mandate invalid', 'The debit has no valid mandate, or its mandate was revoked.'),
  do_not_try_again: decline('Do not try again', 'The issuer or the card scheme forbids another try with this card.'),
  suspected_fraud: decline('Suspected fraud', 'The provider\'s own fraud engine refused.'),
  blocked_by_merchant: decline('Blocked by your own rules', 'A block list that you keep at the provider refused.'),
  partial_approval: decline('Partially approved', 'The issuer approved less than was asked.'),
  processing_error: decline('Processing error', 'The processor refused for a reason of its own; nothing was created.'),
  amount_outside_limits: decline('Amount outside the processor\'s limits', 'The processor takes no payment this small or this large; nothing was created.'),
  payment_method_unknown: decline('Payment method unknown there', 'The processor does not know the payment method, or no longer; nothing was created.'),
  payment_method_not_supported: decline('Payment method not supported', 'The connection does not take this kind of payment method; nothing was created.'),
  test_card_refused: decline('Test card refused', 'A test card was sent to a connection that moves real money, or the other way round; nothing was created.'),
  misconfigured: decline('Connection misconfigured', 'The processor refused the connection\'s credentials or settings.'),
  processor_rate_limited: decline('Processor is rate limiting', 'The processor asked to slow down; nothing was created.'),
  connection_failed: decline('Processor not reached', 'No byte of the request was sent.'),
  generic_decline: decline('Declined', 'The processor declined with a code that is not in its table.'),
} as const;

export const catalogue = { ...general, ...declines };

export type ErrorCode = keyof typeof catalogue;
export type DeclineCode = keyof typeof declines;
