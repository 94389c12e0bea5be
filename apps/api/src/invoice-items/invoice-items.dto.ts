import { z } from 'zod';
import { idText, text } from '../kernel/fields.dto.js';
import { listBody } from '../kernel/lists.dto.js';

const id = idText.nullable().optional();

export const createInvoiceItemBody = z
  .strictObject({
    customer_id: idText,
    price_id: idText.describe('A one-time price: what is sold'),
    quantity: z.int().min(1).max(1_000_000).default(1),
    amount_atom: z.int().nullable().optional().describe('Instead of the price\'s amount, for all pieces together; negative gives back. Needs a description'),
    description: text(5000).nullable().optional(),
    subscription_id: id.describe('Only that subscription\'s next invoice takes it; default: the customer\'s next one'),
  })
  .refine((body) => body.amount_atom == null || Boolean(body.description), { path: ['description'], message: 'Say what an amount of your own is for' });
export type CreateInvoiceItemBody = z.infer<typeof createInvoiceItemBody>;

export const listInvoiceItemsBody = listBody(['created_at', 'updated_at'] as const, {
  invoice_id: id,
  customer_id: id,
  coupon_id: z.null('Not supported yet').optional(),
  pending: z.boolean().nullable().optional().describe('True: only lines that wait for an invoice; false: only lines of one'),
});
export type ListInvoiceItemsBody = z.infer<typeof listInvoiceItemsBody>;

export const deletedInvoiceItemShape = z
  .object({ invoice_item_id: z.string(), message: z.string() })
  .meta({ id: 'DeletedInvoiceItem' });
