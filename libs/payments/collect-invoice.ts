import type { Db, Tx } from '../db/client.js';
import { linkIntent } from '../db/invoice.writes.js';
import { finaliseDraft } from '../db/manual-invoice.writes.js';
import type { InvoiceRow, PaymentIntentRow } from '../db/schema/index.js';
import type { Change } from '../domain/change/change.js';
import { DomainError } from '../errors/domain-error.js';
import { invoiceMethod, openInvoiceIntent, subscriptionOf } from './invoice-payments.js';

const methodMissing = 'Money is due and neither the invoice nor its customer names a payment method; name one, or send the invoice (`collection_method`).';

/**
 * Finalises a draft and, where a person made it and it is to be charged, asks for its money in the same transaction: whoever
 * dies afterwards leaves a payment that the sweeper goes on with. A draft of a subscription is only finalised; it is paid by hand.
 * @returns the intent that is to be moved on, or null.
 * @throws DomainError 404, 409 for what is no draft, 422 `payment_method_required`.
 */
export async function finaliseInvoice(tx: Tx, change: Change, wish: { invoiceId: string; now: Date }): Promise<PaymentIntentRow | null> {
  const invoice = await finaliseDraft(tx, change, wish);
  const charges = invoice.status === 'open' && invoice.billingReason === 'manual' && invoice.collectionMethod === 'charge_automatically';
  return charges ? charge(tx, change, { invoice, now: wish.now }) : null;
}

async function charge(tx: Tx, change: Change, { invoice, now }: { invoice: InvoiceRow; now: Date }): Promise<PaymentIntentRow> {
  const paymentMethodId = await requireInvoiceMethod(tx, invoice);
  const subscription = await subscriptionOf(tx, invoice);
  const intent = await openInvoiceIntent(tx, change, { invoice, subscription, paymentMethodId, now, present: false, driver: 'api' });
  await linkIntent(tx, change, { invoiceId: invoice.id, paymentIntentId: intent.id, at: now });
  return intent;
}

/** @throws DomainError 422 `payment_method_required`. */
export async function requireInvoiceMethod(db: Db | Tx, invoice: InvoiceRow): Promise<string> {
  const paymentMethodId = await invoiceMethod(db, invoice, await subscriptionOf(db, invoice));
  if (!paymentMethodId) throw new DomainError('payment_method_required', methodMissing);
  return paymentMethodId;
}
