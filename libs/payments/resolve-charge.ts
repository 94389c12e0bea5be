import { closeForSending, stampSend } from '../db/payment.writes.js';
import type { ChargeRow } from '../db/schema/index.js';
import { resendDeadline, resendLimit } from '../domain/payment/payment.schedule.js';
import type { PaymentOutcome, ProcessorCapabilities } from '../processors/port.js';
import { chargeOutcomeMove } from './charge-outcome.js';
import { commitMove, LeaseLost } from './commit-move.js';
import type { OpenConnection } from './connection-cache.js';
import { followUp } from './follow-up.js';
import type { HeldPayment } from './held-payment.js';
import type { PaymentDeps } from './payment.deps.js';
import { endUnconfirmed, neverConfirmed } from './prepare-charge.js';
import { openRequest, recordCharge, sendCharge } from './send-charge.js';

const unknown: PaymentOutcome = { outcomeClass: 'unknown', rawMessage: 'The attempt was found without an outcome.' };

/**
 * Finds out what became of an attempt: first by the identical request with the same key, where the provider promises to
 * repeat its first answer; then, closed for sending, by reads.
 */
export async function resolveCharge(deps: PaymentDeps, held: HeldPayment, charge: ChargeRow): Promise<HeldPayment> {
  const connection = await deps.connections.one(charge.accountId, charge.processorId);
  if (!connection || !deps.processors.supports(connection.kind)) return recordCharge(deps, held, charge, unknown);
  const adapter = deps.processors.processorFor(connection.kind);
  const capabilities = adapter.capabilities(connection);
  const unanswered = charge.outcomeClass === null || charge.outcomeClass === 'unknown';
  const repeated = unanswered && mayRepeat(held, charge, capabilities);
  if (!repeated && unanswered && neverConfirmed(adapter, charge)) return endUnconfirmed(deps, held, charge, unknown);
  if (!repeated && charge.outcomeClass === null) return recordCharge(deps, held, charge, unknown);
  return followUp(deps, held, { connection, charge }, () =>
    repeated ? repeat(deps, held, charge, connection) : read(deps, held, { charge, connection, capabilities }));
}

function mayRepeat(held: HeldPayment, charge: ChargeRow, { idempotencyWindowMs }: ProcessorCapabilities): boolean {
  if (charge.sendingClosedAt || charge.lookups >= resendLimit || !charge.requestSealed) return false;
  return held.clock() < resendDeadline(charge.createdAt.getTime(), idempotencyWindowMs);
}

async function repeat(deps: PaymentDeps, held: HeldPayment, charge: ChargeRow, connection: OpenConnection): Promise<HeldPayment> {
  const fence = { intentId: held.intent.id, token: held.lease.token };
  const limit = connection.deadlines.connectMs + connection.deadlines.totalMs;
  if (!(await stampSend(deps.db, fence, { chargeId: charge.id }, limit))) throw new LeaseLost();
  return sendCharge(deps, held, { charge, connection, call: openRequest(deps, charge), again: true });
}

interface Reading {
  charge: ChargeRow;
  connection: OpenConnection;
  capabilities: ProcessorCapabilities;
}

async function read(deps: PaymentDeps, held: HeldPayment, { charge, connection, capabilities }: Reading): Promise<HeldPayment> {
  let current = charge;
  if (charge.outcomeClass === 'unknown' && !charge.sendingClosedAt) {
    const at = new Date(held.clock());
    const fence = { intentId: held.intent.id, token: held.lease.token };
    if (!(await closeForSending(deps.db, fence, charge.id, at))) throw new LeaseLost();
    current = { ...charge, sendingClosedAt: at };
  }
  const answer = await deps.processors.processorFor(connection.kind).lookup(connection, {
    operation: 'authorize',
    reference: charge.reference,
    processorPaymentId: charge.processorPaymentId,
    amountAtom: charge.amountAtom,
    currency: charge.currency,
  });
  if (answer.found === 'yes' && answer.totals.voided) {
    return recordCharge(deps, held, current, { ...answer.outcome, outcomeClass: 'processor_error', rawMessage: 'Voided at the processor.' });
  }
  if (answer.found === 'yes') return recordCharge(deps, held, current, answer.outcome);
  if (answer.found === 'absent') return absent(deps, held, { charge: current, connection, capabilities });
  return recordCharge(deps, held, current, { ...answer.outcome, outcomeClass: current.outcomeClass as PaymentOutcome['outcomeClass'] });
}

/**
 * Absent for certain: closed for sending, `settle_after` past the last send, and a confirmed cancel, or two strongly
 * consistent reads `settle_after` apart that did not find it. Anything less stays unknown. A test clock does not wait for what real
 * time may still bring: there the processor closes the reference, and what arrives later is refused.
 */
async function absent(deps: PaymentDeps, held: HeldPayment, { charge, connection, capabilities }: Reading): Promise<HeldPayment> {
  const now = held.clock();
  const settled = held.onClock || now >= charge.callBy.getTime() + capabilities.settleAfterMs;
  if (charge.outcomeClass !== 'unknown' || capabilities.lookup !== 'strong' || !settled) {
    return recordCharge(deps, held, charge, { outcomeClass: (charge.outcomeClass ?? 'unknown') as PaymentOutcome['outcomeClass'] });
  }
  const isPrepared = charge.processorPaymentId && deps.processors.processorFor(connection.kind).prepare;
  if (isPrepared || held.onClock) return closeAtProcessor(deps, held, charge, connection);
  if (charge.absentAt && now >= charge.absentAt.getTime() + capabilities.settleAfterMs) {
    return recordCharge(deps, held, charge, {
      outcomeClass: 'not_sent',
      declineCode: 'processing_error',
      rawMessage: 'The processor does not know the attempt.',
    });
  }
  const move = chargeOutcomeMove(held, charge, { outcomeClass: 'unknown' }, deps.environment);
  const secondRead = new Date((charge.absentAt?.getTime() ?? now) + capabilities.settleAfterMs);
  const planned = move.charge?.set.nextLookupAt;
  return commitMove(deps, held, {
    ...move,
    charge: {
      id: charge.id,
      set: { ...move.charge?.set, absentAt: charge.absentAt ?? new Date(now), nextLookupAt: planned && planned < secondRead ? planned : secondRead },
    },
  });
}

/** Nothing was taken: once its processor has cancelled what was made unconfirmed, or its reference, nothing ever can be. */
async function closeAtProcessor(deps: PaymentDeps, held: HeldPayment, charge: ChargeRow, connection: OpenConnection): Promise<HeldPayment> {
  if (!(await deps.leases.mayDial(held.lease))) throw new LeaseLost();
  const reference = `${charge.reference}-close`;
  const answer = await deps.processors.processorFor(connection.kind).void(connection, {
    reference,
    idempotencyKey: reference,
    processorPaymentId: charge.processorPaymentId,
    paymentReference: charge.reference,
  });
  if (answer.outcomeClass !== 'approved') return recordCharge(deps, held, charge, { outcomeClass: 'unknown', rawMessage: answer.rawMessage });
  return recordCharge(deps, held, charge, {
    outcomeClass: 'not_sent',
    declineCode: 'processing_error',
    rawMessage: charge.processorPaymentId ? 'Cancelled at the processor, where it had never been confirmed.' : 'The processor does not know the attempt, and closed its reference.',
  });
}
