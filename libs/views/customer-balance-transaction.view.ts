import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';

export interface CustomerBalanceTransactionFields {
  id: string;
  accountId: string;
  customerId: string;
  currency: string;
  amountAtom: number;
  endingBalanceAmountAtom: number;
  type: string;
  description: string | null;
  invoiceId: string | null;
  createdAt: Date;
  updatedAt: Date;
}

/** Amounts in atoms; positive is to the customer's credit. */
export function customerBalanceTransactionView(row: CustomerBalanceTransactionFields, environment: Environment) {
  return {
    id: publicId('cbt', environment, row.id),
    object: 'customer_balance_transaction',
    account_id: publicId('acct', environment, row.accountId),
    customer_id: publicId('cus', environment, row.customerId),
    currency: row.currency,
    amount_atom: row.amountAtom,
    ending_balance_amount_atom: row.endingBalanceAmountAtom,
    type: row.type,
    description: row.description,
    invoice_id: row.invoiceId ? publicId('inv', environment, row.invoiceId) : null,
    credit_note_id: null,
    is_deleted: false,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
