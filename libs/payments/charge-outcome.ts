import { newId } from '../db/mint.js';
import type { ChargeRow, PaymentIntentRow } from '../db/schema/index.js';
import type { AttemptOutcome, OutcomeClass } from '../domain/payment/outcome.js';
import { mayTryElsewhere, type LastAttempt } from '../domain/payment/outcome.rules.js';
import { moveIntent, type IntentMove } from '../domain/payment/payment.machine.js';
import { addBusinessDays, nextLookupDelay, pendingLimitBusinessDays } from '../domain/payment/payment.schedule.js';
import type { RouteDecision } from '../domain/route/route.decision.js';
import { declines } from '../errors/catalogue.js';
import type { PaymentOutcome } from '../processors/port.js';
import { publicId } from '../views/ids.js';
import type { Environment } from '../domain/environment.js';
import type { HeldPayment } from './held-payment.js';
import type { Move } from './move.js';
import { newOperation } from './new-operation.js';

/** A stored decision: `RouteDecision` and where it came from. */
export type StoredDecision = RouteDecision & {
  route_id: string | null;
  version: number | null;
  /** Why this attempt was made after another one; null for the first. */
  fallback_reason: string | null;
};

const lookedUp: readonly OutcomeClass[] = ['unknown', 'pending', 'action_required'];

/**
 * What an outcome of an attempt changes. An attempt never moves backwards: once it has failed only a success is news,
 * and once it succeeded nothing is.
 */
export function chargeOutcomeMove(held: HeldPayment, charge: ChargeRow, outcome: PaymentOutcome, environment: Environment): Move {
  const news = charge.status === 'pending' || (charge.status === 'failed' && outcome.outcomeClass === 'approved' && !charge.voidedAt);
  if (!news) return { step: `attempt:${charge.attemptNumber}:old`, events: {} };
  switch (outcome.outcomeClass) {
    case 'approved':
      return approvedMove(held, charge, outcome);
    case 'unknown':
    case 'pending':
    case 'action_required':
      return unresolvedMove(held, charge, outcome, environment);
    case 'partial_approval':
      return partialMove(held, charge, outcome);
    case 'mismatch':
      return exceptionMove(held, charge, outcome, `The processor's answer differs from what was asked: ${outcome.rawMessage ?? 'no detail'}.`);
    default:
      return refusedMove(held, charge, outcome, environment);
  }
}

function told(charge: ChargeRow, outcome: AttemptOutcome): Partial<ChargeRow> {
  return {
    outcomeClass: outcome.outcomeClass,
    processorPaymentId: outcome.processorPaymentId ?? charge.processorPaymentId,
    rawCode: outcome.rawCode ?? null,
    rawMessage: outcome.rawMessage ?? null,
    retryAdvice: outcome.retryAdvice ?? charge.retryAdvice,
    networkAdviceCode: outcome.networkAdviceCode ?? charge.networkAdviceCode,
  };
}

function approvedMove(held: HeldPayment, charge: ChargeRow, outcome: PaymentOutcome): Move {
  const { intent } = held;
  const captured = intent.captureMethod === 'automatic';
  const status = moveIntent(intent.status, captured ? 'approve' : 'authorize');
  const set: Partial<ChargeRow> = {
    ...told(charge, outcome),
    status: 'succeeded',
    authorizedAtom: charge.amountAtom,
    capturedAtom: captured ? charge.amountAtom : 0,
    declineCode: null,
    failureMessage: null,
    redirectUrl: null,
    nextLookupAt: null,
  };
  const network =
    outcome.networkTransactionId && intent.initiator === 'customer' && held.credentialKeptFor !== charge.id
      ? { paymentMethodId: charge.paymentMethodId, processorId: charge.processorId, id: outcome.networkTransactionId }
      : undefined;
  if (!status) return lateMove(held, charge, set);
  const approved = `attempt:${charge.attemptNumber}:approved`;
  // The customer chose another way: what holds no money yet is told as theirs only if its cancel is refused.
  if (!captured && isBeingReleased(held, charge)) {
    return { step: approved, charge: { id: charge.id, set }, networkTransaction: network, events: { charge: 'charge.succeeded' } };
  }
  return {
    step: approved,
    charge: { id: charge.id, set },
    intent: {
      status,
      amountReceivedAtom: captured ? charge.amountAtom : 0,
      amountCapturableAtom: captured ? 0 : charge.amountAtom,
      declineCode: null,
      declineReason: null,
      redirectUrl: null,
      lastChargeId: charge.id,
    },
    networkTransaction: network,
    solved: intent.status === 'exception' ? 'The attempt turned out to be approved.' : undefined,
    events: { charge: 'charge.succeeded', intent: captured ? 'payment_intent.succeeded' : 'payment_intent.requires_capture' },
    invoice: captured ? 'paid' : undefined,
  };
}

