import { sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { EmailKind } from '../domain/email/email.js';
import type { Tx } from './client.js';
import { newId } from './mint.js';

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
export async function queueEmail(tx: Tx, { accountId }: Pick<Change, 'accountId'>, mail: NewEmail): Promise<void> {
  await tx.execute(sql`
    insert into emails (id, account_id, customer_id, kind, recipient, fact_key, invoice_id, subscription_id, payment_intent_id, data,
                        status, reason, next_attempt_at, created_at, updated_at)
    select ${newId()}, c.account_id, c.id, ${mail.kind}, coalesce(c.billing_email, c.email), ${mail.factKey}, ${mail.invoiceId ?? null}::uuid,
           ${mail.subscriptionId ?? null}::uuid, ${mail.paymentIntentId ?? null}::uuid, ${mail.data ? JSON.stringify(mail.data) : null}::jsonb,
           case when c.test_clock_id is null then 'pending' else 'not_sent' end, case when c.test_clock_id is not null then ${onTestClock} end,
           case when c.test_clock_id is null then clock_timestamp() end, clock_timestamp(), clock_timestamp()
      from customers c join accounts a on a.id = c.account_id
     where c.id = ${mail.customerId} and c.account_id = ${accountId} and c.deleted_at is null
       and (a.email_settings is null or a.email_settings->'enabledKinds' ? ${mail.kind})
       and (${mail.kind} <> 'receipt' or (c.invoice_settings->>'email_receipt_on_paid')::boolean)
    on conflict (account_id, fact_key) do nothing`);
}

export const onTestClock = 'test_clock: customers of a test clock get no e-mail.';
