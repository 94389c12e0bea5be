import type { AttemptOutcome } from '../../domain/payment/outcome.js';
import { unlistedDecline } from '../decline-code.js';
import { outcomeOfPayment, parseAs, unknownOutcome, wireFailure, type Expectation } from '../payment-reading.js';
import type { PaymentOutcome } from '../port.js';
import type { WireResult } from '../wire.js';
import { refusalAnswer, type PaymentAnswer } from './simulator.answer.js';
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
