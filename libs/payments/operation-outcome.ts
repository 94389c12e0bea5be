import type { ChargeOperationRow, ChargeRow } from '../db/schema/index.js';
import { moveIntent } from '../domain/payment/payment.machine.js';
import { addBusinessDays, nextLookupDelay, pendingLimitBusinessDays } from '../domain/payment/payment.schedule.js';
import { declines } from '../errors/catalogue.js';
import type { OperationOutcome } from '../processors/port.js';
import type { Environment } from '../domain/environment.js';
import { hasNext, refusal } from './charge-outcome.js';
import type { HeldPayment } from './held-payment.js';
import type { Move } from './move.js';

const day = 24 * 3_600_000;

interface Performed {
  operation: ChargeOperationRow;
  charge: ChargeRow;
  outcome: OperationOutcome;
}

/** What the outcome of a capture, void or refund changes. */
export function operationOutcomeMove(held: HeldPayment, performed: Performed, environment: Environment): Move {
  const { operation, outcome } = performed;
  if (operation.status !== 'pending') return { step: `${operation.reference}:old`, events: {} };
  switch (outcome.outcomeClass) {
    case 'approved':
      if (operation.type === 'capture') return captured(held, performed);
      if (operation.refundId) return refunded(held, performed);
      return voided(held, performed, environment);
    case 'pending':
    case 'unknown':
    case 'action_required':
      return undecided(held, performed);
    case 'mismatch':
      return stuck(held, performed, `The processor's answer differs from what was asked: ${outcome.rawMessage ?? 'no detail'}.`);
    default:
      return refused(held, performed);
  }
}

function done(operation: ChargeOperationRow, outcome: OperationOutcome): Move['operation'] {
  return {
    id: operation.id,
    set: { status: 'succeeded', processorOperationId: outcome.processorOperationId ?? operation.processorOperationId, nextLookupAt: null },
  };
}

/** Lines about operations without an answer are over with the answer. */
const unanswered = ['operation_unresolved', 'operation_mismatch'].map((type) => ({ type, resolution: 'The processor told what became of it.' }));

function captured(held: HeldPayment, { operation, charge, outcome }: Performed): Move {
  return {
    step: `${operation.reference}:captured`,
    operation: done(operation, outcome),
    charge: { id: charge.id, set: { capturedAtom: operation.amountAtom } },
    intent: {
      status: moveIntent(held.intent.status, 'capture') ?? held.intent.status,
      amountReceivedAtom: operation.amountAtom,
      amountCapturableAtom: 0,
    },
    events: { charge: 'charge.captured', intent: 'payment_intent.succeeded' },
    invoice: 'paid',
  };
}

function refunded(held: HeldPayment, { operation, charge, outcome }: Performed): Move {
  const at = new Date(held.clock());
  return {
    step: `${operation.reference}:refunded`,
    operation: done(operation, outcome),
    charge: { id: charge.id, set: {} },
    refund: { id: operation.refundId!, set: { status: 'succeeded', processorRefundId: outcome.processorOperationId ?? operation.processorOperationId, attemptErrorMessage: null } },
    intent: charge.isLate ? { lastRefundAt: at } : { lastRefundAt: at, amountRefundedAtom: held.intent.amountRefundedAtom + operation.amountAtom },
    events: { refund: 'refund.updated', charge: 'charge.refunded', intent: 'payment_intent.updated' },
    refundedAtom: charge.isLate ? undefined : operation.amountAtom,
    closes: operation.lookups > 0 ? unanswered : undefined,
  };
}

function voided(held: HeldPayment, { operation, charge, outcome }: Performed, environment: Environment): Move {
  const at = new Date(held.clock());
  const wasAuthorized = charge.status === 'succeeded';
  const base: Move = {
    step: `${operation.reference}:voided`,
    operation: done(operation, outcome),
    charge: {
      id: charge.id,
      set: wasAuthorized
        ? { voidedAt: at }
        : { voidedAt: at, status: 'failed', failureMessage: charge.failureMessage ?? 'Cancelled at the processor', redirectUrl: null, nextLookupAt: null },
    },
    events: { charge: wasAuthorized ? 'charge.voided' : 'charge.failed' },
  };
  switch (operation.purpose) {
    case 'cancel':
      return canceled(held, base, at);
    case 'expire':
      if (wasAuthorized) return canceled(held, base, at);
      return refusedAfterVoid(held, base, 'authentication_required');
    case 'release':
      return { ...base, intent: { status: 'processing', amountCapturableAtom: 0, redirectUrl: null }, events: { ...base.events, intent: 'payment_intent.processing' } };
    case 'partial':
      if (hasNext(held, charge, { outcomeClass: 'partial_approval' }, environment)) return base;
      return refusedAfterVoid(held, base, 'partial_approval');
    default:
      return base;
  }
}

function canceled(held: HeldPayment, base: Move, at: Date): Move {
  return {
    ...base,
    intent: {
      status: moveIntent(held.intent.status, 'cancel') ?? held.intent.status,
      amountCapturableAtom: 0,
      redirectUrl: null,
      canceledAt: at,
    },
    events: { ...base.events, intent: 'payment_intent.canceled' },
  };
}

function refusedAfterVoid(held: HeldPayment, base: Move, declineCode: 'authentication_required' | 'partial_approval'): Move {
  const set = { ...base.charge!.set, declineCode, failureMessage: declines[declineCode].title };
  return {
    ...base,
    charge: { id: base.charge!.id, set },
    ...refusal(held.intent, 'refuse', declineCode),
    events: { ...base.events, intent: 'payment_intent.failed' },
  };
}

