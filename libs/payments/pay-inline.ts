import { isStale } from '../db/batch.js';
import { renderEvents } from '../db/event.writes.js';
import type { RoutingContext } from '../db/payment-context.queries.js';
import { writeNewPayment } from '../db/payment.batch.js';
import type { PaymentIntentRow } from '../db/schema/index.js';
import type { Change } from '../domain/change/change.js';
import type { AdvanceResult } from '../domain/payment/advance-result.js';
import { drive } from './advance-payment.js';
import { attemptMove, begunWith, planAttempt, type AttemptPlan } from './begin-attempt.js';
import { LeaseLost } from './commit-move.js';
import { intentCreated, intentRow, type NewIntent } from './create-intent.js';
import { originOf, unbegun, type HeldPayment } from './held-payment.js';
import { appliedMove } from './applied-move.js';
import { changeOf } from './move-effects.js';
import { eventsOf } from './move-events.js';
import { withSubscribers } from './known-subscribers.js';
import type { PaymentDeps } from './payment.deps.js';
import { sendCharge } from './send-charge.js';

/** A payment as its holder left it: no need to read it again. */
export type StandingPayment = Pick<HeldPayment, 'intent' | 'charges' | 'refunds' | 'kinds'>;

export interface InlinePayment {
  intent: PaymentIntentRow;
  /** Settles when the first step has ended, however long the processor takes; null: the lease was lost, somebody else goes on. */
  advanced: Promise<{ result: AdvanceResult; standing: StandingPayment } | null>;
}

/**
 * Creates and confirms a payment and runs its first step in this process: the row begins with its lease and its first attempt, in
 * one transaction, before anything is sent. `context`: what routing asks about it, read just now. A process that dies leaves a payment that the sweeper gives to a workflow.
 * @returns null, and nothing was written, where it cannot be done at once (no candidate, the command ran before, an endpoint was
 * added meanwhile): create the intent and advance it instead.
 */
export async function payInline(deps: PaymentDeps, change: Change, input: NewIntent, context: RoutingContext): Promise<InlinePayment | null> {
  const intent = intentRow(change, { ...input, execution: 'inline', driver: 'api' });
  const fresh = unbegun(deps, { ...intent, leaseToken: 1 }, { origin: originOf(change), clock: Date.now, footing: null });
  const plan = await planAttempt(deps, fresh, context);
  if (plan.target === null) return null;
  const begun = await begin(deps, change, fresh, plan);
  return begun && { intent: begun.intent, advanced: goOn(deps, begun, plan) };
}

async function begin(deps: PaymentDeps, change: Change, fresh: HeldPayment, plan: AttemptPlan): Promise<HeldPayment | null> {
  const { move, options } = attemptMove(deps, fresh, plan);
  const after = appliedMove(fresh, move, fresh.intent.createdAt, options.processorKind);
  const { owner } = deps.leases;
  const charge = { row: after.charges[0]!, callLimitMs: options.callLimitMs, target: after.intent };
  const write = async (subscribers: string): Promise<HeldPayment> => {
    const created = renderEvents(change, [intentCreated(change, fresh.intent)], { sequences: new Map(), subscribers });
    const attempted = renderEvents(changeOf(deps.environment, fresh), eventsOf(fresh, after, { move, environment: deps.environment }), created.footing);
    const events = {
      events: [...created.events, ...attempted.events],
      deliveries: [...created.deliveries, ...attempted.deliveries],
      footing: attempted.footing,
    };
    fresh.lease.confirmedAt = performance.now();
    await writeNewPayment(deps.db, change, { owner, subscribers, intent: after.intent, charge, events });
    return begunWith(plan, { ...after, footing: events.footing });
  };
  try {
    const begun = await withSubscribers(deps.db, change.accountId, write);
    deps.leases.keep(fresh.lease);
    return begun;
  } catch (error) {
    if (isStale(error)) return null;
    throw error;
  }
}

async function goOn(deps: PaymentDeps, begun: HeldPayment, { target, call }: AttemptPlan): ReturnType<typeof settled> {
  try {
    return await settled(deps, await sendCharge(deps, begun, { charge: begun.charges[0]!, connection: target, call, again: false }));
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    deps.warn('payment lease lost', { payment_intent: begun.intent.id });
    return null;
  } finally {
    deps.leases.drop(begun.lease);
  }
}

async function settled(deps: PaymentDeps, held: HeldPayment): Promise<{ result: AdvanceResult; standing: StandingPayment } | null> {
  const { result, held: standing } = await drive(deps, held);
  return { result, standing };
}
