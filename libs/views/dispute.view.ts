import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';

export interface DisputeFields {
  id: string;
  accountId: string;
  paymentIntentId: string;
  chargeId: string;
  customerId: string | null;
  theirDisputeId: string;
  status: string;
  reason: string | null;
  amountAtom: number | null;
  metadata: Record<string, unknown> | null;
  createdAt: Date;
  updatedAt: Date;
}

/** The disputed charge. */
export interface DisputedFields {
  currency: string;
  processorPaymentId: string | null;
}

/** `amount_atom` in atoms of `currency`, null where it was not told; `their_…` are the processor's own ids. */
export function disputeView(row: DisputeFields, charge: DisputedFields, environment: Environment) {
  return {
    id: publicId('dp', environment, row.id),
    object: 'dispute',
    account_id: publicId('acct', environment, row.accountId),
    payment_intent_id: publicId('pi', environment, row.paymentIntentId),
    charge_id: publicId('ch', environment, row.chargeId),
    customer_id: row.customerId ? publicId('cus', environment, row.customerId) : null,
    status: row.status,
    reason: row.reason,
    amount_atom: row.amountAtom,
    currency: charge.currency,
    their_dispute_id: row.theirDisputeId,
    their_payment_intent_id: charge.processorPaymentId ?? '',
    metadata: row.metadata,
    is_deleted: false,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export type DisputeView = ReturnType<typeof disputeView>;
