import { Stripe } from 'stripe';
import type { AttemptOutcome } from '../../domain/payment/outcome.js';
import { unknownOutcome } from '../payment-reading.js';
import type { OperationOutcome, PaymentOutcome, PaymentTotals } from '../port.js';
import { failureAnswer, idOf, intentAnswer, type ChargeAnswer, type IntentAnswer, type RefundAnswer } from './stripe.answer.js';
import { declineOutcome, stripeRefundFailures, stripeRefusals } from './stripe-decline.js';
import { WireFailure } from './stripe.client.js';
import { unlistedDecline } from '../decline-code.js';

/** Metadata under which our reference stands on payments and refunds. */
export const referenceKey = 'signalbox_reference';

export interface Expected {
  reference: string;
  processorPaymentId?: string | null;
  amountAtom?: number | null;
  currency?: string | null;
  capture?: 'automatic' | 'manual';
}

function parsed<T>(schema: { safeParse(value: unknown): { success: true; data: T } | { success: false } }, value: unknown): T | null {
  const result = schema.safeParse(value);
  return result.success ? result.data : null;
}

/** Codes after which the request may still be, or already was, carried out by another one. */
const contended = new Set(['lock_timeout', 'idempotency_key_in_use']);

/** The payment is in another state than the request needs: an earlier request may have brought it there. */
const otherState = new Set(['payment_intent_unexpected_state', 'intent_invalid_state', 'status_transition_invalid']);

/** The payment behind a refusal that says: not in this state. */
export function unexpectedState(error: unknown): IntentAnswer | null {
  return error instanceof Stripe.errors.StripeError && otherState.has(error.code ?? '') ? parsed(intentAnswer, error.payment_intent) : null;
}

/** What an exchange means that did not end in the object that was asked for. */
export function failureOutcome(error: unknown): AttemptOutcome {
  const wire = error instanceof Stripe.errors.StripeConnectionError ? (error.detail as unknown) : error;
  if (wire instanceof WireFailure) {
    const { kind, reason } = wire.result;
    return kind === 'not_sent' ? { outcomeClass: 'not_sent', declineCode: 'connection_failed', rawMessage: reason } : unknownOutcome(reason);
  }
  if (!(error instanceof Stripe.errors.StripeError) || error.statusCode === undefined) return unknownOutcome(formatProblem(error));
  const { statusCode, rawType, code } = error;
  const told = { rawCode: code ?? rawType ?? null, rawMessage: error.message };
  if (rawType === 'idempotency_error' || contended.has(code ?? '')) return { ...told, outcomeClass: 'unknown' };
  if (statusCode === 402) return declineOutcome(parsed(failureAnswer, error.raw) ?? failureAnswer.parse({}));
  if (statusCode === 401 || statusCode === 403) {
    const rawMessage = statusCode === 401 ? 'Stripe refuses the secret key.' : 'The secret key may not do this.';
    return { ...told, rawMessage, outcomeClass: 'processor_error', declineCode: 'misconfigured' };
  }
  if (statusCode === 429 || code === 'rate_limit') return { ...told, outcomeClass: 'processor_error', declineCode: 'processor_rate_limited' };
  if ((statusCode === 400 || statusCode === 404) && rawType === 'invalid_request_error') return { ...told, ...refusalOf(code) };
  return { ...told, outcomeClass: 'unknown' };
}

function refusalOf(code: string | undefined): Pick<AttemptOutcome, 'outcomeClass' | 'declineCode'> {
  if (otherState.has(code ?? '')) return { outcomeClass: 'unknown' };
  const listed = code ? stripeRefusals.get(code) : undefined;
  return { outcomeClass: 'processor_error', declineCode: listed?.declineCode ?? 'processing_error' };
}

function formatProblem(error: unknown): string {
  return error instanceof Error ? error.message : 'the answer is not in Stripe\'s format';
}

function differenceOf(intent: IntentAnswer, expected: Expected): string | null {
  const reference = intent.metadata[referenceKey];
  if (reference !== expected.reference) return `reference ${reference ?? 'none'} instead of ${expected.reference}`;
  if (expected.processorPaymentId && intent.id !== expected.processorPaymentId) return `payment ${intent.id} instead of ${expected.processorPaymentId}`;
  if (expected.currency && intent.currency !== expected.currency) return `currency ${intent.currency} instead of ${expected.currency}`;
  if (expected.amountAtom != null && intent.amount !== expected.amountAtom) return `amount ${intent.amount} instead of ${expected.amountAtom}`;
  return null;
}

/** Nothing was ever confirmed: it holds no money and asks for none. */
export function isUnconfirmed(intent: IntentAnswer): boolean {
  return intent.status === 'requires_confirmation' || (intent.status === 'requires_payment_method' && !intent.last_payment_error);
}

/** What a PaymentIntent says about the attempt; `unknown` while it was never confirmed. */
export function paymentOutcome(intent: IntentAnswer, expected: Expected): PaymentOutcome {
  const base = { processorPaymentId: intent.id };
  const difference = differenceOf(intent, expected);
  if (difference) return { ...base, outcomeClass: 'mismatch', rawMessage: difference };
  switch (intent.status) {
    case 'succeeded':
      return approvedOutcome(intent, authorisedOf(intent));
    case 'requires_capture':
      if (expected.capture === 'automatic') return { ...base, outcomeClass: 'mismatch', rawMessage: 'authorised without the capture that was asked for' };
      return approvedOutcome(intent, authorisedOf(intent));
    case 'processing':
      return { ...base, outcomeClass: 'pending' };
    case 'requires_action':
      return { ...base, outcomeClass: 'action_required', redirectUrl: intent.next_action?.redirect_to_url?.url ?? null };
    case 'canceled':
      return { ...base, outcomeClass: 'processor_error', declineCode: 'processing_error', rawMessage: 'Cancelled at Stripe.' };
    default:
      if (!intent.last_payment_error) return { ...base, outcomeClass: 'unknown', rawMessage: 'Never confirmed at Stripe.' };
      return { ...base, ...declineOutcome(intent.last_payment_error), ...blockedBy(chargeOf(intent)) };
  }
}

