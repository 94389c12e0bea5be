import type { EventFooting } from '../db/event.writes.js';
import type {
  AttemptEvidenceRow,
  ChargeOperationRow,
  ChargeRow,
  DisputeRow,
  PaymentIntentRow,
  RefundRow,
} from '../db/schema/index.js';
import type { AdvanceResult } from '../domain/payment/advance-result.js';
import type { DeclineCode } from '../errors/catalogue.js';
import type { OutcomeClass } from '../domain/payment/outcome.js';
import { captureWindowMs } from '../domain/payment/payment.schedule.js';
import { nextStep, type PaymentState, type PaymentStep } from '../domain/payment/payment.steps.js';
import type { ToldPayment } from '../processors/port.js';
import type { PaymentIntentParts } from '../views/payment-intent.view.js';
import type { Lease } from './lease-keeper.js';

/** Whose request moves the payment; ends up on the events. */
export interface PaymentOrigin {
  actor: string | null;
  requestId: string | null;
  idempotencyKey: string | null;
  clockTime: string | null;
}

export function originOf({ actor, requestId, idempotencyKey, clockTime }: PaymentOrigin): PaymentOrigin {
  return { actor, requestId, idempotencyKey, clockTime };
}

export interface HeldCallback {
  id: string;
  chargeId: string;
  payment: ToldPayment;
}

/** A payment whose lease is ours, with all its rows as last read or written. Replaced, never changed, by each step. */
export interface HeldPayment {
  readonly lease: Lease;
  readonly origin: PaymentOrigin;
  /** Epoch milliseconds. */
  readonly clock: () => number;
  /** When an unresolved attempt or operation is looked up: milliseconds from when it became unresolved. */
  readonly lookupOffsets: readonly number[];
  readonly intent: PaymentIntentRow;
  /** Oldest first. */
  readonly charges: readonly ChargeRow[];
  readonly operations: readonly ChargeOperationRow[];
  readonly refunds: readonly RefundRow[];
  readonly evidence: readonly AttemptEvidenceRow[];
  /** What processors told and is not applied yet, oldest first. */
  readonly callbacks: readonly HeldCallback[];
  /** Read only where a callback waits. */
  readonly disputes: readonly DisputeRow[];
  /** Kind of each connection that a charge went to. */
  readonly kinds: ReadonlyMap<string, string>;
  /** Time stands still while it is moved: it belongs to a test clock, and its lookups follow without waiting for their times. */
  readonly onClock?: boolean;
  /** The attempt whose method has kept a reference for unattended charges at its connection already; it is never replaced. */
  readonly credentialKeptFor?: string | null;
  /** The last write also gave the lease back. */
  readonly released: boolean;
  /** What the next events stand on, as the last write left it; null where it must be read. */
  readonly footing: EventFooting | null;
}

/** A payment without attempts, whose lease is about to be taken with the token of `intent`; it has no other rows. */
export function unbegun(
  { lookupOffsets }: Pick<HeldPayment, 'lookupOffsets'>,
  intent: PaymentIntentRow,
  { origin, clock, footing }: Pick<HeldPayment, 'origin' | 'clock' | 'footing'>,
): HeldPayment {
  const lease = { intentId: intent.id, token: intent.leaseToken, confirmedAt: performance.now(), lost: false };
  const rows = { charges: [], operations: [], refunds: [], evidence: [], callbacks: [], disputes: [] };
  return { lease, origin, clock, intent, ...rows, lookupOffsets, kinds: new Map(), released: false, footing };
}

const challengeWindowMs = 24 * 3_600_000;

export function stateOf(held: Pick<HeldPayment, 'intent' | 'charges' | 'operations'>): PaymentState {
  return {
    status: held.intent.status,
    stopped: held.intent.stoppedAt !== null,
    windowEndsAt: windowEnd(held),
    charges: held.charges.map((charge) => ({
      id: charge.id,
      status: charge.status,
      outcomeClass: charge.outcomeClass as OutcomeClass | null,
      nextLookupAt: charge.nextLookupAt?.getTime() ?? null,
    })),
    operations: held.operations.map((operation) => ({
      id: operation.id,
      status: operation.status,
      sent: operation.firstSentAt !== null,
      nextLookupAt: operation.nextLookupAt?.getTime() ?? null,
    })),
  };
}

function windowEnd(held: Pick<HeldPayment, 'intent' | 'charges'>): number | null {
  const last = held.charges.at(-1);
  if (!last) return null;
  if (held.intent.status === 'requires_capture') return last.createdAt.getTime() + captureWindowMs;
  if (last.status === 'pending' && last.outcomeClass === 'action_required') return last.createdAt.getTime() + challengeWindowMs;
  return null;
}

export function stepOf(held: HeldPayment): PaymentStep {
  return nextStep(stateOf(held), held.clock());
}

/** The longest that a lookup of a payment on a test clock waits for the one before. */
const longestPaceMs = 2_000;

/**
 * When somebody should look again at a payment that waits until `until`, by the wall clock. On a test clock lookups follow at once,
 * a little apart so that a provider can answer otherwise; only a customer's challenge takes its real time.
 */
export function lookAgainAt(held: Pick<HeldPayment, 'clock' | 'onClock' | 'intent' | 'charges' | 'operations'>, until: number): Date {
  if (!held.onClock) return new Date(until);
  const delay = Math.max(0, until - held.clock());
  if (held.intent.status === 'requires_action') return new Date(Date.now() + delay);
  const lookups = Math.max(0, ...[...held.charges, ...held.operations].filter(({ status }) => status === 'pending').map((each) => each.lookups));
  return new Date(Date.now() + Math.min(delay, longestPaceMs, 100 * 2 ** lookups));
}

export function partsOf(held: Pick<HeldPayment, 'charges' | 'refunds' | 'kinds'>): PaymentIntentParts {
  const last = held.charges.at(-1);
  return {
    chargeIds: held.charges.map((charge) => charge.id),
    refundIds: held.refunds.map((refund) => refund.id),
    processorKind: last ? (held.kinds.get(last.processorId) ?? null) : null,
    processorPaymentId: last?.processorPaymentId ?? null,
  };
}

export function resultOf(intent: PaymentIntentRow, charge: ChargeRow | undefined, rest: Pick<AdvanceResult, 'state' | 'nextAt'>): AdvanceResult {
  return {
    ...rest,
    status: intent.status,
    ...(intent.stoppedAt ? { stopped: true as const } : {}),
    outcomeClass: (charge?.outcomeClass as OutcomeClass | null) ?? undefined,
    declineCode: intent.declineCode as DeclineCode | 'no_processor_available' | null,
    chargeId: intent.lastChargeId,
    customerId: intent.customerId ?? undefined,
    invoiceId: intent.invoiceId,
    subscriptionId: intent.subscriptionId,
  };
}
