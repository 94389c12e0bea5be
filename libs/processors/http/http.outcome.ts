import { networkAdviceOf } from '../../domain/payment/network-advice.js';
import type { AttemptOutcome } from '../../domain/payment/outcome.js';
import { unlistedDecline } from '../decline-code.js';
import { outcomeOfPayment, parseAs, totalsOf, unknownOutcome, wireFailure, type Expectation, type Refused } from '../payment-reading.js';
import type { OperationOutcome, PaymentOutcome, PaymentTotals, ToldPayment } from '../port.js';
import type { WireResult } from '../wire.js';
import { refusalOf } from './http-refusal.js';
import { refusalShape, type DeclineShape, type OperationShape, type PaymentShape } from './http.contract.js';

/** The contract forbids them; a mistake of somebody else's must not store one here. */
const cardNumber = /\d(?:[ -]?\d){11,18}/g;

/** What an exchange means when it did not end in a 2xx of the expected shape. */
export function failureOutcome(result: WireResult): AttemptOutcome {
  return wireFailure(result, refusalOutcome);
}

function refusalOutcome(status: number, body: string): AttemptOutcome {
  const refusal = parseAs(refusalShape, body);
  if (!refusal) return unknownOutcome(`answered ${status} in no known format`);
  const { error, payment } = refusal;
  const meaning = refusalOf(status, error.code);
  if (!meaning) return unknownOutcome(`answered ${status} with the code ${error.code}, which do not go together`);
  if (payment && payment.status !== 'declined') return unknownOutcome(`answered ${status} with a payment that is ${payment.status}`);
  return { ...told(error), ...meaningOf(meaning), processorPaymentId: payment?.id ?? null };
}

function meaningOf({ outcomeClass, declineCode }: Pick<AttemptOutcome, 'outcomeClass' | 'declineCode'>) {
  return { outcomeClass, declineCode };
}

/** The code that the contract knows, or the provider's own one behind it. */
function told({ code, raw_code: raw, message, network }: DeclineShape): Omit<Refused, 'outcomeClass'> {
  const advice = networkAdviceOf(network?.brand, { responseCode: network?.response_code, merchantAdviceCode: network?.advice_code });
  return { rawCode: raw ?? code, rawMessage: message?.replaceAll(cardNumber, '…') ?? null, ...advice };
}

function declined(decline: DeclineShape | null): Refused {
  if (!decline) return unlistedDecline;
  return { ...told(decline), ...meaningOf(refusalOf(402, decline.code) ?? unlistedDecline) };
}

export function paymentOutcome(payment: PaymentShape, expected: Expectation): PaymentOutcome {
  return outcomeOfPayment(payment, expected, declined(payment.decline));
}

/** What an operation means by itself: done, accepted, or definitely not done. */
export function operationOutcome(operation: OperationShape): OperationOutcome {
  const ids = { processorOperationId: operation.id, processorPaymentId: operation.payment?.id ?? null };
  if (operation.status === 'pending') return { ...ids, outcomeClass: 'pending' };
  if (operation.status === 'failed') return { ...ids, ...declined(operation.decline) };
  return { ...ids, outcomeClass: 'approved', approvedAmountAtom: operation.amount };
}

export function paymentTotals(payment: PaymentShape): PaymentTotals {
  return totalsOf(payment, payment.disputes.some(({ status }) => status !== 'won'));
}

/** The provider's snapshot, from a list or a callback. */
export function toldPayment(payment: PaymentShape): ToldPayment {
  return {
    reference: payment.reference,
    processorPaymentId: payment.id,
    amountAtom: payment.amount,
    currency: payment.currency,
    outcome: paymentOutcome(payment, payment),
    totals: paymentTotals(payment),
    refunds: payment.refunds.map(({ id, reference, amount, status }) => ({ processorRefundId: id, reference, amountAtom: amount, status })),
    disputes: payment.disputes.map(({ id, reason, amount, status }) => ({ processorDisputeId: id, reason, amountAtom: amount, status })),
    createdAt: payment.created_at,
  };
}
