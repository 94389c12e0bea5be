import { newId } from '../db/mint.js';
import type { ChargeOperationRow, RefundRow } from '../db/schema/index.js';
import { isLaterRefund, type ToldRefundStatus } from '../domain/payment/told.rules.js';
import type { OperationOutcome, ToldRefund } from '../processors/port.js';
import type { Move } from './move.js';
import { operationOutcomeMove } from './operation-outcome.js';
import type { Fact, Note, Telling } from './told-payment.js';

/** Refunds that we asked for. */
export const ownRefundFact: Fact = (telling) => {
  for (const told of telling.told.refunds) {
    const operation = operationOf(telling, told);
    const move = operation && operation.amountAtom === told.amountAtom ? ownRefund(telling, operation, told) : null;
    if (move) return move;
  }
  return null;
};

function operationOf({ held, charge }: Telling, told: ToldRefund): ChargeOperationRow | undefined {
  const ours = held.operations.filter((each) => each.chargeId === charge.id && each.type === 'refund');
  return ours.find((each) => each.reference === told.reference) ?? ours.find((each) => each.processorOperationId === told.processorRefundId);
}

function ownRefund(telling: Telling, operation: ChargeOperationRow, told: ToldRefund): Move | null {
  const { held, charge, environment } = telling;
  if (operation.status === 'pending') {
    if (told.status === 'pending' && operation.processorOperationId !== null) return null;
    return operationOutcomeMove(held, { operation, charge, outcome: outcomeOf(told) }, environment);
  }
  const refund = held.refunds.find((each) => each.id === operation.refundId);
  if (!refund) return null;
  if (operation.status === 'succeeded' && told.status === 'failed') return returned(telling, operation, { refund, told });
  // Only our own inference said that it failed: the processor never did.
  if (operation.status !== 'failed' || refund.processorRefundId !== null || told.status === 'pending') return null;
  if (told.status === 'failed') return confirmed(operation, { refund, told });
  return fits(telling, told) ? madeAfterAll(telling, operation, { refund, told }) : null;
}

function confirmed(operation: ChargeOperationRow, { refund, told }: Known): Move {
  return {
    step: `${operation.reference}:confirmed`,
    refund: { id: refund.id, set: { processorRefundId: told.processorRefundId, attemptErrorMessage: failureOf(told) } },
    events: { refund: 'refund.updated' },
  };
}

function outcomeOf(told: ToldRefund): OperationOutcome {
  const processorOperationId = told.processorRefundId;
  if (told.status === 'succeeded') return { outcomeClass: 'approved', processorOperationId };
  if (told.status === 'pending') return { outcomeClass: 'pending', processorOperationId };
  return { outcomeClass: 'soft_decline', declineCode: 'generic_decline', processorOperationId, rawMessage: failureOf(told) };
}

function failureOf(told: ToldRefund): string {
  return told.failureMessage ?? 'The processor could not make the refund.';
}

interface Known {
  refund: RefundRow;
  told: ToldRefund;
}

/** The money of a refund that had been made is back with us. */
function returned(telling: Telling, operation: ChargeOperationRow, { refund, told }: Known): Move {
  return {
    ...takenBack(telling, refund, told),
    step: `${operation.reference}:returned`,
    operation: { id: operation.id, set: { status: 'failed', failureMessage: failureOf(told) } },
  };
}

function madeAfterAll(telling: Telling, operation: ChargeOperationRow, { refund, told }: Known): Move {
  return {
    ...made(telling, refund.amountAtom),
    step: `${operation.reference}:made`,
    charge: { id: telling.charge.id, set: { refundedAtom: telling.charge.refundedAtom + refund.amountAtom } },
    operation: { id: operation.id, set: { status: 'succeeded', processorOperationId: told.processorRefundId, failureCode: null, failureMessage: null } },
    refund: { id: refund.id, set: { status: 'succeeded', processorRefundId: told.processorRefundId, attemptErrorMessage: null } },
  };
}

/** Refunds that were made at the processor by somebody else. A payment that was reversed as a whole counts as one. */
export const otherRefundFact: Fact = (telling) => {
  for (const told of othersOf(telling)) {
    const move = otherRefund(telling, told);
    if (move) return move;
  }
  return null;
};

function othersOf(telling: Telling): ToldRefund[] {
  const { charge, told } = telling;
  const others = told.refunds.filter((each) => each.amountAtom > 0 && !operationOf(telling, each) && !maybeOurs(telling, each));
  if (!told.totals.voided || charge.capturedAtom === 0) return others;
  const rest = charge.capturedAtom - charge.refundedAtom;
  const id = `void:${told.processorPaymentId}`;
  const known = telling.held.refunds.some((each) => each.processorRefundId === id);
  return rest > 0 && !known ? [...others, { processorRefundId: id, reference: null, amountAtom: rest, status: 'succeeded' }] : others;
}

/** It carries no reference, and one of ours of this amount has no answer yet: it waits until that one is known. */
export function maybeOurs({ held, charge }: Telling, told: ToldRefund): boolean {
  if (told.reference !== null || held.refunds.some((each) => each.chargeId === charge.id && each.processorRefundId === told.processorRefundId)) return false;
  return held.operations.some(
    (each) => each.chargeId === charge.id && each.type === 'refund' && each.status === 'pending' && each.processorOperationId === null && each.amountAtom === told.amountAtom,
  );
}

