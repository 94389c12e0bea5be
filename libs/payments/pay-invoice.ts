import { isOwed } from '../domain/invoice/invoice.machine.js';
import type { Tx } from '../db/client.js';
import { closeInvoice, linkIntent, lockInvoice, updateInvoice } from '../db/invoice.writes.js';
import { lockIntent } from '../db/payment.writes.js';
import type { InvoiceRow, PaymentIntentRow } from '../db/schema/index.js';
import { findSubscription, usableMethod } from '../db/subscription.queries.js';
import type { Change } from '../domain/change/change.js';
import { DomainError } from '../errors/domain-error.js';
import { cancelIntent } from './cancel-intent.js';
import { confirmIntent } from './confirm-intent.js';
import { openInvoiceIntent } from './invoice-payments.js';

export interface InvoicePayment {
  invoiceId: string;
  paymentMethodId: string | null;
  now: Date;
}

/**
 * Confirms the invoice's one intent, with the customer present.
 * @throws DomainError 404, 409 for a paid or void invoice and `payment_in_flight`, 422 `payment_method_required`.
 */
export async function payInvoice(tx: Tx, change: Change, wish: InvoicePayment): Promise<PaymentIntentRow> {
  const invoice = await payable(tx, change, wish.invoiceId);
  const subscription = invoice.subscriptionId ? await findSubscription(tx, change.accountId, invoice.subscriptionId) : undefined;
  const payer = { ...invoice, defaultPaymentMethodId: subscription?.defaultPaymentMethodId ?? invoice.defaultPaymentMethodId };
  const paymentMethodId = wish.paymentMethodId ?? (await usableMethod(tx, payer));
  if (!paymentMethodId) throw new DomainError('payment_method_required');
  if (!invoice.paymentIntentId) {
    const opened = await openInvoiceIntent(tx, change, { invoice, subscription: subscription!, paymentMethodId, now: wish.now, present: true });
    await linkIntent(tx, change, { invoiceId: invoice.id, paymentIntentId: opened.id, at: wish.now });
    return opened;
  }
  return confirmIntent(tx, change, { intentId: invoice.paymentIntentId, paymentMethodId, offSession: false, now: wish.now });
}

/** The money came by another way: the intent is cancelled, so that it can never be collected again. */
export async function payInvoiceOutOfBand(tx: Tx, change: Change, { invoiceId, now }: { invoiceId: string; now: Date }): Promise<InvoiceRow> {
  const invoice = await payable(tx, change, invoiceId);
  await releaseIntent(tx, change, { invoice, now });
  const set = { status: 'paid' as const, paidAtom: invoice.dueAtom, paidAt: now, paidOutOfBand: true, latestFailureMessage: null };
  await updateInvoice(tx, change, { row: invoice, set, at: now, event: 'invoice.paid' });
  return invoice;
}

/** Before an invoice is voided or paid otherwise. @throws DomainError 409 `payment_in_flight`. */
export async function releaseIntent(tx: Tx, change: Change, { invoice, now }: { invoice: InvoiceRow; now: Date }): Promise<void> {
  const intent = invoice.paymentIntentId ? await lockIntent(tx, change.accountId, invoice.paymentIntentId) : null;
  if (!intent || intent.status === 'canceled') return;
  if (intent.status !== 'requires_payment_method' && intent.status !== 'requires_confirmation' && !intent.stoppedAt) throw new DomainError('payment_in_flight');
  await cancelIntent(tx, change, { intentId: intent.id, now });
}

async function payable(tx: Tx, change: Change, invoiceId: string): Promise<InvoiceRow> {
  const invoice = await lockInvoice(tx, change.accountId, invoiceId);
  if (!isOwed(invoice.status) && invoice.status !== 'uncollectible') {
    throw new DomainError('conflict', `An invoice that is ${invoice.status} cannot be paid.`);
  }
  return invoice;
}

/** @throws DomainError 404, 409 for an invoice that is paid or closed, or whose payment is unresolved. */
export async function closeInvoiceByHand(tx: Tx, change: Change, wish: { invoiceId: string; as: 'void' | 'uncollectible'; now: Date }): Promise<void> {
  const invoice = await lockInvoice(tx, change.accountId, wish.invoiceId);
  if (wish.as === 'void') await releaseIntent(tx, change, { invoice, now: wish.now });
  await closeInvoice(tx, change, { invoiceId: invoice.id, as: wish.as, at: wish.now });
}
