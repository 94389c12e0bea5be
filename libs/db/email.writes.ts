import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { EmailKind } from '../domain/email/email.js';
import { DomainError } from '../errors/domain-error.js';
import type { Tx } from './client.js';
import { oncePerCommand } from './command.writes.js';
import { deferOrSend } from './deferred.js';
import { newId } from './mint.js';
import { customers, emails, type EmailRow, type InvoiceRow } from './schema/index.js';

export interface NewEmail {
  kind: EmailKind;
  customerId: string;
  /** One mail per fact, however often the transaction runs. */
  factKey: string;
  invoiceId?: string | null;
  subscriptionId?: string | null;
  paymentIntentId?: string | null;
  /** What was true when it was asked for and may not be when it is rendered. */
  data?: Record<string, unknown> | null;
}

/**
 * Queues a mail in the transaction of what it tells; nothing where the account or the customer does not want it. Customers of a
 * test clock get none: the row says so.
 */
export function queueEmail(tx: Tx, { accountId }: Pick<Change, 'accountId'>, mail: NewEmail): Promise<void> {
  const { kind, customerId, factKey, invoiceId = null, subscriptionId = null, paymentIntentId = null, data } = mail;
  const values = [newId(), kind, factKey, invoiceId, subscriptionId, paymentIntentId, data ? JSON.stringify(data) : null, onTestClock, customerId, accountId];
  return deferOrSend(tx, { text: queueing, values });
}

const queueing = `
  insert into emails (id, account_id, customer_id, kind, recipient, fact_key, invoice_id, subscription_id, payment_intent_id, data,
                      status, reason, next_attempt_at, created_at, updated_at)
  select $1::uuid, c.account_id, c.id, $2::text, coalesce(c.billing_email, c.email), $3::text, $4::uuid, $5::uuid, $6::uuid, $7::jsonb,
         case when c.test_clock_id is null then 'pending' else 'not_sent' end, case when c.test_clock_id is not null then $8::text end,
         case when c.test_clock_id is null then clock_timestamp() end, clock_timestamp(), clock_timestamp()
    from customers c join accounts a on a.id = c.account_id
   where c.id = $9::uuid and c.account_id = $10::uuid and c.deleted_at is null
     and (a.email_settings is null or a.email_settings->'enabledKinds' ? $2::text)
     and ($2::text <> 'receipt' or (c.invoice_settings->>'email_receipt_on_paid')::boolean)
  on conflict (account_id, fact_key) do nothing`;

export const onTestClock = 'test_clock: customers of a test clock get no e-mail.';

/**
 * The mail that an invoice's event asks for: its receipt, or the invoice itself where the customer must pay it (`send_invoice` of a
 * subscription) or `email_invoice_on_finalization` says so.
 */
export async function mailInvoice(tx: Tx, change: Change, row: InvoiceRow, event: string): Promise<void> {
  const kind = event === 'invoice.paid' && row.paidAtom > 0 ? 'receipt' : event === 'invoice.finalized' && isMailed(row) ? 'invoice' : null;
  if (!kind) return;
  const { id: invoiceId, customerId, subscriptionId, paymentIntentId } = row;
  await queueEmail(tx, change, { kind, customerId, factKey: `${kind}:${invoiceId}`, invoiceId, subscriptionId, paymentIntentId });
}

export function isMailed(row: Pick<InvoiceRow, 'emailOnFinalization' | 'collectionMethod' | 'subscriptionId'>): boolean {
  return row.emailOnFinalization || (row.collectionMethod === 'send_invoice' && row.subscriptionId !== null);
}

/** The same mail as a row of its own, to the customer's address of today; `refusal`: why it is not sent at all. */
export async function requeueEmail(tx: Tx, change: Change, { mail, id, refusal }: { mail: EmailRow; id: string; refusal: string | null }): Promise<EmailRow> {
  const made = await oncePerCommand(tx, change, { objectId: mail.id, step: 'resend' }, async () => {
    const [payer] = await tx.select().from(customers).where(and(eq(customers.id, mail.customerId), isNull(customers.deletedAt)));
    if (!payer) throw new DomainError('conflict', 'The customer was deleted.');
    const reason = payer.testClockId ? onTestClock : refusal;
    const now = new Date();
    const due = sql`clock_timestamp()` as unknown as Date;
    await tx.insert(emails).values({
      id,
      accountId: mail.accountId,
      customerId: mail.customerId,
      kind: mail.kind,
      recipient: payer.billingEmail ?? payer.email,
      factKey: `resend:${change.commandId}`,
      invoiceId: mail.invoiceId,
      subscriptionId: mail.subscriptionId,
      paymentIntentId: mail.paymentIntentId,
      data: mail.data,
      status: reason ? 'not_sent' : 'pending',
      reason,
      nextAttemptAt: reason ? null : due,
      createdAt: now,
      updatedAt: now,
    });
    return { id };
  });
  const [row] = await tx.select().from(emails).where(eq(emails.id, made.id));
  return row!;
}
