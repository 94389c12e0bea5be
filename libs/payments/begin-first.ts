import { isStale } from '../db/batch.js';
import { renderEvents } from '../db/event.writes.js';
import { unbegunPayment } from '../db/payment-context.queries.js';
import { writeFirstAttempt } from '../db/payment.batch.js';
import type { PaymentDriver } from '../domain/payment/payment-status.js';
import { appliedMove } from './applied-move.js';
import { attemptMove, begunWith, planAttempt, type AttemptPlan } from './begin-attempt.js';
import { stepOf, unbegun, type HeldPayment } from './held-payment.js';
import { changeOf } from './move-effects.js';
import { eventsOf } from './move-events.js';
import type { PaymentDeps } from './payment.deps.js';

export interface BegunPayment {
  /** Its attempt is pending and nothing was sent. */
  held: HeldPayment;
  plan: AttemptPlan;
}

/**
 * Takes the lease of a payment that nobody moved yet and begins its first attempt, in one read and one write.
 * @returns null, and nothing was written, where it is anything else, or no connection may be tried: whoever takes the lease first finds out.
 */
export async function beginFirst(
  deps: PaymentDeps,
  { intentId, driver, origin, clock }: Pick<HeldPayment, 'origin' | 'clock'> & { intentId: string; driver: PaymentDriver },
): Promise<BegunPayment | null> {
  const found = await unbegunPayment(deps.db, intentId, new Date(clock()));
  if (!found || !isUnbegun(found.intent)) return null;
  const { intent, context, footing } = found;
  const taken = { ...intent, leaseToken: intent.leaseToken + 1, ...(driver === 'workflow' ? { driver } : {}) };
  const fresh = unbegun(deps, taken, { origin, clock, footing });
  if (stepOf(fresh).kind !== 'begin_attempt') return null;
  const plan = await planAttempt(deps, fresh, context);
  if (plan.target === null) return null;
  const held = await write(deps, fresh, plan);
  return held && { held, plan };
}

/** An invoice's payment asks more: its subscription, a test clock. */
function isUnbegun({ attempts, invoiceId, leaseUntil, settled }: HeldPayment['intent']): boolean {
  return attempts === 0 && invoiceId === null && leaseUntil === null && !settled;
}

async function write(deps: PaymentDeps, fresh: HeldPayment, plan: AttemptPlan): Promise<HeldPayment | null> {
  const { environment, leases } = deps;
  const at = new Date(fresh.clock());
  const { move, options } = attemptMove(deps, fresh, plan);
  const after = appliedMove(fresh, move, at, options.processorKind);
  const { id: intentId, accountId, version, leaseToken, driver } = fresh.intent;
  const { subscribers } = fresh.footing!;
  const events = renderEvents(changeOf(environment, fresh), eventsOf(fresh, after, { move, environment }), fresh.footing!);
  fresh.lease.confirmedAt = performance.now();
  try {
    await writeFirstAttempt(deps.db, {
      intentId,
      owner: leases.owner,
      driver,
      leaseToken,
      known: { accountId, version, subscribers },
      intent: { lastChargeId: after.intent.lastChargeId, attempts: after.intent.attempts, updatedAt: at },
      charge: { row: after.charges[0]!, callLimitMs: options.callLimitMs, target: after.intent },
      events,
    });
  } catch (error) {
    if (isStale(error)) return null;
    throw error;
  }
  leases.keep(fresh.lease);
  return begunWith(plan, { ...after, footing: events.footing });
}
