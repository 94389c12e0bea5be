import { transact } from '../db/change.js';
import { findCommand } from '../db/command.writes.js';
import { discardHiddenMethod, hidePaymentMethod, showPaymentMethod, type HiddenMethod, type ShownMethod } from '../db/payment-method.writes.js';
import { enabledProcessors } from '../db/processor.queries.js';
import type { Address } from '../db/schema/customer.table.js';
import type { Change } from '../domain/change/change.js';
import { DomainError, invalidField } from '../errors/domain-error.js';
import type { CardInput, CardDescription, TokeniseCall, TokeniseOutcome } from '../processors/port.js';
import { testCardOf } from '../processors/simulator/test-card.js';
import type { PaymentMethodView } from '../views/payment-method.view.js';
import { publicId } from '../views/ids.js';
import { openConnection, type OpenConnection } from './connection-cache.js';
import type { PaymentDeps } from './payment.deps.js';
import { requireKnownTrigger, simulateOf } from './simulate-trigger.js';
import { refusalOf, verifyMethod, type Verification } from './verify-method.js';

export type TokeniseDeps = Pick<PaymentDeps, 'db' | 'environment' | 'secrets' | 'processors'>;

export interface NewPaymentMethod {
  /** Minted by the caller (`caller.objectId()`), so that a retry of the same command goes on with the same method. */
  id: string;
  source: { card: CardInput } | { processorId: string; token: string };
  /** Attach to this customer in the same step. */
  attachTo?: string | null;
  displayName?: string | null;
  billingAddress?: Address | null;
  customFields?: Record<string, unknown> | null;
  metadata?: Record<string, unknown> | null;
}

/** Atoms that an authorisation without a charge asks for where the caller names none. */
export const defaultVerification = { amountAtom: 0, currency: 'usd' };

/**
 * Makes a payment method: a hidden row, the calls keyed by its id, then it is shown, or deleted when it was refused. Card
 * data goes to the processor and nowhere else. Run again with the same id and command it makes the same method.
 * @throws DomainError 422 `unknown_test_card` before anything is stored; 409 `conflict` without a connection; 402 with the
 * decline code; 503 `processor_unavailable` when no connection gave an answer.
 */
export async function tokenisePaymentMethod(deps: TokeniseDeps, change: Change, input: NewPaymentMethod): Promise<PaymentMethodView> {
  refuseForeignCard(deps, input);
  requireKnownTrigger(deps.processors, input.customFields);
  const done = await findCommand<PaymentMethodView>(deps.db, change.commandId, { objectId: input.id, step: 'show' });
  if (done) return done;
  const connections = await candidatesFor(deps, change, input);
  const hidden = hiddenOf(input);
  await transact(deps.db, change, (tx) => hidePaymentMethod(tx, change, hidden));
  const result = await tokeniseAtFirst(deps, connections, input);
  if (result.kind === 'refused') {
    await transact(deps.db, change, (tx) => discardHiddenMethod(tx, change, input.id));
    throw result.error;
  }
  const { card, theirPaymentMethodId, verification, connection } = result;
  const shown = {
    method: shownOf(hidden, card),
    credential: { theirPaymentMethodId, networkTransactionId: verification.networkTransactionId, fingerprint: card?.fingerprint ?? null },
    processorId: connection.kind === 'simulator' ? null : connection.id,
    attachTo: input.attachTo ?? null,
  };
  return transact(deps.db, change, (tx) => showPaymentMethod(tx, change, shown));
}

/** A number that is not a test card is refused before anything logs, stores or sends it. */
function refuseForeignCard({ processors }: TokeniseDeps, { source }: NewPaymentMethod): void {
  if (!('card' in source)) return;
  if (!processors.supports('simulator')) {
    throw invalidField('card', 'Card numbers are not accepted here; send processor_id and the token of the processor\'s own form', 'card_not_accepted');
  }
  if (testCardOf(source.card.number)) return;
  const loc = ['body', 'card', 'number'];
  throw new DomainError('unknown_test_card', undefined, { errors: [{ loc, msg: 'Not a test card of the simulator', type: 'unknown_test_card' }] });
}

