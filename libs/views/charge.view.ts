import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';
import { publishedProcessorName } from './processor-name.js';

export interface ChargeFields {
  id: string;
  accountId: string;
  paymentIntentId: string;
  customerId: string | null;
  invoiceId: string | null;
  subscriptionId: string | null;
  attemptNumber: number;
  processorId: string;
  paymentMethodId: string;
  amountAtom: number;
  currency: string;
  status: string;
  outcomeClass: string | null;
  processorPaymentId: string | null;
  declineCode: string | null;
  failureMessage: string | null;
  rawCode: string | null;
  rawMessage: string | null;
  retryAdvice: string | null;
  networkAdviceCode: string | null;
  authorizedAtom: number;
  capturedAtom: number;
  refundedAtom: number;
  voidedAt: Date | null;
  isLate: boolean;
  disputed: boolean;
  customFields: Record<string, unknown> | null;
  processorMetadata: Record<string, unknown> | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Amounts in atoms of `currency`. `refunded_amount_atom` counts refunds that did not fail, also pending ones. */
export function chargeView(row: ChargeFields, processorKind: string | null, environment: Environment) {
  return {
    id: publicId('ch', environment, row.id),
    object: 'charge',
    account_id: publicId('acct', environment, row.accountId),
    amount_atom: row.amountAtom,
    total_charge_amount_atom: row.amountAtom,
    provider_type_fee_amount_atom: 0,
    amount_atom_authorized: row.authorizedAtom,
    amount_atom_captured: row.capturedAtom,
    currency: row.currency,
    status: row.status,
    outcome_class: row.outcomeClass,
    attempt_number: row.attemptNumber,
    payment_intent_id: publicId('pi', environment, row.paymentIntentId),
    payment_intent_mapping_id: null,
    customer_id: row.customerId ? publicId('cus', environment, row.customerId) : '',
    invoice_id: row.invoiceId ? publicId('inv', environment, row.invoiceId) : null,
    subscription_ids: row.subscriptionId ? [publicId('sub', environment, row.subscriptionId)] : [],
    payment_method_id: publicId('pm', environment, row.paymentMethodId),
    payment_processor_id: publicId('processor', environment, row.processorId),
    payment_processor_name: processorKind ? publishedProcessorName(processorKind) : null,
    processor_payment_id: row.processorPaymentId,
    processor_metadata: row.processorMetadata,
    processor_code: row.rawCode,
    processor_message: row.rawMessage,
    retry_advice: row.retryAdvice,
    network_advice_code: row.networkAdviceCode,
    failure_code: row.declineCode,
    failure_message: row.failureMessage,
    disputed: row.disputed,
    refunded: row.capturedAtom > 0 && row.refundedAtom === row.capturedAtom,
    refunded_amount_atom: row.refundedAtom,
    voided_at: row.voidedAt?.toISOString() ?? null,
    is_late: row.isLate,
    custom_fields: row.customFields,
    is_deleted: false,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export type ChargeView = ReturnType<typeof chargeView>;
