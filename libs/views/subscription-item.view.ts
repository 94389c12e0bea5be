import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';

export interface SubscriptionItemFields {
  id: string;
  subscriptionId: string;
  priceId: string;
  productId: string;
  quantity: number;
  description: string | null;
  customFields: Record<string, unknown> | null;
  addAtPeriodEnd: boolean;
  dropAtEnd: boolean;
  removedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** `price`: the published price object of the item. */
export function subscriptionItemView<P extends { currency: string }>(row: SubscriptionItemFields, price: P, environment: Environment) {
  return {
    id: publicId('si', environment, row.id),
    object: 'subscription_item',
    subscription_id: publicId('sub', environment, row.subscriptionId),
    pending_attachment_to_subscription_id: null,
    price_id: publicId('price', environment, row.priceId),
    product_id: publicId('product', environment, row.productId),
    price,
    quantity: row.quantity,
    currency: price.currency,
    description: row.description,
    custom_fields: row.customFields,
    add_at_period_end: row.addAtPeriodEnd,
    drop_at_end: row.dropAtEnd,
    deleted_at: row.removedAt?.toISOString() ?? null,
    is_deleted: row.removedAt !== null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export type SubscriptionItemView = ReturnType<typeof subscriptionItemView>;