/** Whether Radar refused: the decline code alone does not always tell it from the issuer. */
function blockedBy(charge: ChargeAnswer | null): Pick<PaymentOutcome, 'outcomeClass' | 'declineCode'> | null {
  if (charge?.outcome?.type !== 'blocked') return null;
  return { outcomeClass: 'risk_refused', declineCode: charge.outcome.reason === 'rule' ? 'blocked_by_merchant' : 'suspected_fraud' };
}

/** Codes behind which both the issuer and Radar may stand. Source: docs.stripe.com/declines/codes, generic_decline. */
const ambiguous = new Set(['generic_decline', 'card_declined']);

export function mayBeRadar({ rawCode }: AttemptOutcome): boolean {
  return ambiguous.has(rawCode ?? '');
}

/** A capture by hand may take less than was authorised; an automatic one takes all of it. */
function authorisedOf(intent: IntentAnswer): number {
  if (intent.status === 'requires_capture') return intent.amount_capturable;
  if (intent.capture_method !== 'manual') return intent.amount_received;
  return chargeOf(intent)?.amount ?? intent.amount;
}

function approvedOutcome(intent: IntentAnswer, authorised: number): PaymentOutcome {
  const outcome = {
    processorPaymentId: intent.id,
    approvedAmountAtom: authorised,
    capturedAmountAtom: intent.amount_received,
    networkTransactionId: storedCredential(intent),
  };
  if (authorised > intent.amount) return { ...outcome, outcomeClass: 'mismatch', rawMessage: `approved ${authorised} of ${intent.amount}` };
  if (authorised < intent.amount) return { ...outcome, outcomeClass: 'partial_approval', declineCode: 'partial_approval' };
  return { ...outcome, outcomeClass: 'approved' };
}

/**
 * What lets a later charge be made without the customer: the scheme's transaction id. Where Stripe does not tell it, the
 * saved payment method itself, because Stripe keeps the mandate and the scheme's id behind it and adds them by itself.
 */
function storedCredential(intent: IntentAnswer): string | null {
  if (intent.setup_future_usage !== 'off_session') return null;
  return chargeOf(intent)?.payment_method_details?.card?.network_transaction_id ?? idOf(intent.payment_method);
}

export function chargeOf(intent: IntentAnswer): ChargeAnswer | null {
  return typeof intent.latest_charge === 'object' ? (intent.latest_charge ?? null) : null;
}

export function totalsOf(intent: IntentAnswer): PaymentTotals {
  const charge = chargeOf(intent);
  const holds = intent.status === 'succeeded' || intent.status === 'requires_capture';
  return {
    authorizedAmountAtom: holds ? authorisedOf(intent) : 0,
    capturedAmountAtom: intent.amount_received,
    refundedAmountAtom: charge && intent.status === 'succeeded' ? refundedOf(charge) : 0,
    voided: intent.status === 'canceled',
    disputed: charge?.disputed ?? false,
  };
}

/** At least so much: what was authorised and not captured counts as refunded at Stripe. */
export function refundedOf(charge: ChargeAnswer): number {
  return Math.max(0, charge.amount_refunded - (charge.amount - charge.amount_captured));
}

const releases = new Set(['partial_capture', 'expired_uncaptured_charge']);

/** Stripe tells a release of what was not captured as a refund too. It moves no money, so it has no balance transaction. */
export function isRelease(refund: RefundAnswer): boolean {
  if (refund.metadata[referenceKey] !== undefined) return false;
  return releases.has(refund.reason ?? '') || (refundStatus(refund) === 'succeeded' && !refund.balance_transaction);
}

export function refundStatus(refund: RefundAnswer): 'pending' | 'succeeded' | 'failed' {
  if (refund.status === 'succeeded') return 'succeeded';
  return refund.status === 'failed' || refund.status === 'canceled' ? 'failed' : 'pending';
}

/** What a refund says about our operation; `reference` and amount must be the ones that were asked for. */
export function refundOutcome(refund: RefundAnswer, expected: { reference: string; amountAtom?: number | null; currency?: string | null }): OperationOutcome {
  const ids = { processorOperationId: refund.id, processorPaymentId: idOf(refund.payment_intent) };
  const sameAmount = expected.amountAtom == null || refund.amount === expected.amountAtom;
  const sameCurrency = !expected.currency || refund.currency === expected.currency;
  if (refund.metadata[referenceKey] !== expected.reference || !sameAmount || !sameCurrency) {
    return { ...ids, outcomeClass: 'mismatch', rawMessage: 'another reference, amount or currency was answered' };
  }
  const status = refundStatus(refund);
  if (status === 'pending') return { ...ids, outcomeClass: 'pending' };
  if (status === 'succeeded') return { ...ids, outcomeClass: 'approved', approvedAmountAtom: refund.amount };
  const meaning = stripeRefundFailures.get(refund.failure_reason ?? '') ?? unlistedDecline;
  const rawCode = refund.failure_reason ?? refund.status ?? null;
  return { ...ids, outcomeClass: 'soft_decline', declineCode: meaning.declineCode, rawCode, rawMessage: `The refund ${refund.status}.` };
}
