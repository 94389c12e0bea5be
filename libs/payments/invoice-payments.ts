import type { Db, Tx } from '../db/client.js';
import { newId, siblingId } from '../db/mint.js';
import { chargesOfIntent } from '../db/payment.queries.js';
import { lockIntent } from '../db/payment.writes.js';
import type { InvoiceRow, PaymentIntentRow, SubscriptionRow } from '../db/schema/index.js';
import { findSubscription, usableMethod } from '../db/subscription.queries.js';
import type { InvoicePayments } from '../db/subscription.writes.js';
import type { Change } from '../domain/change/change.js';
import type { PaymentDriver } from '../domain/payment/payment-status.js';
import { DomainError } from '../errors/domain-error.js';
import { publicId } from '../views/ids.js';
import { cancelIntent } from './cancel-intent.js';
import { confirmIntent } from './confirm-intent.js';
import { createIntent } from './create-intent.js';
import { refundCharge } from './refund-charge.js';

type Begin = Parameters<InvoicePayments['begin']>[2];

/** How a subscription's transactions ask for money: one intent per invoice for life, and refunds of its charge. */
export const invoicePayments: InvoicePayments = {
  async begin(tx, change, wish) {
    const { invoice } = wish;
    const intent = invoice.paymentIntentId ? await lockIntent(tx, change.accountId, invoice.paymentIntentId) : null;
    if (!intent || intent.status === 'canceled') return (await openInvoiceIntent(tx, change, { ...wish, present: isCustomerPresent(wish), driver: 'workflow' })).id;
    if (intent.status === 'processing') return intent.id;
    const { paymentMethodId, now } = wish;
    await confirmIntent(tx, change, { intentId: intent.id, paymentMethodId, offSession: true, now });
    return intent.id;
  },

  async release(tx, change, { invoice, now }) {
    const intent = invoice.paymentIntentId ? await lockIntent(tx, change.accountId, invoice.paymentIntentId) : null;
    if (!intent || !isReleasable(intent)) return null;
    const { advance } = await cancelIntent(tx, change, { intentId: intent.id, now });
    return advance ? intent.id : null;
  },

  async refund(tx, change, { invoice, amountAtom, now }) {
    const charges = invoice.paymentIntentId ? await chargesOfIntent(tx, invoice.paymentIntentId) : [];
    const charge = charges.findLast((each) => each.status === 'succeeded' && !each.isLate && each.capturedAtom > each.refundedAtom);
    if (!charge) throw new DomainError('conflict', 'The invoice was not paid through a processor.');
    const wish = { id: newId(), intentId: charge.paymentIntentId, chargeId: charge.id, amountAtom, now, intended: true };
    await refundCharge(tx, change, { ...wish, reason: 'requested_by_customer', description: 'Refund of a cancelled subscription' });
    return charge.paymentIntentId;
  },
};

/** Else it is cancelled, or a success, an attempt or an exception that only its own outcome can end. */
function isReleasable({ status, settled }: PaymentIntentRow): boolean {
  if (status === 'requires_action') return true;
  return settled && (status === 'requires_payment_method' || status === 'requires_confirmation');
}

export async function subscriptionOf(tx: Db | Tx, { accountId, subscriptionId }: InvoiceRow): Promise<SubscriptionRow | null> {
  return (subscriptionId && (await findSubscription(tx, accountId, subscriptionId))) || null;
}

/** Which method pays the invoice unless another is named: its own where a person made it, the subscription's, the customer's. */
export function invoiceMethod(tx: Db | Tx, invoice: InvoiceRow, subscription: SubscriptionRow | null): Promise<string | null> {
  const [own, its] = [invoice.defaultPaymentMethodId, subscription?.defaultPaymentMethodId ?? null];
  return usableMethod(tx, { ...invoice, defaultPaymentMethodId: invoice.billingReason === 'manual' ? (own ?? its) : (its ?? own) });
}

export interface InvoiceWish {
  invoice: InvoiceRow;
  /** Null where the invoice was made by hand for none. */
  subscription: SubscriptionRow | null;
  paymentMethodId: string;
  now: Date;
  /** The customer pays it themself. */
  present: boolean;
  returnUrl?: string | null;
  /** Who moves it first; what an API process leaves behind, the sweeper takes up within seconds. */
  driver: PaymentDriver;
}

/** The id of the intent that collects the invoice, also before there is one; a cancelled one is followed by another. */
export function nextIntentId(invoice: Pick<InvoiceRow, 'id' | 'paymentIntentId'>): string {
  return siblingId(invoice.id, 'payment', invoice.paymentIntentId ?? '');
}

/** The one intent of an invoice, asking for its money at once. */
export function openInvoiceIntent(tx: Tx, change: Change, { invoice, subscription, paymentMethodId, now, present, returnUrl, driver }: InvoiceWish): Promise<PaymentIntentRow> {
  const byHand = invoice.billingReason === 'manual';
  return createIntent(tx, change, {
    id: nextIntentId(invoice),
    customerId: invoice.customerId,
    amountAtom: invoice.dueAtom - invoice.paidAtom,
    currency: invoice.currency,
    paymentMethodId,
    paymentRouteId: subscription?.paymentRouteId,
    offSession: !present,
    confirm: true,
    driver,
    description: `Invoice ${invoice.number}`,
    customFields: byHand ? invoice.customFields : subscription?.customFields,
    returnUrl,
    invoiceId: invoice.id,
    billedFrom: byHand ? null : invoice.periodStart,
    subscriptionId: subscription?.id,
    subscriptionPayment: byHand || !subscription ? null : invoice.billingReason === 'subscription_create' ? 'first' : 'later',
    reference: referenceOf(change, subscription, invoice),
    now,
  });
}

/** The first invoice of a subscription that starts at once without a trial is paid by a customer who is present. */
function isCustomerPresent({ invoice, subscription }: Begin): boolean {
  return invoice.billingReason === 'subscription_create' && subscription.trialEnd === null && subscription.initialStart <= subscription.createdAt;
}

/**
 * Business identity, so that a restored backup cannot charge a period, or an invoice made by hand, twice; changes within one
 * second differ by their invoice.
 */
function referenceOf({ environment }: Change, subscription: SubscriptionRow | null, invoice: InvoiceRow): string {
  if (!subscription || invoice.billingReason === 'manual') return publicId('inv', environment, invoice.id);
  const period = `${publicId('sub', environment, subscription.id)}:${Math.floor(invoice.periodStart.getTime() / 1000)}`;
  return invoice.billingReason === 'subscription_update' ? `${period}:${invoice.number}` : period;
}
