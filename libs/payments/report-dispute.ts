import { raiseAttention } from '../db/attention.writes.js';
import type { Tx } from '../db/client.js';
import { disputeOf, disputesOfCharge } from '../db/dispute.queries.js';
import { insertDispute } from '../db/dispute.writes.js';
import { appendEvents, previousValues, type EventDraft } from '../db/event.writes.js';
import { chargesOfIntent, processorNames } from '../db/payment.queries.js';
import { updateCharge } from '../db/payment.writes.js';
import type { ChargeRow, DisputeRow } from '../db/schema/index.js';
import type { Change } from '../domain/change/change.js';
import { DomainError } from '../errors/domain-error.js';
import { chargeView } from '../views/charge.view.js';
import { disputeView } from '../views/dispute.view.js';
import { publicId } from '../views/ids.js';
import { requireIntent } from './intent-change.js';
import { disputeLine } from './told-dispute.js';

export interface DisputeReport {
  /** Minted by the caller: the same command again finds the same dispute. */
  id: string;
  intentId: string;
  /** Default: the dispute's own public id. */
  theirDisputeId?: string | null;
  reason?: string | null;
  metadata?: Record<string, unknown> | null;
}

/**
 * A dispute that a person heard of before the processor told it. One that is known already is answered as it is.
 * @throws DomainError 404, 409 for a payment that took no money.
 */
export async function reportDispute(tx: Tx, change: Change, report: DisputeReport): Promise<{ dispute: DisputeRow; charge: ChargeRow }> {
  const intent = await requireIntent(tx, change, report.intentId);
  const charges = await chargesOfIntent(tx, intent.id);
  const charge = charges.findLast((each) => each.status === 'succeeded' && each.capturedAtom > 0);
  if (!charge) throw new DomainError('conflict', `The payment intent is ${intent.status}: nothing was captured, so nothing can be disputed.`);
  const theirDisputeId = report.theirDisputeId ?? publicId('dp', change.environment, report.id);
  const known =
    (await disputeOf(tx, change.accountId, report.id)) ?? (await disputesOfCharge(tx, charge.id)).find((each) => each.theirDisputeId === theirDisputeId);
  if (known) return { dispute: known, charge };
  const at = new Date();
  const dispute: DisputeRow = {
    id: report.id,
    accountId: change.accountId,
    paymentIntentId: intent.id,
    chargeId: charge.id,
    customerId: charge.customerId,
    theirDisputeId,
    status: 'open',
    reason: report.reason ?? null,
    amountAtom: null,
    metadata: report.metadata ?? null,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
  await insertDispute(tx, dispute);
  await raiseAttention(tx, { accountId: change.accountId, kind: 'dp', objectId: dispute.id, ...disputeLine(dispute) }, at);
  const told = await mark(tx, change, { charge, at });
  const data = disputeView(dispute, charge, change.environment);
  await appendEvents(tx, change, [
    { type: 'dispute.created', kind: 'dp', objectId: dispute.id, customerId: dispute.customerId, data, previous: null },
    ...told,
  ]);
  return { dispute, charge };
}

async function mark(tx: Tx, change: Change, { charge, at }: { charge: ChargeRow; at: Date }): Promise<EventDraft[]> {
  if (charge.disputed) return [];
  const set = { disputed: true, version: charge.version + 1, updatedAt: at };
  await updateCharge(tx, charge.id, set);
  const kind = (await processorNames(tx, [charge.processorId])).get(charge.processorId)?.kind ?? null;
  const [before, after] = [chargeView(charge, kind, change.environment), chargeView({ ...charge, ...set }, kind, change.environment)];
  return [{ type: 'charge.updated', kind: 'ch', objectId: charge.id, customerId: charge.customerId, data: after, previous: previousValues(before, after) }];
}
