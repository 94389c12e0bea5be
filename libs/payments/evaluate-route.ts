import { findPaymentMethod, mappingsOf } from '../db/payment-method.queries.js';
import { decideRoute, type Candidate, type RouteDecision, type RouteFacts } from '../domain/route/route.decision.js';
import type { RouteDocument } from '../domain/route/route.document.js';
import { invalidField } from '../errors/domain-error.js';
import type { MappingFields } from '../views/payment-method.view.js';
import type { PaymentDeps } from './payment.deps.js';

export interface Hypothesis {
  accountId: string;
  document: RouteDocument;
  /** Its mappings decide who is a candidate; without one every connection counts as knowing the method. */
  paymentMethodId: string | null;
  facts: RouteFacts;
}

/**
 * The decision for a hypothetical payment, over the account's connections as they are.
 * @throws DomainError 422 naming `payment_method_id` when the account has no such method.
 */
export async function evaluateRoute(deps: PaymentDeps, { accountId, document, paymentMethodId, facts }: Hypothesis): Promise<RouteDecision> {
  const connections = await deps.connections.ofAccount(accountId, '');
  const mappings = paymentMethodId ? await mappingsOfOwn(deps, accountId, paymentMethodId) : null;
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

async function mappingsOfOwn({ db }: PaymentDeps, accountId: string, id: string): Promise<MappingFields[]> {
  if (!(await findPaymentMethod(db, accountId, id))) throw invalidField('payment_method_id', 'No such payment method', 'unknown_reference');
  return (await mappingsOf(db, [id])).get(id) ?? [];
}
