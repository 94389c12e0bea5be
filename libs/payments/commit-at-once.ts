import { isStale } from '../db/batch.js';
import { eventFooting, renderEvents } from '../db/event.writes.js';
import { writeHeldChange } from '../db/payment.batch.js';
import type { HeldPayment } from './held-payment.js';
import { invoicePart } from './invoice-at-once.js';
import { changeOf, restOf } from './move-effects.js';
import { eventsOf } from './move-events.js';
import type { Move } from './move.js';
import type { PaymentDeps } from './payment.deps.js';

/** A move on its way into the database. */
export interface Writing {
  held: HeldPayment;
  /** The payment once the move is written. */
  after: HeldPayment;
  move: Move;
  at: Date;
  callLimitMs: number;
}

/** What a plain move may hold: the intent, one charge, their events and what the invoice learns. */
const plainParts = new Set<keyof Move>(['step', 'intent', 'newCharge', 'charge', 'networkTransaction', 'events', 'invoice']);

function isPlain(move: Move): boolean {
  if (move.events.refund || move.events.dispute) return false;
  return (Object.keys(move) as (keyof Move)[]).every((part) => move[part] === undefined || plainParts.has(part));
}

/**
 * Writes a plain move in one round trip, on what is known from reading before. Null if the move is not plain, or if anything is
 * otherwise than known (the lease lost, the intent described meanwhile, an endpoint added, charging stopped): nothing is
 * written then, and the long way finds out.
 */
export async function commitAtOnce(deps: PaymentDeps, writing: Writing): Promise<HeldPayment | null> {
  const { held, after, move, at, callLimitMs } = writing;
  if (!isPlain(move)) return null;
  const { environment } = deps;
  const { accountId, id, version } = held.intent;
  const change = changeOf(environment, held);
  const invoice = await invoicePart(deps, change, writing);
  if (!invoice) return null;
  const known = held.footing ?? (await eventFooting(deps.db, accountId, [id, ...held.charges.map((charge) => charge.id)]));
  const footing = { ...known, sequences: new Map([...known.sequences, ...invoice.sequences]) };
  const events = renderEvents(change, [...invoice.drafts, ...eventsOf(held, after, { move, environment })], footing);
  const charge = move.charge && after.charges.find((each) => each.id === move.charge!.id)!;
  try {
    const { released } = await writeHeldChange(deps.db, {
      fence: { intentId: id, token: held.lease.token },
      known: { accountId, version, subscribers: footing.subscribers },
      before: invoice.statements,
      intent: { ...move.intent, lastChargeId: after.intent.lastChargeId, attempts: after.intent.attempts, updatedAt: at },
      rest: restOf(held, after, { move, environment }),
      newCharge: move.newCharge && { row: after.charges.at(-1)!, callLimitMs, target: after.intent },
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
