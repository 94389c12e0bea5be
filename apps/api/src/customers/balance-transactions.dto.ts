import { z } from 'zod';
import { currency, text } from '../kernel/fields.dto.js';

export const createBalanceTransactionBody = z.strictObject({
  amount_atom: z
    .int()
    .refine((amount) => amount !== 0, { error: 'Must not be 0' })
    .describe('Positive: to the customer\'s credit; negative takes from it, at most what is there'),
  currency: currency.default('usd'),
  description: text(500).nullable().optional(),
});
export type CreateBalanceTransactionBody = z.infer<typeof createBalanceTransactionBody>;

export const balanceTransactionsQuery = z.strictObject({});
export type BalanceTransactionsQuery = z.infer<typeof balanceTransactionsQuery>;

const time = z.iso.datetime();

export const balanceTransactionShape = z
  .object({
    id: z.string(),
    object: z.literal('customer_balance_transaction'),
    account_id: z.string(),
    customer_id: z.string(),
    currency,
    amount_atom: z.int(),
    ending_balance_amount_atom: z.int().describe('The credit in this currency after it'),
    type: z.enum(['adjustment', 'applied_to_invoice', 'unapplied_from_invoice']),
    description: z.string().nullable(),
    invoice_id: z.string().nullable(),
    credit_note_id: z.string().nullable(),
    is_deleted: z.boolean(),
    created_at: time,
    updated_at: time,
  })
  .meta({ id: 'CustomerBalanceTransaction' });