/** Sent without a certain answer, or only accepted. It stays pending for as long as it takes: nothing fails by time alone. */
function undecided(held: HeldPayment, { operation, charge, outcome }: Performed): Move {
  const now = held.clock();
  const accepted = outcome.outcomeClass === 'pending' ? (outcome.processorOperationId ?? null) : null;
  const first = accepted !== null && operation.processorOperationId === null;
  const lookups = first || operation.nextLookupAt === null ? 0 : operation.lookups + 1;
  const delay = nextLookupDelay(lookups, held.lookupOffsets);
  const processorOperationId = operation.processorOperationId ?? accepted;
  const patient = processorOperationId !== null && now < addBusinessDays(operation.createdAt.getTime(), pendingLimitBusinessDays);
  return {
    step: `${operation.reference}:${outcome.outcomeClass}:${lookups}`,
    operation: { id: operation.id, set: { lookups, processorOperationId, nextLookupAt: new Date(now + (delay ?? day)) } },
    charge: { id: charge.id, set: {} },
    refund: first && operation.refundId ? { id: operation.refundId, set: { processorRefundId: accepted } } : undefined,
    attention:
      delay === null && !patient
        ? {
            type: 'operation_unresolved',
            reason: `The outcome of the ${operation.type} ${operation.reference} could not be found out.`,
            actions: ['Look the reference up in the processor\'s own dashboard.'],
          }
        : undefined,
    events: first && operation.refundId ? { refund: 'refund.updated' } : {},
  };
}

function stuck(held: HeldPayment, { operation, charge }: Performed, reason: string): Move {
  return {
    step: `${operation.reference}:mismatch`,
    operation: { id: operation.id, set: { nextLookupAt: new Date(held.clock() + day), failureMessage: reason } },
    charge: { id: charge.id, set: {} },
    attention: { type: 'operation_mismatch', reason, actions: ['Compare the operation with the processor\'s own dashboard.'] },
    events: { charge: 'charge.exception' },
  };
}

/** Definitely not done: a refund gives its reservation back, a capture may be asked for again. */
function refused(held: HeldPayment, { operation, charge, outcome }: Performed): Move {
  const declineCode = outcome.declineCode ?? 'generic_decline';
  const message = declines[declineCode].title;
  const processorRefundId = outcome.processorOperationId ?? operation.processorOperationId;
  const told = processorRefundId ? (outcome.rawMessage ?? message) : message;
  const move: Move = {
    step: `${operation.reference}:refused`,
    operation: {
      id: operation.id,
      set: { status: 'failed', failureCode: declineCode, failureMessage: told, processorOperationId: processorRefundId, nextLookupAt: null },
    },
    charge: { id: charge.id, set: {} },
    closes: operation.lookups > 0 ? unanswered : undefined,
    events: {},
  };
  if (operation.refundId) {
    return {
      ...move,
      charge: { id: charge.id, set: { refundedAtom: charge.refundedAtom - operation.amountAtom } },
      refund: { id: operation.refundId, set: { status: 'failed', attemptErrorMessage: told, processorRefundId } },
      attention: operation.purpose === 'late' ? lateAttention(message) : undefined,
      events: { refund: 'refund.updated', charge: 'charge.updated' },
    };
  }
  if (operation.type === 'capture') return { ...move, events: { charge: 'charge.updated' } };
  return { ...move, ...refusedVoid(held, { operation, charge, outcome }, message) };
}

/** The attempt may have gone through meanwhile: ask the processor once more, then it is a person's turn. */
function refusedVoid(held: HeldPayment, { operation, charge }: Performed, message: string): Partial<Move> {
  const again = held.operations.some((each) => each.id !== operation.id && each.purpose === operation.purpose && each.status === 'failed');
  const unresolved = charge.status === 'pending';
  // It was captured meanwhile: if nobody owes it, it goes back as a refund.
  if (charge.status === 'succeeded' && charge.capturedAtom > 0 && !charge.isLate) return { events: { charge: 'charge.updated' }, invoice: 'recheck' };
  if (charge.status === 'succeeded' && operation.purpose === 'release') return keptAfterAll(held, charge);
  if (unresolved && operation.purpose !== 'partial' && !again) {
    return { charge: { id: charge.id, set: { nextLookupAt: new Date(held.clock()) } }, events: { charge: 'charge.updated' } };
  }
  if (operation.purpose === 'cancel') return { events: { charge: 'charge.updated' } };
  const status = operation.purpose === 'late' ? null : moveIntent(held.intent.status, 'except');
  return {
    charge: { id: charge.id, set: { nextLookupAt: null } },
    intent: status ? { status } : undefined,
    attention: lateAttention(message),
    events: { charge: 'charge.updated', intent: status ? 'payment_intent.exception' : undefined },
  };
}

/** The challenge was passed before its cancel, which was refused: the payment is authorised. */
function keptAfterAll(held: HeldPayment, charge: ChargeRow): Partial<Move> {
  const status = moveIntent(held.intent.status, 'authorize');
  return {
    intent: status ? { status, amountCapturableAtom: charge.authorizedAtom, redirectUrl: null, lastChargeId: charge.id } : undefined,
    events: { charge: 'charge.updated', intent: status ? 'payment_intent.requires_capture' : undefined },
  };
}

function lateAttention(message: string): Move['attention'] {
  return {
    type: 'operation_refused',
    reason: `Money could not be given back: ${message}.`,
    actions: ['Refund or void the charge in the processor\'s own dashboard.'],
  };
}
