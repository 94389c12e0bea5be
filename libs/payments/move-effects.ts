import { derivedId } from '../db/mint.js';
import type { IntentRest } from '../db/payment.writes.js';
import type { Change } from '../domain/change/change.js';
import type { Environment } from '../domain/environment.js';
import { nextCallback } from './callback-move.js';
import { lookAgainAt, originOf, stepOf, type HeldPayment } from './held-payment.js';
import type { Move } from './move.js';

/** How the intent rests after a move; without work left the lease is given back in the same statement. */
export function restOf(held: HeldPayment, after: HeldPayment, { move, environment }: { move: Move; environment: Environment }): IntentRest {
  const step = stepOf(after);
  const idle = (step.kind === 'wait' || step.kind === 'done') && after.evidence.length === 0 && !nextCallback(after, environment);
  const resting = !move.newCharge && idle;
  return {
    settled: resting && step.kind === 'done',
    nextActionAt: resting && step.kind === 'wait' && step.until !== null ? lookAgainAt(after, step.until) : null,
    release: resting,
    seenWake: held.intent.wakeSeq,
  };
}

/** Whose doing a move is: its command follows from the intent's version, so that a second run is the same command. */
export function changeOf(environment: Environment, held: HeldPayment): Change {
  const commandId = derivedId('payment', held.intent.id, held.intent.version);
  return { accountId: held.intent.accountId, environment, ...originOf(held.origin), commandId };
}
