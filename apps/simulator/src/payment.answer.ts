import type { OperationAnswer, PaymentAnswer, ToldPaymentAnswer } from '../../../libs/processors/simulator/simulator.answer.js';
import type { Book } from './book.js';
import type { Answer, OperationRecord, PaymentRecord } from './ledger-entry.js';
import { statusOf } from './payment.changes.js';

export function paymentBody(payment: PaymentRecord, origin: string): PaymentAnswer {
  return {
    object: 'payment',
    id: payment.id,
    reference: payment.reference,
    status: payment.status,
    amount: payment.amount,
    amount_authorized: payment.amount_authorized,
    amount_captured: payment.amount_captured,
    amount_refunded: payment.amount_refunded,
    currency: payment.currency,
    decline_code: payment.decline_code,
    network_transaction_id: payment.network_transaction_id,
    redirect_url: payment.status === 'requires_action' ? `${origin}/challenges/${payment.id}` : null,
    disputed: payment.disputed,
  };
}

export function paymentAnswerOf(payment: PaymentRecord, origin: string): Answer {
  const body = paymentBody(payment, origin);
  if (payment.status !== 'declined') return { status: 201, body };
  return { status: 402, body: { error: { code: payment.decline_code, message: 'the card was declined' }, payment: body } };
}

export function operationBody(operation: OperationRecord, payment: PaymentRecord | null, origin: string): OperationAnswer {
  return {
    object: 'operation',
    id: operation.id,
    kind: operation.kind,
    reference: operation.reference,
    amount: operation.amount,
    currency: operation.currency,
    status: statusOf(operation),
    failure_message: operation.failure_message ?? null,
    payment: payment ? paymentBody(payment, origin) : null,
  };
}

/** The payment with all that belongs to it, as it stands in the book. */
export function toldBody(book: Book, payment: PaymentRecord, origin: string): ToldPaymentAnswer {
  return {
    ...paymentBody(payment, origin),
    created_at: book.createdAt.get(payment.id)!,
    refunds: book.refundsOf(payment.id).map((refund) => ({
      id: refund.id,
      reference: refund.out_of_band ? null : refund.reference,
      amount: refund.amount,
      status: statusOf(refund),
      failure_message: refund.failure_message ?? null,
    })),
    disputes: book.disputesOf(payment.id).map(({ id, reason, amount, status }) => ({ id, reason, amount, status })),
  };
}
