import { raiseAttention, settleAttention } from '../db/attention.writes.js';
import { transact } from '../db/change.js';
import { holdStops } from '../db/charge-stop.writes.js';
import type { Tx } from '../db/client.js';
import { insertDispute, updateDispute } from '../db/dispute.writes.js';
import { appendEvents } from '../db/event.writes.js';
import { mayCollect } from '../db/invoice.queries.js';
import { raiseUnowed, settleInvoice } from '../db/invoice.writes.js';
import { markCallbackApplied } from '../db/processor-callback.writes.js';
import {
  insertCharge,
  insertEvidence,
  insertOperation,
  insertRefund,
  keepNetworkTransaction,
  markEvidenceApplied,
  updateHeldCharge,
  updateOperation,
  updateRefund,
  writeHeldIntent,
} from '../db/payment.writes.js';
import type { InvoiceRow } from '../db/schema/index.js';
import type { Change } from '../domain/change/change.js';
import { siblingId } from '../db/mint.js';
import { appliedMove } from './applied-move.js';
import { commitAtOnce, type Writing } from './commit-at-once.js';
import type { HeldPayment } from './held-payment.js';
import { changeOf, restOf } from './move-effects.js';
import { eventsOf } from './move-events.js';
import type { Move } from './move.js';
import type { PaymentDeps } from './payment.deps.js';
import { refundCharge } from './refund-charge.js';

/** The lease is somebody else's: nothing was written. */
export class LeaseLost extends Error {}

/** Somebody changed the intent or the charge beside the lease, so sums made of what was known would be wrong: nothing was written. */
export class PaymentChanged extends Error {}

/** The subscription behind the payment was cancelled or paused meanwhile: no attempt begins, and nothing was written. */
export class CollectionStopped extends Error {}

/** A stop began or was lifted since the payment was routed: it is routed again, and nothing was written. */
export class ChargingStopped extends Error {}

export interface CommitOptions {
  /** Limit of the call that follows, for a move that begins an attempt. */
  callLimitMs?: number;
  /** Connection kind of a new charge. */
  processorKind?: string;
}

/**
 * Writes one fact with its events in one transaction that checks the fencing token; gives the lease back in the same
 * statement when nothing is left to do. Throws `LeaseLost`, or `PaymentChanged` where the payment is another than `held`.
 */
export async function commitMove(deps: PaymentDeps, held: HeldPayment, move: Move, options: CommitOptions = {}): Promise<HeldPayment> {
  const at = new Date(held.clock());
  const after = appliedMove(held, move, at, options.processorKind);
  const writing = { held, after, move, at, callLimitMs: options.callLimitMs ?? 0 };
  return (await commitAtOnce(deps, writing)) ?? commitInSteps(deps, writing);
}

async function commitInSteps(deps: PaymentDeps, writing: Writing): Promise<HeldPayment> {
  const { environment } = deps;
  const { held, after, move, at } = writing;
  const change = changeOf(environment, held);
  const released = await transact(deps.db, change, async (tx) => {
    const set = { ...move.intent, lastChargeId: after.intent.lastChargeId, attempts: after.intent.attempts, updatedAt: at };
    const rest = restOf(held, after, { move, environment });
    const fence = { intentId: held.intent.id, token: held.lease.token, version: held.intent.version };
    const written = await writeHeldIntent(tx, fence, set, rest);
    if (written.kind === 'lost') throw new LeaseLost();
    if (written.kind === 'changed') throw new PaymentChanged();
    await writeRows(tx, writing);
    const unowed = await tellInvoice(tx, change, { after, move, at });
    await appendEvents(tx, change, eventsOf(held, after, { move, environment }));
    if (unowed) await returnUnowed(tx, change, { after, unowed, at });
    return written.released;
  });
  return { ...after, released, footing: null };
}