async function candidatesFor(deps: TokeniseDeps, change: Change, { source }: NewPaymentMethod): Promise<OpenConnection[]> {
  const rows = await enabledProcessors(deps.db, change.accountId);
  const usable = rows.filter((row) => deps.processors.supports(row.kind));
  if ('token' in source) {
    const named = usable.find((row) => row.id === source.processorId && row.kind !== 'simulator');
    if (!named) throw invalidField('processor_id', 'No enabled connection that takes tokens has this id', 'unknown_reference');
    return [openConnection(named, deps)];
  }
  const simulators = usable.filter((row) => row.kind === 'simulator');
  if (simulators.length > 0) return simulators.map((row) => openConnection(row, deps));
  throw new DomainError('conflict', 'No enabled connection can authorise a card; create one by POST /payment-processors/.');
}

type Tokenised =
  | { kind: 'made'; connection: OpenConnection; theirPaymentMethodId: string; card: CardDescription | null; verification: Verification }
  | { kind: 'refused'; error: DomainError };

/** The first connection that answers decides: an issuer's refusal is not taken elsewhere, a silent connection is passed over. */
async function tokeniseAtFirst(deps: TokeniseDeps, connections: OpenConnection[], input: NewPaymentMethod): Promise<Tokenised> {
  const name = publicId('pm', deps.environment, input.id);
  for (const connection of connections) {
    const made = await deps.processors.processorFor(connection.kind).tokenise(connection, tokeniseCall(name, input));
    if (made.outcomeClass !== 'approved' || !made.theirPaymentMethodId) {
      const error = refusalOf(made) ?? refusedToken(input, made);
      if (error) return { kind: 'refused', error };
      continue;
    }
    const { theirPaymentMethodId, card } = made;
    const verification = await verifyMethod(deps, connection, {
      identity: `${name}_verify`, theirPaymentMethodId, simulate: simulateOf(input.customFields), ...defaultVerification,
    });
    if (verification.approved) return { kind: 'made', connection, theirPaymentMethodId, card: card ?? null, verification };
    if (verification.error) return { kind: 'refused', error: verification.error };
  }
  return { kind: 'refused', error: new DomainError('processor_unavailable') };
}

/** Only the caller can do something about a token that the processor does not take. */
function refusedToken({ source }: NewPaymentMethod, { outcomeClass, declineCode }: TokeniseOutcome): DomainError | null {
  const refused = 'token' in source && outcomeClass === 'processor_error' && declineCode === 'payment_method_unknown';
  return refused ? invalidField('token', 'The processor does not take this token', 'token_refused') : null;
}

function tokeniseCall(name: string, { source }: NewPaymentMethod): TokeniseCall {
  return {
    reference: `${name}_tokenise`,
    idempotencyKey: `${name}_tokenise`,
    source: 'card' in source ? { card: source.card } : { token: source.token },
  };
}

function hiddenOf(input: NewPaymentMethod): HiddenMethod {
  return {
    id: input.id,
    displayName: input.displayName ?? '',
    billingAddress: input.billingAddress ?? null,
    customFields: input.customFields ?? null,
    metadata: input.metadata ?? null,
  };
}

function shownOf(hidden: HiddenMethod, card: CardDescription | null): ShownMethod {
  return {
    ...hidden,
    displayName: hidden.displayName || (card ? `${brandNames[card.brand] ?? card.brand} ending in ${card.last4}` : 'Payment method'),
    provider: 'credit_card',
    cardBrand: card?.brand ?? null,
    cardFunding: card?.funding ?? null,
    cardCountry: card?.country ?? null,
    cardIin: card?.iin ?? null,
    lastFour: card?.last4 ?? null,
    expMonth: card?.expMonth ?? null,
    expYear: card?.expYear ?? null,
    fingerprint: card?.fingerprint ?? null,
  };
}

const brandNames: Record<string, string> = { visa: 'Visa', mastercard: 'Mastercard', amex: 'American Express' };
