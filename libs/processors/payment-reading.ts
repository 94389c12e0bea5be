import type { AttemptOutcome } from '../domain/payment/outcome.js';
import type { LookupAnswer, LookupCall, OperationOutcome, PaymentOutcome, PaymentTotals } from './port.js';
import type { WireResult } from './wire.js';

/** A payment as the providers that speak JSON of our own design tell it (simulator, http). Amounts in atoms. */
export interface PaymentFacts {
  id: string;
  reference: string;
  status: 'authorized' | 'captured' | 'declined' | 'pending' | 'requires_action' | 'voided';
  amount: number;
  amount_authorized: number;
  amount_captured: number;
  amount_refunded: number;
  currency: string;
  network_transaction_id: string | null;
  redirect_url: string | null;
}

export interface OperationFacts {
  id: string;
  amount: number;
  currency: string | null;
}

export interface Expectation {
  reference: string;
  amountAtom?: number | null;
  currency?: string | null;
}

/** Why a payment or operation was refused. */
export type Refused = Pick<AttemptOutcome, 'outcomeClass' | 'declineCode' | 'rawCode' | 'rawMessage' | 'retryAdvice' | 'networkAdviceCode'>;

interface Schema<T> {
  safeParse(value: unknown): { success: true; data: T } | { success: false };
}

export function unknownOutcome(reason: string): AttemptOutcome {
  return { outcomeClass: 'unknown', rawMessage: reason };
}

/** Parses a body into the shape of `schema`, or null: the answer is then not in the provider's format. */
export function parseAs<T>(schema: Schema<T>, body: string): T | null {
  try {
    const parsed = schema.safeParse(JSON.parse(body));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}

/** The body of a 2xx of the expected shape; null for anything else. */
export function answered<T>(result: WireResult, schema: Schema<T>): T | null {
  if (result.kind !== 'answered' || result.status < 200 || result.status > 299) return null;
  return parseAs(schema, result.body);
}

/** What an exchange means that did not end in a 2xx of the expected shape. `refusal` reads what was answered. */
export function wireFailure(result: WireResult, refusal: (status: number, body: string) => AttemptOutcome): AttemptOutcome {
  if (result.kind === 'not_sent') return { outcomeClass: 'not_sent', declineCode: 'connection_failed', rawMessage: result.reason };
  if (result.kind === 'lost') return unknownOutcome(result.reason);
  return refusal(result.status, result.body);
}

/** Differences between what was asked and what the provider says it did; null if there are none. */
export function mismatchOf(payment: PaymentFacts, expected: Expectation): string | null {
  if (payment.reference !== expected.reference) return `reference ${payment.reference} instead of ${expected.reference}`;
  if (expected.currency && payment.currency !== expected.currency) return `currency ${payment.currency} instead of ${expected.currency}`;
  if (expected.amountAtom != null && payment.amount !== expected.amountAtom) {
    return `amount ${payment.amount} instead of ${expected.amountAtom}`;
  }
  return null;
}

/** The meaning of a payment object, asked for or looked up. A voided one was approved before; the totals say so. */
export function outcomeOfPayment(payment: PaymentFacts, expected: Expectation, refused: Refused): PaymentOutcome {
  const base: Omit<PaymentOutcome, 'outcomeClass'> = {
    processorPaymentId: payment.id,
    networkTransactionId: payment.network_transaction_id,
    capturedAmountAtom: payment.amount_captured,
  };
  const difference = mismatchOf(payment, expected);
  if (difference) return { ...base, outcomeClass: 'mismatch', rawMessage: difference };
  if (payment.status === 'declined') return { ...base, ...refused };
  if (payment.status === 'pending') return { ...base, outcomeClass: 'pending' };
  if (payment.status === 'requires_action') return { ...base, outcomeClass: 'action_required', redirectUrl: payment.redirect_url };
  return approvedOutcome(payment, base);
}

function approvedOutcome(payment: PaymentFacts, base: Omit<PaymentOutcome, 'outcomeClass'>): PaymentOutcome {
  const approved = { ...base, approvedAmountAtom: payment.amount_authorized };
  if (payment.amount_authorized > payment.amount) {
    return { ...approved, outcomeClass: 'mismatch', rawMessage: `approved ${payment.amount_authorized} of ${payment.amount}` };
  }
  if (payment.amount_authorized < payment.amount && payment.status !== 'voided') {
    return { ...approved, outcomeClass: 'partial_approval', declineCode: 'partial_approval' };
  }
  return { ...approved, outcomeClass: 'approved' };
}

export function totalsOf(payment: PaymentFacts, disputed: boolean): PaymentTotals {
  return {
    authorizedAmountAtom: payment.amount_authorized,
    capturedAmountAtom: payment.amount_captured,
    refundedAmountAtom: payment.amount_refunded,
    voided: payment.status === 'voided',
    disputed,
  };
}

export function holdsMoney(payment: PaymentFacts): boolean {
  return payment.status === 'authorized' || payment.status === 'captured' || payment.status === 'pending';
}

/** A read changes nothing, so whatever it failed with, nothing was learned. */
export function failedRead(outcome: AttemptOutcome): LookupAnswer {
  return { found: 'unknown', outcome: unknownOutcome(outcome.rawMessage ?? 'the lookup failed') };
}

/** What the payments under one reference say about the attempt; more than one that holds money is a mismatch. */
export function foundPayment<P extends PaymentFacts>(payments: P[], read: (payment: P) => { outcome: PaymentOutcome; totals: PaymentTotals }): LookupAnswer {
  const payment = payments.find(holdsMoney) ?? payments.at(-1);
  if (!payment) return { found: 'absent' };
  const { outcome, totals } = read(payment);
  if (payments.filter(holdsMoney).length <= 1) return { found: 'yes', outcome, totals };
  return { found: 'yes', outcome: { ...outcome, outcomeClass: 'mismatch', rawMessage: 'several charges carry this reference' }, totals };
}

/** What the operations under one reference say; `read` answers what the first one means by itself. */
export function foundOperation<O extends OperationFacts>(
  operations: O[],
  call: LookupCall,
  read: (operation: O) => { outcome: OperationOutcome; totals: PaymentTotals | null },
): LookupAnswer {
  const operation = operations[0];
  if (!operation) return { found: 'absent' };
  const { outcome, totals } = read(operation);
  const difference = operationDifference(operation, call) ?? (operations.length > 1 ? 'several operations carry this reference' : null);
  const told: OperationOutcome = difference ? { ...outcome, outcomeClass: 'mismatch', rawMessage: difference } : outcome;
  return { found: 'yes', outcome: told, totals: totals ?? nothing };
}

function operationDifference(operation: OperationFacts, expected: LookupCall): string | null {
  if (expected.amountAtom != null && operation.amount !== expected.amountAtom) {
    return `amount ${operation.amount} instead of ${expected.amountAtom}`;
  }
  if (expected.currency && operation.currency && operation.currency !== expected.currency) return `currency ${operation.currency}`;
  return null;
}

const nothing: PaymentTotals = { authorizedAmountAtom: 0, capturedAmountAtom: 0, refundedAmountAtom: 0, voided: true, disputed: false };
