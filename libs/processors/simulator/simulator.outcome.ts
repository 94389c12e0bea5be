import type { AttemptOutcome } from '../../domain/payment/outcome.js';
import { unlistedDecline } from '../decline-code.js';
import type { PaymentOutcome, PaymentTotals } from '../port.js';
import { refusalAnswer, type PaymentAnswer } from './simulator.answer.js';
import { simulatorDeclines } from './simulator-decline.js';
import type { WireResult } from '../wire.js';

export interface Expectation {
  reference: string;
  amountAtom?: number | null;
  currency?: string | null;
}

export function unknownOutcome(reason: string): AttemptOutcome {
  return { outcomeClass: 'unknown', rawMessage: reason };
}

/** Parses a body into the shape of `schema`, or null: the answer is then not in the simulator's format. */
export function parseAs<T>(schema: { safeParse(value: unknown): { success: true; data: T } | { success: false } }, body: string): T | null {
  try {
    const parsed = schema.safeParse(JSON.parse(body));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** What an exchange means when it did not end in a 2xx of the expected shape. */
export function failureOutcome(result: WireResult): AttemptOutcome {
  if (result.kind === 'not_sent') return { outcomeClass: 'not_sent', declineCode: 'connection_failed', rawMessage: result.reason };
  if (result.kind === 'lost') return unknownOutcome(result.reason);
  return refusalOutcome(result.status, result.body);
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

/** Differences between what was asked and what the processor says it did; null if there are none. */
export function mismatchOf(payment: PaymentAnswer, expected: Expectation): string | null {
  if (payment.reference !== expected.reference) return `reference ${payment.reference} instead of ${expected.reference}`;
  if (expected.currency && payment.currency !== expected.currency) return `currency ${payment.currency} instead of ${expected.currency}`;
  if (expected.amountAtom != null && payment.amount !== expected.amountAtom) {
    return `amount ${payment.amount} instead of ${expected.amountAtom}`;
  }
  return null;
}

/** The meaning of a payment object, asked for or looked up. A voided one was approved before; the totals say so. */
export function paymentOutcome(payment: PaymentAnswer, expected: Expectation): PaymentOutcome {
  const base: Omit<PaymentOutcome, 'outcomeClass'> = {
    processorPaymentId: payment.id,
    networkTransactionId: payment.network_transaction_id,
    capturedAmountAtom: payment.amount_captured,
  };
  const difference = mismatchOf(payment, expected);
  if (difference) return { ...base, outcomeClass: 'mismatch', rawMessage: difference };
  if (payment.status === 'declined') return { ...base, ...declineOutcome(payment.decline_code) };
  if (payment.status === 'pending') return { ...base, outcomeClass: 'pending' };
  if (payment.status === 'requires_action') return { ...base, outcomeClass: 'action_required', redirectUrl: payment.redirect_url };
  return approvedOutcome(payment, base);
}

function approvedOutcome(payment: PaymentAnswer, base: Omit<PaymentOutcome, 'outcomeClass'>): PaymentOutcome {
  const approved = { ...base, approvedAmountAtom: payment.amount_authorized };
  if (payment.amount_authorized > payment.amount) {
    return { ...approved, outcomeClass: 'mismatch', rawMessage: `approved ${payment.amount_authorized} of ${payment.amount}` };
  }
  if (payment.amount_authorized < payment.amount && payment.status !== 'voided') {
    return { ...approved, outcomeClass: 'partial_approval', declineCode: 'partial_approval' };
  }
  return { ...approved, outcomeClass: 'approved' };
}

export function totalsOf(payment: PaymentAnswer): PaymentTotals {
  return {
    authorizedAmountAtom: payment.amount_authorized,
    capturedAmountAtom: payment.amount_captured,
    refundedAmountAtom: payment.amount_refunded,
    voided: payment.status === 'voided',
    disputed: payment.disputed,
  };
}
