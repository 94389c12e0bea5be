import { raiseAttention } from './attention.writes.js';
import type { Change } from '../domain/change/change.js';
import type { EmailWish } from '../domain/email/email.js';
import type { InvoiceDraft } from '../domain/invoice/invoice.draft.js';
import { invoiceView } from '../views/invoice.view.js';
import type { Tx } from './client.js';
import type { NewEmail } from './email.writes.js';
import { appendEvents } from './event.writes.js';
import { invoiceRows } from './invoice.writes.js';
import type { SubscriptionRow } from './schema/index.js';

/**
 * Event `invoice.upcoming` of the subscription: the invoice as the renewal would draw it now. No such invoice is stored, so it has
 * no id (the empty text), nor have its lines.
 */
export async function tellUpcoming(tx: Tx, change: Change, { row, draft }: { row: SubscriptionRow; draft: InvoiceDraft }): Promise<void> {
  const { row: invoice, lines } = invoiceRows(row, { ...draft, status: 'draft' }, null);
  const view = invoiceView(invoice, { lines, refundIds: [] }, change.environment);
  const data = { ...view, id: '', lines: view.lines.map((line) => ({ ...line, id: '', invoice_id: null })) };
  const step = `upcoming:${row.currentPeriodEnd.toISOString()}`;
  await appendEvents(tx, change, [{ type: 'invoice.upcoming', kind: 'sub', objectId: row.id, customerId: row.customerId, data, previous: null, step }]);
}

/** A mail about the subscription or one of its invoices, with what was true when it was asked for. */
export function emailOf(row: SubscriptionRow, { commandId }: Change, { kind, invoiceId }: EmailWish): NewEmail {
  const data = {
    status: row.status,
    billingStatus: row.billingStatus,
    nextAttemptAt: row.chargeAt?.toISOString() ?? null,
    trialEnd: row.trialEnd?.toISOString() ?? null,
  };
  return { kind, customerId: row.customerId, factKey: `${kind}:${invoiceId ?? row.id}:${commandId}`, invoiceId, subscriptionId: row.id, data };
}

/** Periods passed unseen: a person may not want all of them to be charged. */
export async function raiseMissedPeriods(tx: Tx, row: SubscriptionRow, reason: string, at: Date): Promise<void> {
  const actions = ['Void the invoices that must not be charged.', 'Cancel the subscription.', 'Resolve this to let one be charged a day.'];
  await raiseAttention(tx, { accountId: row.accountId, type: 'subscription_missed_periods', kind: 'sub', objectId: row.id, reason, actions }, at);
}
