import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';

export interface EmailFields {
  id: string;
  accountId: string;
  customerId: string;
  kind: string;
  recipient: string;
  invoiceId: string | null;
  subscriptionId: string | null;
  subject: string | null;
  status: string;
  reason: string | null;
  attempts: number;
  nextAttemptAt: Date | null;
  messageId: string | null;
  sentAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/** One e-mail to a customer; its text is rendered when it is sent and not kept. `subject` is null until it was tried. */
export function emailView(row: EmailFields, environment: Environment) {
  return {
    id: publicId('email', environment, row.id),
    object: 'email' as const,
    account_id: publicId('acct', environment, row.accountId),
    customer_id: publicId('cus', environment, row.customerId),
    kind: row.kind,
    recipient: row.recipient,
    invoice_id: row.invoiceId && publicId('inv', environment, row.invoiceId),
    subscription_id: row.subscriptionId && publicId('sub', environment, row.subscriptionId),
    subject: row.subject,
    status: row.status,
    reason: row.reason,
    attempts: row.attempts,
    next_attempt_at: row.nextAttemptAt?.toISOString() ?? null,
    message_id: row.messageId,
    sent_at: row.sentAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