function otherRefund(telling: Telling, told: ToldRefund): Move | null {
  const { held, charge } = telling;
  const known = held.refunds.find((each) => each.chargeId === charge.id && each.processorRefundId === told.processorRefundId);
  if (!known) return told.status === 'failed' || fits(telling, told) ? newRefund(telling, told) : null;
  if (!isLaterRefund(told.status, known.status as ToldRefundStatus)) return null;
  if (told.status === 'succeeded') {
    return {
      ...made(telling, known.amountAtom),
      step: `refund:${told.processorRefundId}:made`,
      charge: { id: charge.id, set: {} },
      refund: { id: known.id, set: { status: 'succeeded', attemptErrorMessage: null } },
    };
  }
  return { ...takenBack(telling, known, told), step: `refund:${told.processorRefundId}:failed` };
}

function fits({ charge }: Telling, told: ToldRefund): boolean {
  return charge.refundedAtom + told.amountAtom <= charge.capturedAtom;
}

function newRefund(telling: Telling, told: ToldRefund): Move {
  const { held, charge } = telling;
  const at = new Date(held.clock());
  const step = `refund:${told.processorRefundId}:${told.status}`;
  const row: RefundRow = {
    id: newId(),
    accountId: charge.accountId,
    chargeId: charge.id,
    paymentIntentId: charge.paymentIntentId,
    invoiceId: charge.invoiceId,
    customerId: charge.customerId,
    amountAtom: told.amountAtom,
    currency: charge.currency,
    reason: 'manual_out_of_band',
    description: 'Made at the processor, not through this service.',
    status: told.status,
    refundedOutOfBand: true,
    attemptErrorMessage: told.status === 'failed' ? failureOf(told) : null,
    processorRefundId: told.processorRefundId,
    keyed: true,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
  if (told.status === 'failed') return { step, newRefund: row, events: { refund: 'refund.created' } };
  const reserved = { id: charge.id, set: { refundedAtom: charge.refundedAtom + told.amountAtom } };
  if (told.status === 'pending') return { step, newRefund: row, charge: reserved, events: { refund: 'refund.created', charge: 'charge.updated' } };
  const move = made(telling, told.amountAtom);
  return { ...move, step, newRefund: row, charge: reserved, events: { ...move.events, refund: 'refund.created' } };
}

/** A refund that is made leaves the payment and its invoice. A late success was never the payment's own money. */
function made({ held, charge }: Telling, amountAtom: number): Omit<Move, 'step'> {
  const lastRefundAt = new Date(held.clock());
  return {
    intent: charge.isLate ? { lastRefundAt } : { lastRefundAt, amountRefundedAtom: held.intent.amountRefundedAtom + amountAtom },
    events: { refund: 'refund.updated', charge: 'charge.refunded', intent: 'payment_intent.updated' },
    refundedAtom: charge.isLate ? undefined : amountAtom,
  };
}

/** A refund that failed gives its amount back; one that had been made also comes back into payment and invoice. */
function takenBack({ held, charge }: Telling, refund: RefundRow, told: ToldRefund): Omit<Move, 'step'> {
  const wasMade = refund.status === 'succeeded';
  const counted = wasMade && !charge.isLate;
  return {
    charge: { id: charge.id, set: { refundedAtom: charge.refundedAtom - refund.amountAtom } },
    refund: { id: refund.id, set: { status: 'failed', processorRefundId: told.processorRefundId, attemptErrorMessage: failureOf(told) } },
    intent: counted ? { amountRefundedAtom: held.intent.amountRefundedAtom - refund.amountAtom } : undefined,
    refundedAtom: counted ? -refund.amountAtom : undefined,
    attention: wasMade
      ? {
          type: 'refund_returned',
          reason: `A refund of ${refund.amountAtom} atoms came back: ${failureOf(told)}`,
          actions: ['Agree with the customer on another way to pay the money back.'],
        }
      : undefined,
    events: { refund: 'refund.updated', charge: 'charge.updated', intent: counted ? 'payment_intent.updated' : undefined },
  };
}

/** Refunds that cannot be booked: another amount than asked, or more than was captured. */
export const refundNote: Note = (telling) => {
  const { held, charge, told } = telling;
  for (const each of told.refunds) {
    const operation = operationOf(telling, each);
    if (operation && operation.amountAtom !== each.amountAtom) {
      return {
        type: 'operation_mismatch',
        reason: `The processor tells ${each.amountAtom} atoms for the refund ${operation.reference} of ${operation.amountAtom}.`,
        actions: ['Compare the refund with the processor\'s own dashboard.'],
      };
    }
    const known = operation ? operation.status !== 'failed' : maybeOurs(telling, each) || held.refunds.some((row) => row.chargeId === charge.id && row.processorRefundId === each.processorRefundId);
    if (!known && each.status === 'succeeded' && !fits(telling, each)) {
      return {
        type: 'refund_exceeds_captured',
        reason: `The processor tells a refund of ${each.amountAtom} atoms (${each.processorRefundId}), more than is left of the charge.`,
        actions: ['Compare the charge with the processor\'s own dashboard.'],
      };
    }
  }
  return null;
};
