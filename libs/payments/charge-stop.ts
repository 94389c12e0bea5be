import type { RoutingContext } from '../db/payment-context.queries.js';
import type { RouteDecision } from '../domain/route/route.decision.js';
import { catalogue } from '../errors/catalogue.js';
import { refusal } from './charge-outcome.js';
import { ChargingStopped, commitMove } from './commit-move.js';
import type { HeldPayment } from './held-payment.js';
import type { PaymentDeps } from './payment.deps.js';

/**
 * The stops that keep a payment from being attempted: any over its account or prices, else those of its connections where
 * no other connection could take it. UUIDs; empty where it may begin.
 */
export function stopsAgainst({ stops }: Pick<RoutingContext, 'stops'>, decision: Pick<RouteDecision, 'order' | 'skipped'> | null): string[] {
  const overall = stops.filter((stop) => stop.scope !== 'processor');
  if (overall.length > 0) return overall.map((stop) => stop.id);
  const onlyStopped = decision?.order.length === 0 && decision.skipped.some((each) => each.reason === 'stopped');
  return onlyStopped ? stops.map((stop) => stop.id) : [];
}

/**
 * What happens to a payment that a stop keeps from its first attempt. The customer is there: refused with
 * `charging_stopped`, to be confirmed again. Nobody is there: it waits until the stops are lifted.
 */
export async function holdUp(deps: PaymentDeps, held: HeldPayment, why: { stops: string[]; decision: object | null }): Promise<HeldPayment> {
  const { intent } = held;
  if (intent.initiator === 'customer') {
    const refused = refusal(intent, 'refuse', 'charging_stopped');
    const told = { declineReason: catalogue.charging_stopped.title, decision: why.decision as Record<string, unknown> | null };
    const step = `confirmation:${intent.confirmation}:stopped`;
    return commitMove(deps, held, { ...refused, step, intent: { ...refused.intent, ...told }, events: { intent: 'payment_intent.failed' } });
  }
  const set = { stoppedAt: new Date(), stoppedBy: why.stops };
  const move = { step: `stopped:${intent.version}`, intent: set, waitsFor: why.stops, events: { intent: 'payment_intent.updated' } };
  return commitMove(deps, held, move).catch((error: unknown) => {
    if (error instanceof ChargingStopped) return held;
    throw error;
  });
}
