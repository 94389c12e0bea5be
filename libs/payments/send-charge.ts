import type { ChargeRow } from '../db/schema/index.js';
import type { AuthorizeCall, PaymentOutcome } from '../processors/port.js';
import { chargeOutcomeMove } from './charge-outcome.js';
import { commitMove, keepEvidence, LeaseLost } from './commit-move.js';
import type { OpenConnection } from './connection-cache.js';
import type { HeldPayment } from './held-payment.js';
import type { PaymentDeps } from './payment.deps.js';

export function sealRequest(deps: PaymentDeps, chargeId: string, call: AuthorizeCall): string {
  return deps.secrets.seal(JSON.stringify(call), { table: 'charges', column: 'request_sealed', row: chargeId });
}

export function openRequest(deps: PaymentDeps, charge: ChargeRow): AuthorizeCall {
  return JSON.parse(deps.secrets.open(charge.requestSealed!, { table: 'charges', column: 'request_sealed', row: charge.id })) as AuthorizeCall;
}

interface Sending {
  charge: ChargeRow;
  connection: OpenConnection;
  call: AuthorizeCall;
  /** The same request was sent before. */
  again: boolean;
}

/** Calls the processor and writes what came back. Without the lease nothing leaves, and what came back becomes evidence. */
export async function sendCharge(deps: PaymentDeps, held: HeldPayment, { charge, connection, call, again }: Sending): Promise<HeldPayment> {
  if (!(await deps.leases.mayDial(held.lease))) throw new LeaseLost();
  const answer = await deps.processors.processorFor(connection.kind).authorize(connection, call);
  return recordCharge(deps, held, charge, again ? firstSendOnly(answer) : answer);
}

/** That a repetition was not sent or refused as a request says nothing about the first one. */
function firstSendOnly(answer: PaymentOutcome): PaymentOutcome {
  const silent = answer.outcomeClass === 'not_sent' || answer.outcomeClass === 'processor_error';
  return silent ? { outcomeClass: 'unknown', rawCode: answer.rawCode, rawMessage: answer.rawMessage } : answer;
}

export async function recordCharge(deps: PaymentDeps, held: HeldPayment, charge: ChargeRow, outcome: PaymentOutcome): Promise<HeldPayment> {
  try {
    return await commitMove(deps, held, chargeOutcomeMove(held, charge, outcome, deps.environment));
  } catch (error) {
    if (error instanceof LeaseLost) await keepEvidence(deps, held, { chargeId: charge.id, operationId: null, outcome });
    throw error;
  }
}
