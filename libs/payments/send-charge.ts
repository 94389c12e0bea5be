import type { ChargeRow } from '../db/schema/index.js';
import type { AttemptOutcome } from '../domain/payment/outcome.js';
import type { AuthorizeCall, PaymentOutcome } from '../processors/port.js';
import { chargeOutcomeMove } from './charge-outcome.js';
import { keepEvidence, LeaseLost } from './commit-move.js';
import type { OpenConnection } from './connection-cache.js';
import type { HeldPayment } from './held-payment.js';
import type { PaymentDeps } from './payment.deps.js';
import { neverConfirmed, prepareCharge } from './prepare-charge.js';
import { recordOutcome } from './record-outcome.js';

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
  const adapter = deps.processors.processorFor(connection.kind);
  if (neverConfirmed(adapter, charge)) {
    const prepared = await prepareCharge(deps, held, { charge, connection, call });
    if (prepared.ended) return prepared.held;
    return sendCharge(deps, prepared.held, { charge: prepared.charge, connection, call, again: false });
  }
  if (!(await deps.leases.mayDial(held.lease))) throw new LeaseLost();
  const request = adapter.prepare ? { ...call, processorPaymentId: charge.processorPaymentId } : call;
  const answer = await deps.breakers.watch(charge.accountId, connection, () => adapter.authorize(connection, request));
  return recordCharge(deps, held, charge, again && saysNothingOfOthers(answer) ? { ...answer, outcomeClass: 'unknown', declineCode: null } : answer);
}

/** That one request was not sent, or was refused as a request, says nothing about an identical one. */
export function saysNothingOfOthers({ outcomeClass }: AttemptOutcome): boolean {
  return outcomeClass === 'not_sent' || outcomeClass === 'processor_error' || outcomeClass === 'unknown';
}

export async function recordCharge(deps: PaymentDeps, held: HeldPayment, charge: ChargeRow, outcome: PaymentOutcome): Promise<HeldPayment> {
  try {
    return await recordOutcome(deps, held, (current) => {
      const row = current.charges.find((each) => each.id === charge.id)!;
      return chargeOutcomeMove(current, row, outcome, deps.environment);
    });
  } catch (error) {
    const evidence = error instanceof LeaseLost && !saysNothingOfOthers(outcome);
    if (evidence) await keepEvidence(deps, held, { chargeId: charge.id, operationId: null, outcome });
    throw error;
  }
}
