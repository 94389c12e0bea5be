import type { AttemptOutcome } from '../../domain/payment/outcome.js';
import { unlistedDecline } from '../decline-code.js';
import { outcomeOfPayment, parseAs, totalsOf, unknownOutcome, wireFailure, type Expectation } from '../payment-reading.js';
import type { OperationOutcome, PaymentOutcome, ToldPayment } from '../port.js';
import type { WireResult } from '../wire.js';
import { refusalAnswer, type OperationAnswer, type PaymentAnswer, type ToldPaymentAnswer } from './simulator.answer.js';
import { simulatorDeclines } from './simulator-decline.js';

/** What an exchange means when it did not end in a 2xx of the expected shape. */
export function failureOutcome(result: WireResult): AttemptOutcome {
  return wireFailure(result, refusalOutcome);
}

const refusalStatuses = new Set([400, 401, 402, 403, 404, 422, 429]);

function refusalOutcome(status: number, body: string): AttemptOutcome {
  const refusal = refusalStatuses.has(status) ? parseAs(refusalAnswer, body) : null;
  if (!refusal) return unknownOutcome(`answered ${status} in no known format`);
  const row = simulatorDeclines.get(refusal.error.code);
  if (!row && status !== 402) return unknownOutcome(`answered ${status} with the unlisted code ${refusal.error.code}`);
  const meaning = row ?? unlistedDecline;
  return {
    outcomeClass: meaning.outcomeClass,
    declineCode: meaning.declineCode,
    processorPaymentId: refusal.payment?.id ?? null,
    rawCode: refusal.error.code,
    rawMessage: refusal.error.message,
  };
}

export function declineOutcome(code: string | null): Pick<AttemptOutcome, 'outcomeClass' | 'declineCode' | 'rawCode'> {
  const meaning = (code ? simulatorDeclines.get(code) : undefined) ?? unlistedDecline;
  return { outcomeClass: meaning.outcomeClass, declineCode: meaning.declineCode, rawCode: code };
}

/** The meaning of a payment object, asked for or looked up. A voided one was approved before; the totals say so. */
export function paymentOutcome(payment: PaymentAnswer, expected: Expectation): PaymentOutcome {
  return outcomeOfPayment(payment, expected, declineOutcome(payment.decline_code));
}

/** What an operation means by itself: done, accepted, or definitely not done. */
export function operationOutcome({ id, amount, status, failure_message, payment }: OperationAnswer): OperationOutcome {
  const ids = { processorOperationId: id, processorPaymentId: payment?.id ?? null };
  if (status === 'pending') return { ...ids, outcomeClass: 'pending' };
  if (status === 'failed') return { ...ids, ...unlistedDecline, rawMessage: failure_message };
  return { ...ids, outcomeClass: 'approved', approvedAmountAtom: amount };
}

/** The simulator's snapshot of a payment, from a callback or a list. */
export function toldPayment(payment: ToldPaymentAnswer): ToldPayment {
  const { reference, amount, currency, refunds, disputes } = payment;
  return {
    reference,
    processorPaymentId: payment.id,
    amountAtom: amount,
    currency,
    outcome: paymentOutcome(payment, { reference, amountAtom: amount, currency }),
    totals: totalsOf(payment, payment.disputed),
    refunds: refunds.map((refund) => ({
      processorRefundId: refund.id,
      reference: refund.reference,
      amountAtom: refund.amount,
      status: refund.status,
      failureMessage: refund.failure_message,
    })),
    disputes: disputes.map((dispute) => ({ processorDisputeId: dispute.id, reason: dispute.reason, amountAtom: dispute.amount, status: dispute.status })),
    createdAt: payment.created_at,
  };
}
