import type { RoutingContext } from '../db/payment-context.queries.js';
import type { PaymentIntentRow } from '../db/schema/index.js';
import { schemeBlock } from '../domain/payment/scheme-limit.js';
import type { Candidate, RouteFacts } from '../domain/route/route.decision.js';
import { publicId } from '../views/ids.js';
import type { OpenConnection } from './connection-cache.js';
import type { PaymentDeps } from './payment.deps.js';

/** What the route's conditions ask about. */
export function factsOf(deps: Pick<PaymentDeps, 'environment'>, intent: PaymentIntentRow, context: RoutingContext): RouteFacts {
  const { method } = context;
  return {
    payment_id: intent.id,
    amount_atom: intent.amountAtom,
    currency: intent.currency,
    payment_method_kind: method?.provider ?? null,
    card_brand: method?.card_brand ?? null,
    funding: method?.card_funding ?? null,
    bin: method?.card_iin ?? null,
    issuer_country: method?.card_country ?? null,
    billing_country: method?.billing_country ?? context.customerCountry,
    initiator: intent.initiator,
    subscription_payment: intent.subscriptionPayment,
    customer_id: intent.customerId ? publicId('cus', deps.environment, intent.customerId) : null,
    metadata: intent.metadata,
    custom_fields: intent.customFields,
  };
}

/** Every connection of the account as this payment sees it, by public id. */
export function candidatesOf(
  deps: Pick<PaymentDeps, 'processors'> & { breakers: Pick<PaymentDeps['breakers'], 'standing'> },
  accountId: string,
  context: RoutingContext,
  connections: ReadonlyMap<string, OpenConnection>,
): Map<string, Candidate> {
  const candidates = new Map<string, Candidate>();
  const brand = context.method?.card_brand ?? null;
  const anywhere = schemeBlock(brand, context.declines);
  for (const connection of connections.values()) {
    const mapping = context.mappings.find((each) => each.processor_id === connection.id);
    candidates.set(connection.publicId, {
      processorId: connection.publicId,
      enabled: connection.enabled,
      supported: deps.processors.supports(connection.kind),
      mapped: mapping !== undefined,
      storedCredential: mapping?.network_transaction_id != null,
      breaker: connection.enabled ? deps.breakers.standing(accountId, connection) : null,
      schemeBlock: anywhere ?? (mapping ? schemeBlock(brand, mapping.declines) : null),
      stopped: context.stops.some((stop) => stop.scope === 'processor' && stop.object_id === connection.id),
    });
  }
  return candidates;
}