/** Its cancel for another method or processor was begun and has no answer yet. */
export function isBeingReleased({ operations }: HeldPayment, { id }: ChargeRow): boolean {
  return operations.some(({ chargeId, status, purpose }) => chargeId === id && status === 'pending' && purpose === 'release');
}

/** A success after the payment was settled otherwise: given back once, and told. */
function lateMove(held: HeldPayment, charge: ChargeRow, set: Partial<ChargeRow>): Move {
  const captured = (set.capturedAtom ?? 0) > 0;
  const at = new Date(held.clock());
  const late = { ...charge, ...set };
  const refundId = captured ? newId() : null;
  return {
    step: `attempt:${charge.attemptNumber}:late`,
    charge: { id: charge.id, set: { ...set, isLate: true, refundedAtom: set.capturedAtom ?? 0 } },
    newOperation: newOperation(held, late, {
      type: captured ? 'refund' : 'void',
      purpose: 'late',
      amountAtom: charge.amountAtom,
      refundId,
    }),
    newRefund: refundId
      ? {
          id: refundId,
          accountId: charge.accountId,
          chargeId: charge.id,
          paymentIntentId: charge.paymentIntentId,
          invoiceId: charge.invoiceId,
          customerId: charge.customerId,
          amountAtom: charge.amountAtom,
          currency: charge.currency,
          reason: 'duplicate',
          description: 'The processor reported a success after the payment had been settled otherwise.',
          status: 'pending',
          refundedOutOfBand: false,
          attemptErrorMessage: null,
          processorRefundId: null,
          keyed: true,
          version: 1,
          createdAt: at,
          updatedAt: at,
        }
      : undefined,
    events: { charge: 'charge.succeeded', refund: refundId ? 'refund.created' : undefined },
  };
}

function unresolvedMove(held: HeldPayment, charge: ChargeRow, outcome: PaymentOutcome, environment: Environment): Move {
  const now = held.clock();
  const first = charge.outcomeClass !== outcome.outcomeClass;
  const lookups = first ? 0 : charge.lookups + 1;
  const delay = nextLookupDelay(lookups, held.lookupOffsets);
  const set: Partial<ChargeRow> = { ...told(charge, outcome), lookups, nextLookupAt: delay === null ? null : new Date(now + delay) };
  const step = `attempt:${charge.attemptNumber}:${outcome.outcomeClass}:${lookups}`;
  if (outcome.outcomeClass === 'action_required') return challengeMove(held, charge, { outcome, set, step, environment });
  if (delay === null && outcome.outcomeClass === 'pending' && now < addBusinessDays(charge.createdAt.getTime(), pendingLimitBusinessDays)) {
    set.nextLookupAt = new Date(now + 24 * 3_600_000);
  } else if (delay === null) {
    return exceptionMove(held, charge, outcome, 'The outcome of the attempt could not be found out.');
  }
  const shown = first && lookedUp.includes(outcome.outcomeClass);
  return {
    step,
    charge: { id: charge.id, set },
    events: { charge: shown ? 'charge.pending' : undefined, intent: shown && held.intent.status === 'processing' ? 'payment_intent.processing' : undefined },
  };
}

interface Challenge {
  outcome: PaymentOutcome;
  set: Partial<ChargeRow>;
  step: string;
  environment: Environment;
}

function challengeMove(held: HeldPayment, charge: ChargeRow, { outcome, set, step, environment }: Challenge): Move {
  const redirectUrl = outcome.redirectUrl ?? charge.redirectUrl;
  const status = moveIntent(held.intent.status, 'challenge') ?? held.intent.status;
  const first = charge.outcomeClass !== 'action_required';
  const elsewhere = first && hasNext(held, charge, { outcomeClass: 'action_required' }, environment);
  // Known before without an event where the way to another processor was refused: the payment waits for its customer after all.
  const shown = !elsewhere && (first || status !== held.intent.status);
  const after = { ...charge, ...set, redirectUrl };
  return {
    step,
    charge: { id: charge.id, set: { ...set, redirectUrl } },
    intent: elsewhere ? undefined : { status, redirectUrl },
    newOperation: elsewhere ? newOperation(held, after, { type: 'void', purpose: 'release', amountAtom: charge.amountAtom }) : undefined,
    events: { charge: first ? 'charge.pending' : undefined, intent: shown ? 'payment_intent.requires_action' : undefined },
  };
}

