import { and, eq } from 'drizzle-orm';
import { defaultEmailSettings, type EmailFacts, type EmailTold } from '../domain/email/email.js';
import { nextInvoice } from '../domain/subscription/next-invoice.js';
import type { Db } from './client.js';
import { findInvoice } from './invoice.queries.js';
import { linesOf } from './manual-invoice.queries.js';
import { accounts, customers, emails, type CustomerRow, type EmailRow, type InvoiceItemRow, type InvoiceRow, type SubscriptionRow } from './schema/index.js';
import { findSubscription, readFacts } from './subscription.queries.js';

export async function findEmail(db: Db, accountId: string, id: string): Promise<EmailRow | undefined> {
  const [row] = await db.select().from(emails).where(and(eq(emails.id, id), eq(emails.accountId, accountId)));
  return row;
}

export interface EmailSubject {
  accountId: string;
  customerId: string;
  invoiceId: string | null;
  subscriptionId: string | null;
  /** As stored with the mail; null: what is true now. */
  told: Partial<EmailTold> | null;
}

/** With the invoice's whole row, from which its link is made. */
export type ReadEmailFacts = Omit<EmailFacts, 'invoice'> & { invoice: (InvoiceRow & { lines: InvoiceItemRow[] }) | null; wantsReceipts: boolean };

const mostLines = 100;

/** Everything a mail's words may name; null where the customer is gone. `at`: now. */
export async function readEmailFacts(db: Db, subject: EmailSubject, at: Date): Promise<ReadEmailFacts | null> {
  const [payer] = await db
    .select({ customer: customers, account: accounts })
    .from(customers)
    .innerJoin(accounts, eq(accounts.id, customers.accountId))
    .where(and(eq(customers.id, subject.customerId), eq(customers.accountId, subject.accountId)));
  if (!payer || payer.customer.deletedAt) return null;
  const row = subject.subscriptionId ? await findSubscription(db, subject.accountId, subject.subscriptionId) : undefined;
  const settings = payer.account.emailSettings ?? defaultEmailSettings;
  return {
    accountName: payer.account.name,
    settings,
    recipient: payer.customer.billingEmail ?? payer.customer.email,
    customer: { name: nameOf(payer.customer), language: payer.customer.language, onTestClock: payer.customer.testClockId !== null },
    wantsReceipts: payer.customer.invoiceSettings?.email_receipt_on_paid ?? false,
    invoice: subject.invoiceId ? await invoiceFacts(db, subject.accountId, subject.invoiceId) : null,
    subscription: row ? await subscriptionFacts(db, row, at) : null,
    told: { status: row?.status ?? null, nextAttemptAt: row?.chargeAt?.toISOString() ?? null, trialEnd: row?.trialEnd?.toISOString() ?? null, ...subject.told },
  };
}

function nameOf({ businessName, firstName, lastName }: CustomerRow): string | null {
  const person = [firstName, lastName].filter((part) => part !== null && part !== '').join(' ');
  return person || businessName || null;
}

async function invoiceFacts(db: Db, accountId: string, id: string): Promise<ReadEmailFacts['invoice']> {
  const row = await findInvoice(db, accountId, id);
  return row ? { ...row, lines: (await linesOf(db, id)).slice(0, mostLines) } : null;
}

async function subscriptionFacts(db: Db, row: SubscriptionRow, at: Date): Promise<NonNullable<EmailFacts['subscription']>> {
  const next = row.status === 'trialing' ? nextInvoice(row, await readFacts(db, row, { now: at, jitterSeconds: 0 })) : null;
  const { name, status, currency, trialEnd, billingInterval: interval, billingIntervalCount: intervalCount } = row;
  return { name, status, currency, trialEnd, interval, intervalCount, nextTotalAtom: next?.totalAtom ?? null };
}
