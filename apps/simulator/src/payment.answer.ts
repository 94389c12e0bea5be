import type { OperationAnswer, PaymentAnswer } from '../../../libs/processors/simulator/simulator.answer.js';
import type { Answer, OperationRecord, PaymentRecord } from './ledger-entry.js';

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
    payment: payment ? paymentBody(payment, origin) : null,
  };
}
