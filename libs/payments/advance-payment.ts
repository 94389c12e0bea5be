import { latestCharge } from '../db/payment.queries.js';
import { releaseLease, takeLease } from '../db/payment-lease.writes.js';
import type { ChargeRow, PaymentIntentRow } from '../db/schema/index.js';
import type { AdvanceResult } from '../domain/payment/advance-result.js';
import type { PaymentDriver } from '../domain/payment/payment-status.js';
import type { PaymentStep } from '../domain/payment/payment.steps.js';
import type { OperationOutcome, PaymentOutcome } from '../processors/port.js';
import { beginAttempt } from './begin-attempt.js';
import { beginFirst } from './begin-first.js';
import { nextCallback } from './callback-move.js';
import { chargeOutcomeMove } from './charge-outcome.js';
import { commitMove, LeaseLost, PaymentChanged } from './commit-move.js';
import { lookAgainAt, resultOf, stepOf, type HeldPayment, type PaymentOrigin } from './held-payment.js';
import { loadPayment, reloadPayment } from './load-payment.js';
import { onTestClock, testClockTime } from './test-clock-time.js';
import { newOperation } from './new-operation.js';
import { operationOutcomeMove } from './operation-outcome.js';
import type { PaymentDeps } from './payment.deps.js';
import { resolveCharge } from './resolve-charge.js';
import { runOperation } from './run-operation.js';
import { sendCharge } from './send-charge.js';

export type { AdvanceResult } from '../domain/payment/advance-result.js';
export type { PaymentOrigin } from './held-payment.js';

export interface AdvanceInput {
  /** UUID of the intent. */
  intentId: string;
  driver: PaymentDriver;
  /** RFC 3339; the workflow's time (the test clock's, where there is one). Default: now. */
  now?: string;
  /** Whose request this is, for the events. Default: the system's own. */
  origin?: PaymentOrigin;
  /** Probably nobody moved it yet: a guess, it may be wrong. */
  first?: boolean;
}

const system: PaymentOrigin = { actor: 'system', requestId: null, idempotencyKey: null, clockTime: null };
const busyRetryMs = 500;

/**
 * The only code that moves a payment: takes its lease and goes on until nothing can be done without waiting.
 * Safe to call twice, at once and after a crash at any point. A decline is a result, never an error; throws only when
 * the database cannot be reached or the intent does not exist.
 */
export async function advancePayment(deps: PaymentDeps, input: AdvanceInput): Promise<AdvanceResult> {
  const origin = input.origin ?? system;
  const clock = clockFrom(input.now);
  const begun = input.first ? await beginFirst(deps, { ...input, origin, clock }) : null;
  if (begun) {
    const { held, plan } = begun;
    return underLease(deps, held, () => sendCharge(deps, held, { charge: held.charges[0]!, connection: plan.target, call: plan.call, again: false }));
  }
  const askedAt = performance.now();
  const taken = await takeLease(deps.db, input.intentId, { owner: deps.leases.owner, driver: input.driver });
  if (!taken.taken) return notHeld(deps, taken.intent, { id: input.intentId, retryInMs: taken.retryInMs });
  const { intent } = taken;
  const lease = deps.leases.hold(intent.id, intent.leaseToken, askedAt);
  return underLease(deps, { lease, intent, clock }, async () => {
    const time = await testClockTime(deps, intent);
    return loadPayment(deps, intent, time ? onTestClock(lease, time, origin) : { lease, clock, origin });
  });
}

/** Moves on from what `start` comes to, and holds the lease no longer than that. */
async function underLease(
  deps: PaymentDeps,
  { lease, intent, clock }: Pick<HeldPayment, 'lease' | 'intent' | 'clock'>,
  start: () => Promise<HeldPayment>,
): Promise<AdvanceResult> {
  try {
    return (await drive(deps, await start())).result;
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    deps.warn('payment lease lost', { payment_intent: intent.id });
    return { state: 'busy', status: intent.status, nextAt: new Date(clock() + busyRetryMs).toISOString() };
  } finally {
    deps.leases.drop(lease);
  }
}

function clockFrom(now: string | undefined): () => number {
  if (!now) return Date.now;
  const base = Date.parse(now);
  const started = performance.now();
  return () => Math.floor(base + performance.now() - started);
}

