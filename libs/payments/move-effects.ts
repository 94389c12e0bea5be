import type { EventDraft } from '../db/event.writes.js';
import { previousValues } from '../db/event.writes.js';
import { derivedId } from '../db/mint.js';
import type { IntentRest } from '../db/payment.writes.js';
import type { AttemptEvidenceRow, ChargeRow } from '../db/schema/index.js';
import type { Change } from '../domain/change/change.js';
import type { Environment } from '../domain/environment.js';
import { chargeView } from '../views/charge.view.js';
import { paymentIntentView } from '../views/payment-intent.view.js';
import { refundView } from '../views/refund.view.js';
import { partsOf, stepOf, type HeldPayment } from './held-payment.js';
import type { Move } from './move.js';

/** The payment after a move, in memory. */
export function applyMove(held: HeldPayment, move: Move, at: Date, newKind?: string): HeldPayment {
  const patched = <R extends { id: string; version: number; updatedAt: Date }>(rows: readonly R[], patch?: { id: string; set: Partial<R> }, added?: R) => {
    const changed = patch ? rows.map((row) => (row.id === patch.id ? { ...row, ...patch.set, version: row.version + 1, updatedAt: at } : row)) : [...rows];
    return added ? [...changed, added] : changed;
  };
  const { newCharge } = move;
  const applied = new Set(move.appliedEvidence ?? []);
  return {
    ...held,
    intent: {
      ...held.intent,
      ...move.intent,
      ...(newCharge ? { attempts: newCharge.attemptNumber, lastChargeId: newCharge.id } : {}),
      version: held.intent.version + 1,
      updatedAt: at,
    },
    charges: patched(held.charges, move.charge, newCharge),
    operations: patched(held.operations, move.operation, move.newOperation),
    refunds: patched(held.refunds, move.refund, move.newRefund),
    evidence: held.evidence.filter((each: AttemptEvidenceRow) => !applied.has(each.id)),
    kinds: newCharge && newKind ? new Map(held.kinds).set(newCharge.processorId, newKind) : held.kinds,
  };
}

/** How the intent rests after a move; without work left the lease is given back in the same statement. */
export function restOf(held: HeldPayment, after: HeldPayment, move: Move): IntentRest {
  const step = stepOf(after);
  const resting = !move.newCharge && (step.kind === 'wait' || step.kind === 'done') && after.evidence.length === 0;
  return {
    settled: resting && step.kind === 'done',
    nextActionAt: resting && step.kind === 'wait' && step.until !== null ? new Date(step.until) : null,
    release: resting,
    seenWake: held.intent.wakeSeq,
  };
}

/** Whose doing a move is: its command follows from the intent's version, so a second run is the same command. */
export function changeOf(environment: Environment, held: HeldPayment): Change {
  const { actor, requestId, idempotencyKey, clockTime } = held.origin;
  const commandId = derivedId('payment', held.intent.id, held.intent.version);
  return { accountId: held.intent.accountId, environment, actor, requestId, idempotencyKey, clockTime, commandId };
}

/** What tells a move. */
export function eventsOf(before: HeldPayment, after: HeldPayment, { move, environment }: { move: Move; environment: Environment }): EventDraft[] {
  const drafts: EventDraft[] = [];
  const common = { customerId: after.intent.customerId, step: move.step };
  if (move.events.charge) {
    const id = move.newCharge?.id ?? move.charge!.id;
    const view = (rows: readonly ChargeRow[], kinds: HeldPayment['kinds']) => {
      const row = rows.find((charge) => charge.id === id);
      return row ? chargeView(row, kinds.get(row.processorId) ?? null, environment) : null;
    };
    drafts.push(draft(move.events.charge, 'ch', { id, old: view(before.charges, before.kinds), now: view(after.charges, after.kinds)! }, common));
  }
  if (move.events.refund) {
    const id = move.newRefund?.id ?? move.refund!.id;
    const old = before.refunds.find((refund) => refund.id === id);
    const now = after.refunds.find((refund) => refund.id === id)!;
    drafts.push(draft(move.events.refund, 're', { id, old: old ? refundView(old, environment) : null, now: refundView(now, environment) }, common));
  }
  if (move.events.intent) {
    const old = paymentIntentView(before.intent, partsOf(before), environment);
    const now = paymentIntentView(after.intent, partsOf(after), environment);
    drafts.push(draft(move.events.intent, 'pi', { id: after.intent.id, old, now }, common));
  }
  return drafts;
}

interface Shown {
  id: string;
  old: object | null;
  now: object;
}

function draft(type: string, kind: EventDraft['kind'], shown: Shown, common: Pick<EventDraft, 'customerId' | 'step'>): EventDraft {
  return { type, kind, objectId: shown.id, data: shown.now, previous: shown.old ? previousValues(shown.old, shown.now) : null, ...common };
}
