import { stampSend } from '../db/payment.writes.js';
import type { ChargeOperationRow, ChargeRow } from '../db/schema/index.js';
import { resendDeadline } from '../domain/payment/payment.schedule.js';
import type { OperationOutcome, ProcessorAdapter } from '../processors/port.js';
import { keepEvidence, LeaseLost } from './commit-move.js';
import type { OpenConnection } from './connection-cache.js';
import { followUp } from './follow-up.js';
import type { HeldPayment } from './held-payment.js';
import { operationOutcomeMove } from './operation-outcome.js';
import type { PaymentDeps } from './payment.deps.js';
import { recordOutcome } from './record-outcome.js';
import { saysNothingOfOthers } from './send-charge.js';
import { inTurn } from './simulate-trigger.js';

/** Failed reads after which a strongly consistent "absent" means that the operation was never made. */
const readsUntilAbsent = 5;

/** Sends a capture, void or refund, or finds out what became of it. Its reference is its idempotency key. */
export async function runOperation(deps: PaymentDeps, held: HeldPayment, operation: ChargeOperationRow): Promise<HeldPayment> {
  const charge = held.charges.find((each) => each.id === operation.chargeId)!;
  const connection = await deps.connections.one(charge.accountId, charge.processorId);
  if (!connection || !deps.processors.supports(connection.kind)) {
    return recordOperation(deps, held, { operation, charge, outcome: { outcomeClass: 'unknown', rawMessage: 'The connection is not available.' } });
  }
  const adapter = deps.processors.processorFor(connection.kind);
  const { idempotencyWindowMs } = adapter.capabilities(connection);
  const performing = { adapter, connection, operation, charge };
  if (operation.firstSentAt === null) return send(deps, held, performing);
  // What was accepted and takes its time would be answered by the same key as it was then.
  const accepted = operation.processorOperationId !== null;
  const repeated = !accepted && held.clock() < resendDeadline(operation.firstSentAt.getTime(), idempotencyWindowMs);
  return followUp(deps, held, performing, () => (repeated ? send : lookUp)(deps, held, performing));
}

interface Performing {
  adapter: ProcessorAdapter;
  connection: OpenConnection;
  operation: ChargeOperationRow;
  charge: ChargeRow;
}

async function send(deps: PaymentDeps, held: HeldPayment, { adapter, connection, operation, charge }: Performing): Promise<HeldPayment> {
  const fence = { intentId: held.intent.id, token: held.lease.token };
  const limit = connection.deadlines.connectMs + connection.deadlines.totalMs;
  if (!(await stampSend(deps.db, fence, { operationId: operation.id }, limit))) throw new LeaseLost();
  if (!(await deps.leases.mayDial(held.lease))) throw new LeaseLost();
  const answer = await call(adapter, connection, { operation, charge, simulate: inTurn(held.intent.simulate, charge.confirmation) });
  const again = operation.firstSentAt !== null;
  const silent = again && (answer.outcomeClass === 'not_sent' || answer.outcomeClass === 'processor_error');
  return recordOperation(deps, held, { operation, charge, outcome: silent ? { ...answer, outcomeClass: 'unknown' } : answer });
}

type Called = Pick<Performing, 'operation' | 'charge'> & { simulate: string | Record<string, string> | null };

function call(adapter: ProcessorAdapter, connection: OpenConnection, { operation, charge, simulate }: Called): Promise<OperationOutcome> {
  const identity = { reference: operation.reference, idempotencyKey: operation.reference, simulate };
  const sum = { amountAtom: operation.amountAtom, currency: charge.currency };
  switch (operation.type) {
    case 'capture':
      return adapter.capture(connection, { ...identity, ...sum, processorPaymentId: charge.processorPaymentId! });
    case 'refund':
      return adapter.refund(connection, { ...identity, ...sum, processorPaymentId: charge.processorPaymentId! });
    case 'void':
      return adapter.void(connection, { ...identity, processorPaymentId: charge.processorPaymentId, paymentReference: charge.reference });
  }
}

async function lookUp(deps: PaymentDeps, held: HeldPayment, { adapter, connection, operation, charge }: Performing): Promise<HeldPayment> {
  const answer = await adapter.lookup(connection, {
    operation: operation.type,
    reference: operation.reference,
    processorPaymentId: charge.processorPaymentId,
    amountAtom: operation.type === 'void' ? null : operation.amountAtom,
    currency: charge.currency,
  });
  if (answer.found === 'yes') return recordOperation(deps, held, { operation, charge, outcome: answer.outcome });
  const { lookup, settleAfterMs } = adapter.capabilities(connection);
  const settled = held.onClock || (operation.callBy !== null && held.clock() >= operation.callBy.getTime() + settleAfterMs);
  const gone = answer.found === 'absent' && operation.processorOperationId === null && lookup === 'strong' && settled && operation.lookups >= readsUntilAbsent;
  const outcome: OperationOutcome = gone
    ? { outcomeClass: 'not_sent', declineCode: 'processing_error', rawMessage: 'The processor does not know the operation.' }
    : { outcomeClass: 'unknown' };
  return recordOperation(deps, held, { operation, charge, outcome });
}

interface Performed {
  operation: ChargeOperationRow;
  charge: ChargeRow;
  outcome: OperationOutcome;
}

export async function recordOperation(deps: PaymentDeps, held: HeldPayment, performed: Performed): Promise<HeldPayment> {
  try {
    return await recordOutcome(deps, held, (current) => {
      const operation = current.operations.find((each) => each.id === performed.operation.id)!;
      const charge = current.charges.find((each) => each.id === performed.charge.id)!;
      const move = operationOutcomeMove(current, { operation, charge, outcome: performed.outcome }, deps.environment);
      return move.operation ? { ...move, operation: { ...move.operation, set: { ...sentAt(current, operation), ...move.operation.set } } } : move;
    });
  } catch (error) {
    if (error instanceof LeaseLost && !saysNothingOfOthers(performed.outcome)) {
      await keepEvidence(deps, held, { chargeId: performed.charge.id, operationId: performed.operation.id, outcome: performed.outcome });
    }
    throw error;
  }
}

/** The row was stamped by the database; the copy in memory must know that it was sent. */
function sentAt(held: HeldPayment, operation: ChargeOperationRow): Partial<ChargeOperationRow> {
  return operation.firstSentAt ? {} : { firstSentAt: new Date(held.clock()) };
}