async function notHeld(deps: PaymentDeps, intent: PaymentIntentRow | null, at: { id: string; retryInMs: number }): Promise<AdvanceResult> {
  if (!intent) throw new Error(`payment intent ${at.id} does not exist`);
  const charge = intent.lastChargeId ? await latestCharge(deps.db, intent.lastChargeId) : undefined;
  if (intent.settled) return resultOf(intent, charge, { state: 'final', nextAt: null });
  const nextAt = new Date(Date.now() + Math.max(at.retryInMs, busyRetryMs)).toISOString();
  return resultOf(intent, charge, { state: 'busy', nextAt });
}

/** Moves on until a step can only wait, then gives the lease back; a wake or a change meanwhile means: read again. */
export async function drive(deps: PaymentDeps, start: HeldPayment): Promise<{ result: AdvanceResult; held: HeldPayment }> {
  let held = start;
  for (;;) {
    const step = stepOf(held);
    const next = nextMove(deps, held, step);
    if (!next) {
      const rest = { settled: step.kind === 'done', nextActionAt: step.kind === 'wait' && step.until !== null ? lookAgainAt(held, step.until) : null };
      if (held.released || (await release(deps, held, rest))) {
        const nextAt = rest.nextActionAt?.toISOString() ?? null;
        return { held, result: resultOf(held.intent, lastCharge(held), { state: rest.settled ? 'final' : 'waiting', nextAt }) };
      }
      held = await reloadPayment(deps, held);
    } else {
      held = await next().catch((error: unknown) => {
        if (error instanceof PaymentChanged) return reloadPayment(deps, held);
        throw error;
      });
    }
  }
}

/** What was found beside the lease comes first, then the payment's own next step; null: it can only wait. */
function nextMove(deps: PaymentDeps, held: HeldPayment, step: PaymentStep): (() => Promise<HeldPayment>) | null {
  const evidence = held.evidence[0];
  if (evidence) return () => applyEvidence(deps, held, evidence);
  const callback = nextCallback(held, deps.environment);
  if (callback) return () => commitMove(deps, held, callback.move);
  return step.kind === 'done' || step.kind === 'wait' ? null : () => perform(deps, held, step);
}

function perform(deps: PaymentDeps, held: HeldPayment, step: Exclude<PaymentStep, { kind: 'done' | 'wait' }>): Promise<HeldPayment> {
  switch (step.kind) {
    case 'begin_attempt':
      return beginAttempt(deps, held);
    case 'resolve_charge':
      return resolveCharge(deps, held, held.charges.find((charge) => charge.id === step.chargeId)!);
    case 'run_operation':
      return runOperation(deps, held, held.operations.find((operation) => operation.id === step.operationId)!);
    case 'end_window':
      return endWindow(deps, held);
  }
}

/** An uncaptured authorisation or an unanswered challenge is cancelled at its processor. */
function endWindow(deps: PaymentDeps, held: HeldPayment): Promise<HeldPayment> {
  const charge = lastCharge(held)!;
  return commitMove(deps, held, {
    step: `window:${charge.attemptNumber}`,
    newOperation: newOperation(held, charge, { type: 'void', purpose: 'expire', amountAtom: charge.amountAtom }),
    events: {},
  });
}

async function applyEvidence(deps: PaymentDeps, held: HeldPayment, evidence: HeldPayment['evidence'][number]): Promise<HeldPayment> {
  const charge = held.charges.find((each) => each.id === evidence.chargeId);
  const operation = held.operations.find((each) => each.id === evidence.operationId);
  const move =
    charge && operation
      ? operationOutcomeMove(held, { operation, charge, outcome: evidence.outcome as unknown as OperationOutcome }, deps.environment)
      : charge
        ? chargeOutcomeMove(held, charge, evidence.outcome as unknown as PaymentOutcome, deps.environment)
        : { step: `evidence:${evidence.id}`, events: {} };
  return commitMove(deps, held, { ...move, appliedEvidence: [evidence.id] });
}

function release(deps: PaymentDeps, held: HeldPayment, rest: { settled: boolean; nextActionAt: Date | null }): Promise<boolean> {
  const lease = { intentId: held.intent.id, token: held.lease.token };
  return releaseLease(deps.db, lease, { ...rest, seenWake: held.intent.wakeSeq });
}

function lastCharge(held: HeldPayment): ChargeRow | undefined {
  return held.charges.at(-1);
}
