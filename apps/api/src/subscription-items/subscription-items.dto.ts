import { z } from 'zod';
import { invoiceItemShape, invoiceShape } from '../invoices/invoices.dto.js';
import { freeFields, idText, text } from '../kernel/fields.dto.js';
import { prorations, subscriptionItemShape } from '../subscriptions/subscriptions.dto.js';

const note = text(5000).nullable().optional();
const fields = freeFields.nullable().optional();
const quantity = z.int().min(1).max(1_000_000);
const preview = z.boolean().default(false).describe('Answers what would happen and changes nothing');
const proration = prorations
  .default('create_prorations')
  .describe('`create_prorations`: with the next invoice. `always_invoice`: an invoice now, charged now. `none`: no money, and a new interval begins with the next period');

export const createSubscriptionItemBody = z.strictObject({
  subscription_id: idText,
  price_id: idText,
  quantity: quantity.default(1),
  description: note,
  custom_fields: fields,
  add_at_period_end: z.boolean().default(false).describe('Begins with the next period'),
  proration_behavior: proration,
  is_preview: preview,
});
export type CreateSubscriptionItemBody = z.infer<typeof createSubscriptionItemBody>;

export const updateSubscriptionItemBody = z.strictObject({
  price_id: idText.nullable().optional(),
  quantity: quantity.nullable().optional(),
  description: note,
  custom_fields: fields,
  drop_at_end: z.boolean().nullable().optional().describe('Ends with the current period; false takes that back'),
  proration_behavior: proration,
  is_preview: preview,
});
export type UpdateSubscriptionItemBody = z.infer<typeof updateSubscriptionItemBody>;

export const deleteSubscriptionItemBody = z.strictObject({
  drop_at_end: z.boolean().optional().describe('Default true: with the current period; false: now'),
  proration_behavior: prorations.nullable().optional(),
  is_preview: z.boolean().optional(),
});
export type DeleteSubscriptionItemBody = z.infer<typeof deleteSubscriptionItemBody>;

/** The same fields in the query, because clients drop DELETE bodies. */
export const deleteSubscriptionItemQuery = z.strictObject({
  drop_at_end: z.stringbool().optional(),
  proration_behavior: prorations.optional(),
  is_preview: z.stringbool().optional(),
});
export type DeleteSubscriptionItemQuery = z.infer<typeof deleteSubscriptionItemQuery>;

const money = {
  invoice: invoiceShape.nullable().describe('What is billed at once; null: nothing is'),
  pending_invoice_items: z.array(invoiceItemShape).describe('Lines that the next invoice takes in'),
};

export const changedSubscriptionItemShape = subscriptionItemShape.extend(money).meta({ id: 'ChangedSubscriptionItem' });

export const deletedSubscriptionItemShape = z.object({
  subscription_item_id: z.string(),
  deleted_at: z.iso.datetime().nullable(),
  drop_at_end: z.boolean(),
  message: z.string(),
  ...money,
}).meta({ id: 'DeletedSubscriptionItem' });