async function writeRows(tx: Tx, { held, after, move, at, callLimitMs }: Writing): Promise<void> {
  if (move.newCharge && !(await mayBegin(tx, after))) throw new CollectionStopped();
  if (move.newCharge && !(await insertCharge(tx, after.charges.at(-1)!, { callLimitMs, target: after.intent }))) throw new ChargingStopped();
  if (move.waitsFor && !(await holdStops(tx, move.waitsFor))) throw new ChargingStopped();
  if (move.charge) {
    const row = after.charges.find((charge) => charge.id === move.charge!.id)!;
    const set = { ...move.charge.set, version: row.version, updatedAt: at };
    if (!(await updateHeldCharge(tx, row.id, set))) throw new PaymentChanged();
  }
  if (move.newRefund) await insertRefund(tx, move.newRefund);
  if (move.refund) {
    const row = after.refunds.find((refund) => refund.id === move.refund!.id)!;
    await updateRefund(tx, row.id, { ...move.refund.set, version: row.version, updatedAt: at });
  }
  if (move.newOperation) await insertOperation(tx, move.newOperation);
  if (move.operation) {
    const row = after.operations.find((operation) => operation.id === move.operation!.id)!;
    await updateOperation(tx, row.id, { ...move.operation.set, version: row.version, updatedAt: at });
  }
  if (move.newDispute) await insertDispute(tx, move.newDispute);
  if (move.dispute) {
    const row = after.disputes.find((dispute) => dispute.id === move.dispute!.id)!;
    await updateDispute(tx, row.id, { ...move.dispute.set, version: row.version, updatedAt: at });
  }
  if (move.networkTransaction) await keepNetworkTransaction(tx, move.networkTransaction);
  if (move.appliedEvidence?.length) await markEvidenceApplied(tx, move.appliedEvidence, at);
  if (move.appliedCallback) await markCallbackApplied(tx, move.appliedCallback, at);
  await writeAttention(tx, held, { move, at });
}

async function writeAttention(tx: Tx, held: HeldPayment, { move, at }: Pick<Writing, 'move' | 'at'>): Promise<void> {
  const line = { accountId: held.intent.accountId, kind: 'pi', objectId: held.intent.id };
  if (move.attention) await raiseAttention(tx, { ...line, ...move.attention }, at);
  if (move.solved) await settleAttention(tx, { type: 'payment_exception', objectId: line.objectId, resolution: move.solved }, at);
  for (const closed of move.closes ?? []) await settleAttention(tx, { objectId: line.objectId, ...closed }, at);
}

async function mayBegin(tx: Tx, { intent: { invoiceId, subscriptionId } }: HeldPayment): Promise<boolean> {
  return !invoiceId || !subscriptionId || mayCollect(tx, { invoiceId, subscriptionId });
}

async function tellInvoice(tx: Tx, change: Change, { after, move, at }: Pick<Writing, 'after' | 'move' | 'at'>): Promise<InvoiceRow | null> {
  const { intent } = after;
  if (!intent.invoiceId || (!move.invoice && !move.refundedAtom)) return null;
  return settleInvoice(tx, change, {
    invoiceId: intent.invoiceId,
    paymentIntentId: intent.id,
    outcome: move.invoice ?? 'refunded',
    amountAtom: move.invoice === 'paid' ? intent.amountReceivedAtom : (move.refundedAtom ?? 0),
    failureMessage: move.invoice === 'failed' ? intent.declineReason : null,
    at,
  });
}

/** The invoice was voided or paid meanwhile: the money goes back, once. */
async function returnUnowed(tx: Tx, change: Change, { after, unowed, at }: { after: HeldPayment; unowed: InvoiceRow; at: Date }): Promise<void> {
  const charge = after.charges.findLast((each) => each.status === 'succeeded' && each.capturedAtom > each.refundedAtom);
  const busy = after.operations.some((operation) => operation.chargeId === charge?.id && operation.status === 'pending');
  if (!charge || busy) return raiseUnowed(tx, unowed, at);
  const wish = { id: siblingId(charge.id, 'unowed'), intentId: after.intent.id, chargeId: charge.id, now: at, intended: true };
  await refundCharge(tx, change, { ...wish, reason: 'duplicate', description: `The invoice is ${unowed.status}` });
  await settleAttention(tx, { type: 'invoice_paid_twice', objectId: unowed.id, resolution: 'The payment is refunded.' }, at);
}

/** Keeps an outcome whose finder has lost the lease; the next holder applies it. */
export async function keepEvidence(
  deps: PaymentDeps,
  held: HeldPayment,
  found: { chargeId: string; operationId: string | null; outcome: object },
): Promise<void> {
  const change = changeOf(deps.environment, held);
  await transact(deps.db, change, (tx) =>
    insertEvidence(
      tx,
      {
        paymentIntentId: held.intent.id,
        chargeId: found.chargeId,
        operationId: found.operationId,
        leaseToken: held.lease.token,
        outcome: found.outcome as Record<string, unknown>,
      },
      new Date(held.clock()),
    ),
  );
}
