import { stampSend } from '../db/payment.writes.js';
import type { ChargeRow } from '../db/schema/index.js';
import type { AuthorizeCall, PaymentOutcome, PrepareOutcome, ProcessorAdapter } from '../processors/port.js';
import { chargeOutcomeMove } from './charge-outcome.js';
import { commitMove, LeaseLost } from './commit-move.js';
import type { OpenConnection } from './connection-cache.js';
import type { HeldPayment } from './held-payment.js';
import type { PaymentDeps } from './payment.deps.js';

interface Preparing {
  charge: ChargeRow;
  connection: OpenConnection;
  call: AuthorizeCall;
}

/** `ended`: nothing was made that could be confirmed, and the attempt has its outcome. */
type Prepared = { ended: false; held: HeldPayment; charge: ChargeRow } | { ended: true; held: HeldPayment };

/**
 * At a processor without lookup by reference the payment is made first, without taking money, and its id is committed
 * before it is confirmed. Only the lease's holder can commit it, so a charge without an id was never confirmed by anybody.
 */
export function neverConfirmed(adapter: ProcessorAdapter, charge: ChargeRow): boolean {
  return adapter.prepare !== undefined && charge.processorPaymentId === null;
}

export async function prepareCharge(deps: PaymentDeps, held: HeldPayment, { charge, connection, call }: Preparing): Promise<Prepared> {
  if (!(await deps.leases.mayDial(held.lease))) throw new LeaseLost();
  const adapter = deps.processors.processorFor(connection.kind);
  const answer = await deps.breakers.watch(charge.accountId, connection, () => adapter.prepare!(connection, call));
  const id = answer.outcomeClass === 'approved' ? answer.processorPaymentId : null;
  if (!id) return { ended: true, held: await endUnconfirmed(deps, held, charge, answer) };
  const set = { processorPaymentId: id, nextLookupAt: new Date(held.clock()) };
  const after = await commitMove(deps, held, { step: `attempt:${charge.attemptNumber}:prepared`, charge: { id: charge.id, set }, events: {} });
  const fence = { intentId: held.intent.id, token: held.lease.token };
  const limit = connection.deadlines.connectMs + connection.deadlines.totalMs;
  if (!(await stampSend(deps.db, fence, { chargeId: charge.id }, limit))) throw new LeaseLost();
  return { ended: false, held: after, charge: after.charges.find((each) => each.id === charge.id)! };
}

/**
 * Writes that the attempt took nothing. A holder that has lost the lease writes nothing at all: the next one may have
 * confirmed the payment meanwhile, and what was known before that would be false.
 */
export function endUnconfirmed(deps: PaymentDeps, held: HeldPayment, charge: ChargeRow, answer: PrepareOutcome): Promise<HeldPayment> {
  return commitMove(deps, held, chargeOutcomeMove(held, charge, unconfirmed(answer), deps.environment));
}

/** Whatever became of a payment that nobody confirmed, it took no money; a refusal keeps its reason. */
function unconfirmed(answer: PrepareOutcome): PaymentOutcome {
  const { outcomeClass, rawCode, rawMessage } = answer;
  if (outcomeClass !== 'unknown' && outcomeClass !== 'approved' && outcomeClass !== 'pending') return answer;
  return { outcomeClass: 'not_sent', declineCode: 'connection_failed', rawCode, rawMessage: `Nothing was confirmed: ${rawMessage ?? 'no answer'}` };
}