/** Less was approved than asked: cancelled at the processor, or refunded where it was captured, before anything else happens. */
function partialMove(held: HeldPayment, charge: ChargeRow, outcome: PaymentOutcome): Move {
  const set: Partial<ChargeRow> = {
    ...told(charge, outcome),
    declineCode: 'partial_approval',
    failureMessage: declines.partial_approval.title,
    nextLookupAt: null,
  };
  const after = { ...charge, ...set };
  return {
    step: `attempt:${charge.attemptNumber}:partial`,
    charge: { id: charge.id, set },
    newOperation: newOperation(held, after, {
      type: outcome.capturedAmountAtom ? 'refund' : 'void',
      purpose: 'partial',
      amountAtom: outcome.capturedAmountAtom || (outcome.approvedAmountAtom ?? charge.amountAtom),
    }),
    events: { charge: 'charge.pending' },
  };
}

export function exceptionMove(held: HeldPayment, charge: ChargeRow, outcome: AttemptOutcome, reason: string): Move {
  const status = moveIntent(held.intent.status, 'except');
  return {
    step: `attempt:${charge.attemptNumber}:exception`,
    charge: { id: charge.id, set: { ...told(charge, outcome), nextLookupAt: null } },
    intent: { status: status ?? held.intent.status },
    attention: {
      type: 'payment_exception',
      reason,
      actions: ['Look the reference up in the processor\'s own dashboard.', 'Say by one of these calls what it shows; the payment waits until then.'],
    },
    events: { charge: 'charge.exception', intent: status ? 'payment_intent.exception' : undefined },
    invoice: 'failed',
  };
}

/** A refusal: the next candidate's turn, or the end of this confirmation. */
export function refusedMove(held: HeldPayment, charge: ChargeRow, outcome: AttemptOutcome, environment: Environment): Move {
  const declineCode = outcome.declineCode ?? 'generic_decline';
  const set: Partial<ChargeRow> = {
    ...told(charge, outcome),
    status: 'failed',
    declineCode,
    failureMessage: declines[declineCode].title,
    redirectUrl: null,
    nextLookupAt: null,
  };
  const move: Move = {
    step: `attempt:${charge.attemptNumber}:${outcome.outcomeClass}`,
    charge: { id: charge.id, set },
    events: { charge: 'charge.failed' },
  };
  if (hasNext(held, charge, outcome, environment)) return { ...move, intent: { status: 'processing', redirectUrl: null } };
  return { ...move, ...refusal(held.intent, 'refuse', declineCode), events: { charge: 'charge.failed', intent: 'payment_intent.failed' } };
}

/** The intent at rest after a refusal. */
export function refusal(intent: PaymentIntentRow, move: IntentMove, declineCode: string): Pick<Move, 'intent' | 'invoice'> {
  const title = declineCode in declines ? declines[declineCode as keyof typeof declines].title : 'No processor is available';
  return {
    intent: { status: moveIntent(intent.status, move) ?? intent.status, declineCode, declineReason: title, redirectUrl: null },
    invoice: 'failed',
  };
}

/** Whether the route lets another connection be tried after this outcome, and names one that was not tried yet. */
export function hasNext(held: HeldPayment, charge: ChargeRow, outcome: LastAttempt, environment: Environment): boolean {
  const { intent } = held;
  if (charge.confirmation !== intent.confirmation || (intent.status !== 'processing' && intent.status !== 'requires_action')) return false;
  const attempts = held.charges.filter((each) => each.confirmation === intent.confirmation);
  const decision = charge.decision as unknown as StoredDecision;
  if (!mayTryElsewhere(outcome, decision.fallback, attempts.length)) return false;
  const tried = new Set(attempts.map((each) => publicId('processor', environment, each.processorId)));
  return decision.order.some((processorId) => !tried.has(processorId));
}
