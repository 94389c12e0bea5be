import { transact } from '../db/change.js';
import { noteAuthorisation } from '../db/payment-method.writes.js';
import { findPaymentMethod, mappingsOf } from '../db/payment-method.queries.js';
import { enabledProcessors } from '../db/processor.queries.js';
import type { Change } from '../domain/change/change.js';
import type { AttemptOutcome } from '../domain/payment/outcome.js';
import { declines } from '../errors/catalogue.js';
import { DomainError, invalidField } from '../errors/domain-error.js';
import type { VerifyCall } from '../processors/port.js';
import type { PaymentMethodView } from '../views/payment-method.view.js';
import { openConnection, type OpenConnection } from './connection-cache.js';
import type { PaymentDeps } from './payment.deps.js';
import { simulateOf } from './simulate-trigger.js';

export type VerifyDeps = Pick<PaymentDeps, 'db' | 'environment' | 'secrets' | 'processors'>;

export interface VerifyAsked {
  /** Names the authorisation at the processor, once and for all. */
  identity: string;
  theirPaymentMethodId: string;
  amountAtom: number;
  currency: string;
  simulate?: VerifyCall['simulate'];
}

export interface Verification {
  approved: boolean;
  networkTransactionId: string | null;
  /** Why the method was refused; null also where the connection gave no answer about it: ask another one. */
  error: DomainError | null;
}

/** Authorises at one connection. */
export async function verifyMethod(deps: Pick<PaymentDeps, 'processors'>, connection: OpenConnection, asked: VerifyAsked): Promise<Verification> {
  const { identity, ...call } = asked;
  const outcome = await deps.processors.processorFor(connection.kind).verify(connection, { ...call, reference: identity, idempotencyKey: identity });
  if (outcome.outcomeClass === 'approved') return { approved: true, networkTransactionId: outcome.networkTransactionId ?? null, error: null };
  return { approved: false, networkTransactionId: null, error: refusalOf(outcome) };
}

/** What the issuer or the provider's fraud engine refused, as 402; null where nobody judged the method. */
export function refusalOf(outcome: AttemptOutcome): DomainError | null {
  switch (outcome.outcomeClass) {
    case 'soft_decline':
    case 'insufficient_funds':
    case 'hard_decline':
    case 'authentication_required':
    case 'risk_refused': {
      const code = outcome.declineCode ?? 'generic_decline';
      return new DomainError(code, declines[code].explanation);
    }
    case 'action_required':
      return new DomainError('authentication_required');
    default:
      return null;
  }
}

export interface AuthoriseAgain {
  id: string;
  amountAtom: number;
  currency: string;
}

/**
 * Authorises a method again at the first enabled connection that knows it and answers; its state stays.
 * @throws DomainError 422 when there is no such method; 409 when it is detached or no connection knows it; 402 with the decline code; 503
 * `processor_unavailable`.
 */
export async function authorisePaymentMethod(deps: VerifyDeps, change: Change, { id, amountAtom, currency }: AuthoriseAgain): Promise<PaymentMethodView> {
  const row = await findPaymentMethod(deps.db, change.accountId, id);
  if (!row) throw invalidField('payment_method_id', 'No such payment method', 'unknown_reference');
  if (row.status === 'detached') throw new DomainError('invalid_state_transition', 'A payment method that is detached cannot be authorised.');
  const mappings = (await mappingsOf(deps.db, [id])).get(id)!;
  const connections = (await enabledProcessors(deps.db, change.accountId)).filter((connection) => deps.processors.supports(connection.kind));
  const known = connections.flatMap((connection) => {
    const mapping = mappings.find((entry) => entry.processorId === connection.id);
    return mapping ? [{ connection, mapping }] : [];
  });
  if (known.length === 0) throw new DomainError('conflict', 'No enabled connection knows this payment method.');
  for (const { connection, mapping } of known) {
    const { theirPaymentMethodId } = mapping;
    const asked = { identity: `${change.commandId}_verify`, theirPaymentMethodId, amountAtom, currency, simulate: simulateOf(row.customFields) };
    const { approved, networkTransactionId, error } = await verifyMethod(deps, openConnection(connection, deps), asked);
    if (approved) return transact(deps.db, change, (tx) => noteAuthorisation(tx, change, { id, processorId: connection.id, networkTransactionId }));
    if (error) throw error;
  }
  throw new DomainError('processor_unavailable');
}
