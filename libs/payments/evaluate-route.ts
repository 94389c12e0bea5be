import { mappingsOf } from '../db/payment-method.queries.js';
import { decideRoute, type Candidate, type RouteDecision, type RouteFacts } from '../domain/route/route.decision.js';
import type { RouteDocument } from '../domain/route/route.document.js';
import type { PaymentDeps } from './payment.deps.js';

export interface Hypothesis {
  accountId: string;
  document: RouteDocument;
  /** Its mappings decide who is a candidate; without one every connection counts as knowing the method. */
  paymentMethodId: string | null;
  facts: RouteFacts;
}

/** The decision for a hypothetical payment, over the account's connections as they are. */
export async function evaluateRoute(deps: PaymentDeps, { accountId, document, paymentMethodId, facts }: Hypothesis): Promise<RouteDecision> {
  const connections = await deps.connections.ofAccount(accountId, '');
  const mappings = paymentMethodId ? ((await mappingsOf(deps.db, [paymentMethodId])).get(paymentMethodId) ?? []) : null;
  const candidates = new Map<string, Candidate>();
  for (const connection of connections.values()) {
    const mapping = mappings?.find((each) => each.processorId === connection.id);
    candidates.set(connection.publicId, {
      processorId: connection.publicId,
      enabled: connection.enabled,
      supported: deps.processors.supports(connection.kind),
      mapped: mappings === null || mapping !== undefined,
      storedCredential: mappings === null || mapping?.networkTransactionId != null,
    });
  }
  return decideRoute(document, facts, candidates);
}
