import { routingContext, type RoutingContext } from '../db/payment-context.queries.js';
import { findPaymentMethod } from '../db/payment-method.queries.js';
import { nowOf } from '../db/test-clock.queries.js';
import { noDeclines } from '../domain/payment/scheme-limit.js';
import { decideRoute, type RouteDecision, type RouteFacts } from '../domain/route/route.decision.js';
import type { RouteDocument } from '../domain/route/route.document.js';
import { invalidField } from '../errors/domain-error.js';
import type { PaymentDeps } from './payment.deps.js';
import { candidatesOf } from './route-candidates.js';

export interface Hypothesis {
  accountId: string;
  document: RouteDocument;
  /** Its mappings and its refusals decide who is a candidate; without one every connection counts as knowing the method. */
  paymentMethodId: string | null;
  facts: RouteFacts;
}

/**
 * The decision for a hypothetical payment, over the account's connections as they are: stops, breakers and the card schemes'
 * limits count as for a real one, at the time of the customer's test clock. Changes nothing.
 * @throws DomainError 422 naming `payment_method_id` when the account has no such method.
 */
export async function evaluateRoute(deps: PaymentDeps, { accountId, document, paymentMethodId, facts }: Hypothesis): Promise<RouteDecision> {
  const method = paymentMethodId ? await findPaymentMethod(deps.db, accountId, paymentMethodId) : null;
  if (paymentMethodId && !method) throw invalidField('payment_method_id', 'No such payment method', 'unknown_reference');
  const now = method?.customerId && deps.environment === 'staging' ? await nowOf(deps.db, method.customerId) : new Date();
  const nobody = { customerId: null, paymentRouteId: null, invoiceId: null, paymentLinkId: null };
  const context = await routingContext(deps.db, { ...nobody, accountId, paymentMethodId }, now);
  const connections = await deps.connections.ofAccount(accountId, context.processorsStamp);
  const known: RoutingContext = paymentMethodId ? context : { ...context, mappings: [...connections.keys()].map(anyMapping) };
  const breakers = { standing: deps.breakers.look.bind(deps.breakers) };
  return decideRoute(document, facts, candidatesOf({ ...deps, breakers }, accountId, known, connections));
}

function anyMapping(processorId: string): RoutingContext['mappings'][number] {
  return { processor_id: processorId, their_payment_method_id: '', network_transaction_id: '', fingerprint: null, declines: noDeclines };
}
