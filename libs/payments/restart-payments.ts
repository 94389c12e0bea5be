import { endRestart, takeTurn } from '../db/charge-stop.writes.js';
import { transact } from '../db/change.js';
import { newId } from '../db/mint.js';
import { stoppedPayments } from '../db/payment.queries.js';
import { updateIntent, wakePayment } from '../db/payment.writes.js';
import type { PaymentIntentRow } from '../db/schema/index.js';
import type { Change } from '../domain/change/change.js';
import { tellIntent } from './intent-change.js';
import type { PaymentDeps } from './payment.deps.js';

export interface Restarted {
  /** Payments that were let go: somebody must start their workflow, else the sweeper does. */
  released: PaymentIntentRow[];
  /** Nothing waits for this stop any more. */
  drained: boolean;
}

/**
 * Lets go as many of the payments that waited for a lifted stop as its pace allows now. Several processes may ask at once: one
 * has the turn. A payment that another stop holds up waits again for that one.
 */
export async function restartPayments(deps: Pick<PaymentDeps, 'db' | 'environment'>, stop: { id: string; accountId: string }): Promise<Restarted> {
  const change = systemChange(deps, stop.accountId);
  return transact(deps.db, change, async (tx) => {
    const turn = await takeTurn(tx, stop.id);
    if (!turn) return { released: [], drained: false };
    const waiting = turn.payments === 0 ? [] : await stoppedPayments(tx, turn.stop, turn.payments);
    const released: PaymentIntentRow[] = [];
    for (const before of waiting) {
      const after = await updateIntent(tx, before.id, { stoppedAt: null, stoppedBy: null, version: before.version + 1, updatedAt: new Date() });
      await wakePayment(tx, before.id);
      await tellIntent(tx, change, { type: 'payment_intent.updated', before, after });
      released.push(after);
    }
    return { released, drained: waiting.length === 0 && (await endRestart(tx, turn.stop)) };
  });
}

function systemChange({ environment }: Pick<PaymentDeps, 'environment'>, accountId: string): Change {
  return { accountId, environment, actor: 'system', requestId: null, idempotencyKey: null, clockTime: null, commandId: newId() };
}
