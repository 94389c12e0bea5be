import { moveIntent } from '../domain/payment/payment.machine.js';
import type { OutcomeClass } from '../domain/payment/outcome.js';
import type { PaymentOutcome } from '../processors/port.js';
import { chargeOutcomeMove, isBeingReleased } from './charge-outcome.js';
import type { Move } from './move.js';
import { operationOutcomeMove } from './operation-outcome.js';
import { differenceOf, isCurrentSuccess, pendingOperation, type Fact, type Telling } from './told-payment.js';

/** Classes that a charge without outcome may be in when the processor tells that it accepted it, or asks for the customer. */
const beforePending: readonly (string | null)[] = [null, 'unknown'];
const beforeChallenge: readonly (string | null)[] = [null, 'unknown', 'pending'];

/** What became of the attempt. A payment that was voided after its approval was approved. */
export const attemptFact: Fact = (telling) => {
  const { held, charge, told, environment } = telling;
  const { voided, authorizedAmountAtom } = told.totals;
  if (voided && authorizedAmountAtom === 0) return null;
  const outcome: PaymentOutcome = { ...told.outcome, processorPaymentId: told.processorPaymentId, ...(voided ? { outcomeClass: 'approved' } : {}) };
  return isNews(telling, outcome.outcomeClass) ? chargeOutcomeMove(held, charge, outcome, environment) : null;
};

function isNews({ charge, told }: Telling, outcomeClass: OutcomeClass): boolean {
  if (outcomeClass === 'approved') return charge.status === 'pending' || (charge.status === 'failed' && charge.voidedAt === null);
  if (charge.status !== 'pending') return false;
  switch (outcomeClass) {
    case 'unknown':
    case 'mismatch':
      return false;
    case 'pending':
      return beforePending.includes(charge.outcomeClass);
    case 'action_required':
      return beforeChallenge.includes(charge.outcomeClass) && (told.outcome.redirectUrl ?? charge.redirectUrl) !== null;
    case 'partial_approval':
      return charge.outcomeClass !== 'partial_approval' && charge.outcomeClass !== 'mismatch';
    default:
      return charge.outcomeClass !== 'partial_approval';
  }
}

/** Another amount or currency than asked: an exception while the attempt has no outcome, else only a note. */
export const mismatchFact: Fact = (telling) => {
  const { held, charge, told, environment } = telling;
  const difference = differenceOf(telling);
  if (!difference || charge.status !== 'pending' || charge.outcomeClass === 'mismatch') return null;
  const outcome: PaymentOutcome = { outcomeClass: 'mismatch', processorPaymentId: told.processorPaymentId, rawMessage: difference };
  return chargeOutcomeMove(held, charge, outcome, environment);
};

/** Cancelled at the processor: by an operation of ours, or by somebody there. */
export const voidFact: Fact = (telling) => {
  const { held, charge, told, environment } = telling;
  if (!told.totals.voided || charge.voidedAt !== null || charge.capturedAtom > 0) return null;
  const operation = pendingOperation(telling, 'void');
  if (operation) return operationOutcomeMove(held, { operation, charge, outcome: { outcomeClass: 'approved' } }, environment);
  if (charge.status === 'succeeded') return voidedElsewhere(telling);
  return charge.status === 'pending' ? neverApproved(telling) : null;
};

function voidedElsewhere(telling: Telling): Move {
  const { held, charge } = telling;
  const at = new Date(held.clock());
  const base: Move = {
    step: `attempt:${charge.attemptNumber}:voided`,
    charge: { id: charge.id, set: { voidedAt: at } },
    events: { charge: 'charge.voided' },
  };
  if (!isCurrentSuccess(telling)) return base;
  return {
    ...base,
    intent: { status: moveIntent(held.intent.status, 'cancel')!, amountCapturableAtom: 0, canceledAt: at },
    events: { ...base.events, intent: 'payment_intent.canceled' },
  };
}

function neverApproved({ held, charge, told, environment }: Telling): Move {
  const outcome: PaymentOutcome = {
    outcomeClass: 'processor_error',
    declineCode: 'processing_error',
    processorPaymentId: told.processorPaymentId,
    rawMessage: 'Voided at the processor.',
  };
  const move = chargeOutcomeMove(held, charge, outcome, environment);
  return { ...move, charge: { id: charge.id, set: { ...move.charge?.set, voidedAt: new Date(held.clock()) } } };
}

/** Captured at the processor: what an operation of ours asked for, or what nobody of ours did, which is also reported. */
export const captureFact: Fact = (telling) => {
  const { held, charge, told, environment } = telling;
  const captured = told.totals.capturedAmountAtom;
  if (charge.status !== 'succeeded' || charge.voidedAt !== null || captured <= charge.capturedAtom) return null;
  const operation = pendingOperation(telling, 'capture');
  if (operation) {
    if (operation.amountAtom !== captured) return null;
    return operationOutcomeMove(held, { operation, charge, outcome: { outcomeClass: 'approved' } }, environment);
  }
  const status = moveIntent(held.intent.status, isCurrentSuccess(telling) ? 'capture' : 'approve');
  if (captured > charge.authorizedAtom || !status || !(isCurrentSuccess(telling) || isBeingReleased(held, charge))) return null;
  return {
    step: `attempt:${charge.attemptNumber}:captured`,
    charge: { id: charge.id, set: { capturedAtom: captured } },
    intent: { status, amountReceivedAtom: captured, amountCapturableAtom: 0, redirectUrl: null, lastChargeId: charge.id },
    attention: capturedElsewhere(captured),
    events: { charge: 'charge.captured', intent: 'payment_intent.succeeded' },
    invoice: 'paid',
  };
};

export function capturedElsewhere(captured: number): NonNullable<Move['attention']> {
  return {
    type: 'captured_elsewhere',
    reason: `The processor captured ${captured} atoms that were not asked for here.`,
    actions: ['Find out who captured it at the processor; refund what should not have been taken.'],
  };
}
