import type { ChargeOperationRow, ChargeRow } from '../db/schema/index.js';
import { commitMove } from './commit-move.js';
import type { OpenConnection } from './connection-cache.js';
import type { HeldPayment } from './held-payment.js';
import type { PaymentDeps } from './payment.deps.js';
import { recordCharge } from './send-charge.js';

interface FollowedUp {
  connection: OpenConnection;
  charge: ChargeRow;
  operation?: ChargeOperationRow;
}

/**
 * Runs `call`, which finds out or repeats what began before, if its connection has a place for it. Else the payment is let go until
 * its turn: nothing was asked, so no look of its schedule is used up.
 */
export async function followUp(deps: PaymentDeps, held: HeldPayment, about: FollowedUp, call: () => Promise<HeldPayment>): Promise<HeldPayment> {
  const { id } = about.connection;
  if (!deps.followUps.begin(id)) return putOff(deps, held, about);
  try {
    return await call();
  } finally {
    deps.followUps.end(id);
  }
}

function putOff(deps: PaymentDeps, held: HeldPayment, { connection, charge, operation }: FollowedUp): Promise<HeldPayment> {
  if (!operation && charge.outcomeClass === null) return recordCharge(deps, held, charge, { outcomeClass: 'unknown' });
  const set = { nextLookupAt: new Date(held.clock() + deps.followUps.turnMs(connection, performance.now())) };
  if (operation) return commitMove(deps, held, { step: `${operation.reference}:later`, operation: { id: operation.id, set }, events: {} });
  return commitMove(deps, held, { step: `attempt:${charge.attemptNumber}:later`, charge: { id: charge.id, set }, events: {} });
}
