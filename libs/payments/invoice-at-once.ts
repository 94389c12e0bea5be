import { collectable } from '../db/invoice.queries.js';
import { invoiceAsItStands } from '../db/invoice-standing.queries.js';
import { markPaid } from '../db/invoice.writes.js';
import type { Statement } from '../db/batch.js';
import { collect } from '../db/deferred.js';
import { gatherEvents, type EventDraft } from '../db/event.writes.js';
import type { Change } from '../domain/change/change.js';
import type { Writing } from './commit-at-once.js';
import type { PaymentDeps } from './payment.deps.js';

/** What a payment's move writes of its invoice. */
export interface InvoicePart {
  /** They come before the payment's own: whoever holds an invoice or a subscription may ask for its payment. */
  statements: Statement[];
  drafts: EventDraft[];
  /** Last sequences of what the drafts are about. */
  sequences: ReadonlyMap<string, number>;
}

const nothing: InvoicePart = { statements: [], drafts: [], sequences: new Map() };

/**
 * An attempt begins only while its subscription may still be collected, and a success pays the invoice as it was read. Null where
 * it takes a longer way: the invoice fails, or is not owed any more.
 */
export async function invoicePart(deps: Pick<PaymentDeps, 'db'>, change: Change, { held, after, move, at }: Writing): Promise<InvoicePart | null> {
  const { id, invoiceId, subscriptionId } = held.intent;
  if (invoiceId === null) return nothing;
  if (move.invoice === undefined) {
    return move.newCharge && subscriptionId ? { ...nothing, statements: [collectable({ invoiceId, subscriptionId })] } : nothing;
  }
  if (move.invoice !== 'paid') return null;
  const standing = await invoiceAsItStands(deps.db, { accountId: held.intent.accountId, invoiceId });
  if (!standing || (standing.row.paymentIntentId !== null && standing.row.paymentIntentId !== id)) return null;
  const { row, lines, sequence } = standing;
  const refundIds = after.refunds.map((refund) => refund.id);
  let owed = false;
  const { result: drafts, statements } = await collect((tx) =>
    gatherEvents(tx, async () => (owed = await markPaid(tx, change, { row, lines, refundIds, paymentIntentId: id, at }))));
  return owed ? { statements, drafts, sequences: new Map([[invoiceId, sequence]]) } : null;
}
