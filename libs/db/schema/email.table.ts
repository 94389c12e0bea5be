import { sql } from 'drizzle-orm';
import { check, index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core';
import { accountId, id, instant, object, stamps, tick } from './columns.js';

export type EmailStatus = 'pending' | 'sent' | 'failed' | 'not_sent';

/**
 * A queue: rows are written in the transaction of what they tell, drained by the mail loop of every worker over `emails_due`.
 * Rendered when it is sent, from `data` and the rows it names.
 */
export const emails = pgTable(
  'emails',
  {
    id: id(),
    accountId: accountId(),
    customerId: uuid().notNull(),
    /** Which template: `receipt`, `invoice`, `payment_failed`, … */
    kind: text().notNull(),
    recipient: text().notNull(),
    /** One mail per fact, however often the transaction runs. */
    factKey: text().notNull(),
    invoiceId: uuid(),
    subscriptionId: uuid(),
    paymentIntentId: uuid(),
    data: object(),
    subject: text(),
    status: text().$type<EmailStatus>().notNull(),
    /** Why it was not sent, or what the server last answered; without secrets. */
    reason: text(),
    attempts: integer().notNull().default(0),
    nextAttemptAt: instant(),
    claimUntil: tick(),
    messageId: text(),
    sentAt: instant(),
    ...stamps(),
  },
  (t) => [
    index('emails_account').on(t.accountId, t.id),
    index('emails_customer').on(t.customerId, t.id),
    index('emails_due').on(t.nextAttemptAt).where(sql`status = 'pending'`),
    uniqueIndex('emails_fact').on(t.accountId, t.factKey),
    check('emails_status', sql`status in ('pending','sent','failed','not_sent')`),
  ],
);

export type EmailRow = typeof emails.$inferSelect;
