import type { DisputeRecord, OperationRecord, OperationStatus, PaymentRecord } from './ledger-entry.js';
import { mint } from './mint.js';

export function approved(payment: PaymentRecord, amount: number): PaymentRecord {
  const captured = payment.capture === 'automatic';
  return {
    ...payment,
    status: captured ? 'captured' : 'authorized',
    amount_authorized: amount,
    amount_captured: captured ? amount : 0,
    network_transaction_id: payment.network_transaction_id ?? mint('ntid'),
    settles: null,
  };
}

export function declined(payment: PaymentRecord, code: string): PaymentRecord {
  return { ...payment, status: 'declined', decline_code: code, settles: null };
}

export function statusOf(operation: Pick<OperationRecord, 'status'>): OperationStatus {
  return operation.status ?? 'succeeded';
}

/** The payment once an operation has been done. */
export function afterwards(payment: PaymentRecord, operation: Pick<OperationRecord, 'kind' | 'amount'>): PaymentRecord {
  if (operation.kind === 'capture') return { ...payment, status: 'captured', amount_captured: payment.amount_captured + operation.amount };
  if (operation.kind === 'refund') return { ...payment, amount_refunded: payment.amount_refunded + operation.amount };
  return payment.status === 'declined' ? payment : { ...payment, status: 'voided', settles: null };
}

/** The payment when a refund that had been made came back. */
export function takenBack(payment: PaymentRecord, refund: Pick<OperationRecord, 'amount'>): PaymentRecord {
  return { ...payment, amount_refunded: payment.amount_refunded - refund.amount };
}

export function openDispute(payment: PaymentRecord, { amount, reason }: { amount: number; reason: string | null }): DisputeRecord {
  return { id: mint('sim_dp'), connection: payment.connection, payment: payment.id, reference: payment.reference, amount, reason, status: 'open' };
}
