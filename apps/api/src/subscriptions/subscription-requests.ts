import { siblingId } from '../../../../libs/db/mint.js';
import type { SubscriptionRow } from '../../../../libs/db/schema/index.js';
import type { ItemInput } from '../../../../libs/domain/subscription/item-changes.js';
import type { NewSubscriptionJson, SubscriptionCommand } from '../../../../libs/domain/subscription/subscription.command.js';
import { DomainError, invalidField } from '../../../../libs/errors/domain-error.js';
import { readDunningPolicy, type DunningPolicyBody } from '../accounts/policies.dto.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId } from '../kernel/ids.js';
import type {
  CancelSubscriptionBody, CancelSubscriptionOptionalBody, CancelSubscriptionQuery, CreateSubscriptionBody, UpdateSubscriptionBody,
} from './subscriptions.dto.js';

/** From the wire to what travels to the workflow. @throws DomainError 422 naming the id that is not one. */
export function readCreate(caller: Caller, body: CreateSubscriptionBody): NewSubscriptionJson {
  const details = body.subscription_item_details ?? {};
  const prices = body.selected_product_price_quantity.map(({ price_id: price }) => price);
  const unknown = Object.keys(details).find((price) => !prices.includes(price));
  if (unknown !== undefined) throw invalidField(['subscription_item_details', unknown], 'names no selected price');
  return {
    id: caller.objectId(),
    customerId: bodyId('customer_id', 'cus', body.customer_id, caller),
    items: body.selected_product_price_quantity.map(({ price_id: price, quantity }, index) => ({
      priceId: bodyId(`selected_product_price_quantity.${index}.price_id`, 'price', price, caller),
      quantity,
      description: details[price]?.description ?? null,
      customFields: details[price]?.custom_fields ?? null,
    })),
    startsAt: body.starts_at?.toISOString() ?? null,
    trialEnd: body.trial_end?.toISOString() ?? null,
    trialPeriodDays: body.trial_period_days ?? null,
    trialFromPrice: body.trial_from_price,
    missingPaymentMethod: body.trial_settings?.missing_payment_method ?? 'pause',
    collectionMethod: body.collection_method,
    netD: body.net_d ?? null,
    description: body.description ?? null,
    customFields: body.custom_fields ?? null,
    paymentMethodId: body.payment_method_id ? bodyId('payment_method_id', 'pm', body.payment_method_id, caller) : null,
    paymentRouteId: body.payment_route_id ? bodyId('payment_route_id', 'route', body.payment_route_id, caller) : null,
    cancelAtEnd: body.cancel_at_end,
    totalBillingCycles: body.total_billing_cycles ?? null,
    totalAmountAtom: body.total_amount_atom ?? null,
    skipInvoicePayment: body.skip_invoice_payment,
    dunningPolicy: readPolicy(caller, body.dunning_policy) ?? null,
  };
}

/** @throws DomainError 403 for a policy by anybody but an ADMIN. */
function readPolicy(caller: Caller, policy: DunningPolicyBody | null | undefined) {
  if (policy === undefined) return undefined;
  if (caller.role !== 'ADMIN') throw new DomainError('role_too_small', 'A dunning policy needs the role ADMIN.');
  return policy && readDunningPolicy(policy);
}

export function readUpdate(caller: Caller, row: SubscriptionRow, body: UpdateSubscriptionBody): Extract<SubscriptionCommand, { type: 'update' }> {
  const id = (field: string, kind: 'pm' | 'route', value: string | null | undefined) => (value ? bodyId(field, kind, value, caller) : value);
  return {
    type: 'update',
    description: body.description,
    customFields: body.custom_fields,
    paymentMethodId: id('payment_method_id', 'pm', body.payment_method_id),
    paymentRouteId: body.remove_payment_route_id ? null : id('payment_route_id', 'route', body.payment_route_id),
    cancelAtEnd: body.cancel_at_end ?? undefined,
    dunningPolicy: readPolicy(caller, body.dunning_policy),
    trialEnd: trialEndOf(row, body),
    collectionMethod: body.collection_method ?? undefined,
    netD: body.net_d,
    items: body.items ? readItems(caller, body.items) : undefined,
    proration: body.proration_behavior ?? undefined,
  };
}

type InlineItem = NonNullable<UpdateSubscriptionBody['items']>[number];

/** New ones get ids in the order of the request. */
function readItems(caller: Caller, items: InlineItem[]): ItemInput[] {
  const ids = items.map((_, index) => siblingId(caller.objectId(), 'item', index)).sort();
  return items.map((item, index) => readItem(caller, item, { index, minted: ids[index]! }));
}

function readItem(caller: Caller, body: InlineItem, { index, minted }: { index: number; minted: string }): ItemInput {
  const path = ['items', index];
  if (body.delete && !body.id) throw invalidField([...path, 'id'], 'names the item to delete');
  if (!body.id && !body.price_id) throw invalidField([...path, 'price_id'], 'Field required');
  return {
    path,
    action: body.delete ? 'remove' : body.id ? 'update' : 'add',
    id: body.id ? bodyId(`items.${index}.id`, 'si', body.id, caller) : minted,
    replacementId: minted,
    priceId: body.price_id ? bodyId(`items.${index}.price_id`, 'price', body.price_id, caller) : undefined,
    quantity: body.quantity ?? undefined,
    description: body.description,
    customFields: body.custom_fields,
    addAtPeriodEnd: body.add_at_period_end ?? undefined,
    dropAtEnd: body.drop_at_end ?? undefined,
  };
}

function trialEndOf(row: SubscriptionRow, body: UpdateSubscriptionBody): string | undefined {
  if (body.trial_period_days === 0) return 'now';
  if (body.trial_period_days != null) {
    const start = row.trialStart ?? row.initialStart;
    return new Date(start.getTime() + body.trial_period_days * 86_400_000).toISOString();
  }
  return body.trial_end?.toISOString();
}

export function readCancel(body: CancelSubscriptionBody): Extract<SubscriptionCommand, { type: 'cancel' }> {
  return {
    type: 'cancel',
    cancelUnpaidInvoices: body.cancel_unpaid_invoices,
    fullRefund: body.full_refund,
    prorate: body.prorate && !body.full_refund,
    details: body.cancellation_details ?? null,
  };
}

/** A DELETE may carry its fields in the query, in the body, or both; the body wins. */
export function mergeCancel(query: CancelSubscriptionQuery, body: CancelSubscriptionOptionalBody): CancelSubscriptionBody {
  const { comment, feedback, reason } = query;
  const said = comment !== undefined || feedback !== undefined || reason !== undefined;
  const details = said ? { comment: comment ?? null, feedback: feedback ?? null, reason: reason ?? null } : null;
  return {
    cancel_unpaid_invoices: body.cancel_unpaid_invoices ?? query.cancel_unpaid_invoices ?? false,
    full_refund: body.full_refund ?? query.full_refund ?? false,
    prorate: body.prorate ?? query.prorate ?? true,
    is_preview: body.is_preview ?? query.is_preview ?? false,
    cancellation_details: body.cancellation_details ?? details,
  };
}
