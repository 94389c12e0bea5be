import type { HeldPayment } from './held-payment.js';
import type { Move } from './move.js';

interface Versioned {
  id: string;
  version: number;
  updatedAt: Date;
}

/** The payment after a move, in memory. `newKind` is the connection kind of a new charge. */
export function appliedMove(held: HeldPayment, move: Move, at: Date, newKind?: string): HeldPayment {
  const patched = <R extends Versioned>(rows: readonly R[], patch?: { id: string; set: Partial<R> }, added?: R) => {
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
    disputes: patched(held.disputes, move.dispute, move.newDispute),
    evidence: held.evidence.filter((each) => !applied.has(each.id)),
    callbacks: held.callbacks.filter((each) => each.id !== move.appliedCallback?.id),
    kinds: newCharge && newKind ? new Map(held.kinds).set(newCharge.processorId, newKind) : held.kinds,
  };
}
