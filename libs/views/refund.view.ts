import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';

export interface RefundFields {
  id: string;
  accountId: string;
  chargeId: string;
  paymentIntentId: string;
  invoiceId: string | null;
  customerId: string | null;
  amountAtom: number;
  currency: string;
  reason: string;
  description: string | null;
  status: string;
  refundedOutOfBand: boolean;
  attemptErrorMessage: string | null;
  processorRefundId: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** `invoice_id` is empty where the payment has no invoice: strict clients expect a string. */
export function refundView(row: RefundFields, environment: Environment) {
  return {
    id: publicId('re', environment, row.id),
    object: 'refund',
    account_id: publicId('acct', environment, row.accountId),
    charge_id: publicId('ch', environment, row.chargeId),
    payment_intent_id: publicId('pi', environment, row.paymentIntentId),
    invoice_id: row.invoiceId ? publicId('inv', environment, row.invoiceId) : '',
    customer_id: row.customerId ? publicId('cus', environment, row.customerId) : null,
    amount_atom: row.amountAtom,
    currency: row.currency,
    reason: row.reason,
    description: row.description,
    status: row.status,
    refunded_out_of_band: row.refundedOutOfBand,
    attempt_error_message: row.attemptErrorMessage,
    processor_refund_id: row.processorRefundId,
    is_deleted: false,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export type RefundView = ReturnType<typeof refundView>;
