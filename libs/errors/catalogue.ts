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
  token_address_refused: entry(401, false, 'Address not allowed', 'The token carries an allow-list of addresses and this request came from another one.'),
  role_too_small: entry(403, false, 'Role too small', 'The token has a role that may not do this.'),
  not_found: entry(404, false, 'Not found', 'There is no such path, or no such object in this account and environment.'),
  method_not_allowed: entry(405, false, 'Method not allowed', 'The path exists, but not with this method.'),
  conflict: entry(409, false, 'Conflict', 'The object is in a state that refuses this change.'),
  invalid_state_transition: entry(409, false, 'Refused transition', 'The object\'s state does not allow this move; the detail names the state and the allowed moves.'),
  version_conflict: entry(409, true, 'Version conflict', 'The object changed meanwhile; read it again and retry.'),
  idempotency_key_in_use: entry(409, true, 'Idempotency key in use', 'A request with this key is still running; retry after the given time.'),
  payment_in_flight: entry(409, true, 'Payment in flight', 'An attempt of this payment has no outcome yet; wait for it.'),
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
  issuer_unavailable: decline('Issuer unavailable', 'The issuer could not be reached.'),
  velocity_exceeded: decline('Too many tries', 'The issuer limits how often the card may be used.'),
  insufficient_funds: decline('Insufficient funds', 'The account behind the card lacks the money.'),
  lost_card: decline('Lost card', 'The card was reported lost; it can never be charged again.'),
  stolen_card: decline('Stolen card', 'The card was reported stolen; it can never be charged again.'),
  expired_card: decline('Expired card', 'The card has expired.'),
  incorrect_cvc: decline('Incorrect CVC', 'The security code is wrong.'),
  suspected_fraud: decline('Suspected fraud', 'The provider\'s own fraud engine refused.'),
  authentication_required: decline('Authentication required', 'The customer must confirm the payment; it cannot be taken unattended.'),
  partial_approval: decline('Partially approved', 'The issuer approved less than was asked.'),
  processing_error: decline('Processing error', 'The processor refused for a reason of its own; nothing was created.'),
  misconfigured: decline('Connection misconfigured', 'The processor refused the connection\'s credentials or settings.'),
  processor_rate_limited: decline('Processor is rate limiting', 'The processor asked to slow down; nothing was created.'),
  connection_failed: decline('Processor not reached', 'No byte of the request was sent.'),
  generic_decline: decline('Declined', 'The processor declined with a code that is not in its table.'),
} as const;

export const catalogue = { ...general, ...declines };

export type ErrorCode = keyof typeof catalogue;
export type DeclineCode = keyof typeof declines;
