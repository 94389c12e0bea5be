import type { ChargeRow } from '../db/schema/index.js';
import type { Environment } from '../domain/environment.js';
import { appliedMove } from './applied-move.js';
import type { HeldCallback, HeldPayment } from './held-payment.js';
import type { Move } from './move.js';
import { attemptFact, captureFact, capturedElsewhere, mismatchFact, voidFact } from './told-attempt.js';
import { disputeFact } from './told-dispute.js';
import { differenceOf, isAnotherPayment, pendingOperation, type Fact, type Note, type Telling } from './told-payment.js';
import { maybeOurs, otherRefundFact, ownRefundFact, refundNote } from './told-refund.js';

/** In this order: what an operation of ours did frees amounts for what others did. */
const facts: readonly Fact[] = [attemptFact, captureFact, voidFact, ownRefundFact, otherRefundFact, disputeFact];

/** The first stored callback that can be applied now, with the move that does it. */
export function nextCallback(held: HeldPayment, environment: Environment): { move: Move } | null {
  for (const callback of held.callbacks) {
    const move = callbackMove(held, callback, environment);
    if (move) return { move };
  }
  return null;
}

/**
 * The next fact that a stored callback tells, and with the last one that it is applied. A callback is a snapshot of the
 * payment at its processor, perhaps an old one: every order of a payment's callbacks ends in the same state.
 * Null: it cannot be applied before the attempt has an outcome.
 */
export function callbackMove(held: HeldPayment, callback: HeldCallback, environment: Environment): Move | null {
  const charge = held.charges.find((each) => each.id === callback.chargeId);
  const telling = charge && { held, charge, told: callback.payment, environment };
  const move = telling && factOf(telling);
  if (!move) return telling && tooEarly(telling) ? null : ending(telling, callback);
  const after = appliedMove(held, move, new Date(held.clock()));
  const next = { ...telling, held: after, charge: chargeIn(after, telling.charge) };
  const left = leftOver(next) || tooEarly(next);
  return left ? move : { ...move, appliedCallback: { id: callback.id, result: 'applied' } };
}

/** Whether the callback changes nothing, now or after whatever else may come: then nobody needs to be woken for it. */
export function tellsNothingNew(held: HeldPayment, callback: Omit<HeldCallback, 'id'>, environment: Environment): boolean {
  const charge = held.charges.find((each) => each.id === callback.chargeId);
  const telling = charge && { held, charge, told: callback.payment, environment };
  return telling !== undefined && !leftOver(telling) && !tooEarly(telling);
}

/** A refund was told of an attempt, or beside an operation, whose own outcome is not known yet. */
function tooEarly(telling: Telling): boolean {
  if (differenceOf(telling) || isAnotherPayment(telling)) return false;
  return (telling.charge.status === 'pending' && refundNote(telling) !== null) || telling.told.refunds.some((each) => maybeOurs(telling, each));
}

function leftOver(telling: Telling): boolean {
  return factOf(telling) !== null || noteOf(telling) !== null;
}

function chargeIn(held: HeldPayment, charge: ChargeRow): ChargeRow {
  return held.charges.find((each) => each.id === charge.id)!;
}

function factOf(telling: Telling): Move | null {
  if (differenceOf(telling)) return mismatchFact(telling);
  if (isAnotherPayment(telling)) return null;
  for (const fact of facts) {
    const move = fact(telling);
    if (move) return move;
  }
  return null;
}

function ending(telling: Telling | undefined, { id }: HeldCallback): Move {
  const attention = telling ? (noteOf(telling) ?? undefined) : undefined;
  return { step: `callback:${id}`, attention, appliedCallback: { id, result: attention ? 'attention' : 'nothing_new' }, events: {} };
}

const differenceNote: Note = (telling) => {
  const difference = differenceOf(telling);
  if (!difference || telling.charge.outcomeClass === 'mismatch') return null;
  return {
    type: 'callback_mismatch',
    reason: `The processor tells something else than what was charged: ${difference}.`,
    actions: ['Compare the charge with the processor\'s own dashboard.'],
  };
};

const secondPaymentNote: Note = (telling) => {
  const { told } = telling;
  const holdsMoney = !told.totals.voided && told.totals.authorizedAmountAtom > told.totals.refundedAmountAtom;
  if (!isAnotherPayment(telling) || !holdsMoney) return null;
  return {
    type: 'charged_twice',
    reason: `The processor holds a second payment, ${told.processorPaymentId}, under the same reference.`,
    actions: ['Refund or void the second payment in the processor\'s own dashboard.'],
  };
};

const captureNote: Note = (telling) => {
  const { charge, told } = telling;
  const captured = told.totals.capturedAmountAtom;
  if (charge.status !== 'succeeded' || charge.voidedAt !== null || captured <= charge.capturedAtom || pendingOperation(telling, 'capture')) return null;
  return capturedElsewhere(captured);
};

function noteOf(telling: Telling): Move['attention'] | null {
  const difference = differenceNote(telling);
  if (difference || differenceOf(telling)) return difference;
  const second = secondPaymentNote(telling);
  if (second || isAnotherPayment(telling)) return second;
  return captureNote(telling) ?? refundNote(telling);
}
