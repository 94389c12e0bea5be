import { isStale } from '../db/batch.js';
import { eventFooting, renderEvents } from '../db/event.writes.js';
import { writeHeldChange } from '../db/payment.batch.js';
import type { HeldPayment } from './held-payment.js';
import { changeOf, eventsOf, restOf } from './move-effects.js';
import type { Move } from './move.js';
import type { PaymentDeps } from './payment.deps.js';

interface Fact {
  held: HeldPayment;
  /** The payment once the move is written. */
  after: HeldPayment;
  move: Move;
  at: Date;
}

/** A move that touches nothing but the intent, one charge and their events. */
function isPlain({ intent }: HeldPayment, move: Move): boolean {
  if (intent.invoiceId !== null) return false;
  const more = move.newOperation ?? move.operation ?? move.newRefund ?? move.refund ?? move.attention ?? move.solved ?? move.events.refund;
  return more === undefined && !move.appliedEvidence?.length;
}

/**
 * Writes a plain move in one round trip, on what is known from reading before; null if the move is not plain or anything was
 * otherwise than known (the lease lost, the intent described meanwhile, an endpoint added): nothing is written then.
 */
export async function commitAtOnce(deps: PaymentDeps, { held, after, move, at }: Fact, options: { callLimitMs?: number }): Promise<HeldPayment | null> {
  if (!isPlain(held, move)) return null;
  const { accountId, id, version } = held.intent;
  const footing = held.footing ?? (await eventFooting(deps.db, accountId, [id, ...held.charges.map((charge) => charge.id)]));
  const drafts = eventsOf(held, after, { move, environment: deps.environment });
  const events = renderEvents(changeOf(deps.environment, held), drafts, footing);
  const charge = move.charge && after.charges.find((each) => each.id === move.charge!.id)!;
  try {
    const { released } = await writeHeldChange(deps.db, {
      fence: { intentId: id, token: held.lease.token },
      known: { accountId, version, subscribers: footing.subscribers },
      intent: { ...move.intent, lastChargeId: after.intent.lastChargeId, attempts: after.intent.attempts, updatedAt: at },
      rest: restOf(held, after, move),
      newCharge: move.newCharge && { row: after.charges.at(-1)!, callLimitMs: options.callLimitMs ?? 0 },
      charge: charge && { id: charge.id, set: { ...move.charge!.set, version: charge.version, updatedAt: at } },
      networkTransaction: move.networkTransaction,
      events,
    });
    return { ...after, released, footing: events.footing };
  } catch (error) {
    if (isStale(error)) return null;
    throw error;
  }
}
