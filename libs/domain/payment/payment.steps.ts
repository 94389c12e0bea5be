import type { OutcomeClass } from './outcome.js';
import type { ChargeStatus, IntentStatus } from './payment-status.js';

/** Times in epoch milliseconds. */
export interface ChargeState {
  id: string;
  status: ChargeStatus;
  /** Null: the attempt was begun and nothing more is known. */
  outcomeClass: OutcomeClass | null;
  nextLookupAt: number | null;
}

export interface OperationState {
  id: string;
  status: ChargeStatus;
  sent: boolean;
  nextLookupAt: number | null;
}

export interface PaymentState {
  status: IntentStatus;
  /** It waits for a stop to be lifted, and for its turn after that. */
  stopped?: boolean;
  charges: readonly ChargeState[];
  operations: readonly OperationState[];
  /** End of the capture window or of a challenge; null where none runs. */
  windowEndsAt: number | null;
}

export type PaymentStep =
  | { kind: 'begin_attempt' }
  | { kind: 'resolve_charge'; chargeId: string }
  | { kind: 'run_operation'; operationId: string }
  | { kind: 'end_window' }
  | { kind: 'wait'; until: number | null }
  | { kind: 'done' };

/**
 * What moves the payment next. A money operation comes first, then an attempt without outcome; a new attempt only when
 * nothing is unresolved.
 */
export function nextStep(state: PaymentState, now: number): PaymentStep {
  const operation = state.operations.find((each) => each.status === 'pending');
  if (operation) {
    // Sent and nothing planned: its sender died before the answer.
    if (!operation.sent || operation.nextLookupAt === null || operation.nextLookupAt <= now) {
      return { kind: 'run_operation', operationId: operation.id };
    }
    return { kind: 'wait', until: operation.nextLookupAt };
  }
  if (state.status === 'exception') return { kind: 'done' };
  const unresolved = state.charges.find((each) => each.status === 'pending');
  if (unresolved) return stepOfUnresolved(unresolved, state, now);
  if (state.status === 'processing') return state.stopped ? { kind: 'wait', until: null } : { kind: 'begin_attempt' };
  if (state.status === 'requires_capture') return windowStep(state, now);
  return { kind: 'done' };
}

function stepOfUnresolved(charge: ChargeState, state: PaymentState, now: number): PaymentStep {
  if (charge.outcomeClass === null) return { kind: 'resolve_charge', chargeId: charge.id };
  if (charge.outcomeClass === 'action_required' && state.windowEndsAt !== null && state.windowEndsAt <= now) {
    return { kind: 'end_window' };
  }
  if (charge.nextLookupAt !== null && charge.nextLookupAt <= now) return { kind: 'resolve_charge', chargeId: charge.id };
  return { kind: 'wait', until: earliest(charge.nextLookupAt, charge.outcomeClass === 'action_required' ? state.windowEndsAt : null) };
}

function windowStep(state: PaymentState, now: number): PaymentStep {
  if (state.windowEndsAt !== null && state.windowEndsAt <= now) return { kind: 'end_window' };
  return { kind: 'wait', until: state.windowEndsAt };
}

function earliest(a: number | null, b: number | null): number | null {
  if (a === null || b === null) return a ?? b;
  return Math.min(a, b);
}
