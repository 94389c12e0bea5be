import { assertInvoiceMay } from '../domain/invoice/invoice.machine.js';
import type { Tx } from '../db/client.js';
import { closeInvoice, commented, linkIntent, lockInvoice, updateInvoice } from '../db/invoice.writes.js';
import { lockIntent } from '../db/payment.writes.js';
import type { InvoiceRow, PaymentIntentRow } from '../db/schema/index.js';
import type { Change } from '../domain/change/change.js';
import { DomainError } from '../errors/domain-error.js';
import { cancelIntent } from './cancel-intent.js';
import { confirmIntent } from './confirm-intent.js';
import { invoiceMethod, nextIntentId, openInvoiceIntent, subscriptionOf } from './invoice-payments.js';

export interface InvoicePayment {
  invoiceId: string;
  paymentMethodId: string | null;
  now: Date;
  /** Where a challenge leads back to, by the intent's UUID. */
  returnUrl?: (intentId: string) => string;
}

/**
 * Confirms the invoice's one intent, with the customer present.
 * @throws DomainError 404, 409 for a paid or void invoice and `payment_in_flight`, 422 `payment_method_required`.
 */
export async function payInvoice(tx: Tx, change: Change, wish: InvoicePayment): Promise<PaymentIntentRow> {
  const invoice = await payable(tx, change, wish.invoiceId);
  const subscription = await subscriptionOf(tx, invoice);
  const paymentMethodId = wish.paymentMethodId ?? (await invoiceMethod(tx, invoice, subscription));
  if (!paymentMethodId) throw new DomainError('payment_method_required');
  const { now } = wish;
  const known = invoice.paymentIntentId ? await lockIntent(tx, change.accountId, invoice.paymentIntentId) : null;
  if (known && known.status !== 'canceled') {
    return confirmIntent(tx, change, { intentId: known.id, paymentMethodId, offSession: false, now, returnUrl: wish.returnUrl?.(known.id) });
  }
  const returnUrl = wish.returnUrl?.(nextIntentId(invoice)) ?? null;
  const opened = await openInvoiceIntent(tx, change, { invoice, subscription, paymentMethodId, now, present: true, returnUrl, driver: 'api' });
  await linkIntent(tx, change, { invoiceId: invoice.id, paymentIntentId: opened.id, at: now });
  return opened;
}

/** The money came by another way: the intent is cancelled, so that it can never be collected again. */
export async function payInvoiceOutOfBand(tx: Tx, change: Change, { invoiceId, now, comment }: { invoiceId: string; now: Date; comment: string | null }): Promise<InvoiceRow> {
  const invoice = await payable(tx, change, invoiceId);
  await releaseIntent(tx, change, { invoice, now });
  const set = { status: 'paid' as const, paidAtom: invoice.dueAtom, paidAt: now, paidOutOfBand: true, latestFailureMessage: null, ...(comment ? { comments: commented(invoice, comment, now) } : {}) };
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
  assertInvoiceMay(invoice.status, 'pay');
  return invoice;
}

export interface InvoiceClosing {
  invoiceId: string;
  as: 'void' | 'uncollectible';
  comment: string | null;
  now: Date;
}

/** @throws DomainError 404, 409 for an invoice that is paid or closed, or whose payment is unresolved. */
export async function closeInvoiceByHand(tx: Tx, change: Change, { invoiceId, as, comment, now }: InvoiceClosing): Promise<void> {
  const invoice = await lockInvoice(tx, change.accountId, invoiceId);
  assertInvoiceMay(invoice.status, as === 'void' ? 'void' : 'write_off');
  if (as === 'void') await releaseIntent(tx, change, { invoice, now });
  await closeInvoice(tx, change, { invoiceId, as, comment, at: now });
}
