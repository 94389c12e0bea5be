import { transact } from '../db/change.js';
import { chargesOfIntent, intentByReference } from '../db/payment.queries.js';
import { insertCharge, lockIntent, updateIntent, wakePayment } from '../db/payment.writes.js';
import type { ChargeRow, PaymentIntentRow } from '../db/schema/index.js';
import type { Change } from '../domain/change/change.js';
import type { ToldPayment } from '../processors/port.js';
import type { OpenConnection } from './connection-cache.js';
import type { PaymentDeps } from './payment.deps.js';
import { pendingCharge } from './pending-charge.js';

export interface LostAttempt {
  connection: OpenConnection;
  told: ToldPayment;
  /** The reference's two parts. */
  reference: { intent: string; attempt: number };
}

/**
 * An attempt that the processor has and a restored database has not: its row is made again, without outcome, so that no second
 * one begins and the payment finds out what became of it by its own rules. Whoever holds the payment's lease loses it.
 * Null: there is no such payment, or it has an attempt of this number already, or one without outcome.
 */
export async function adoptAttempt(deps: PaymentDeps, change: Change, lost: LostAttempt): Promise<ChargeRow | null> {
  const known = await intentByReference(deps.db, change.accountId, lost.reference.intent);
  if (!known) return null;
  return transact(deps.db, change, async (tx) => {
    const intent = await lockIntent(tx, change.accountId, known.id);
    const charges = await chargesOfIntent(tx, known.id);
    const taken = charges.some((charge) => charge.attemptNumber === lost.reference.attempt || charge.status === 'pending');
    if (!intent?.paymentMethodId || taken) return null;
    const row = lostRow(intent, lost);
    await insertCharge(tx, row, { callLimitMs: 0, target: intent });
    const open = intent.status === 'requires_confirmation' || intent.status === 'requires_payment_method';
    await updateIntent(tx, intent.id, {
      attempts: Math.max(intent.attempts, row.attemptNumber),
      lastChargeId: row.id,
      confirmation: row.confirmation,
      leaseToken: intent.leaseToken + 1,
      leaseUntil: null,
      ...(open ? { status: 'processing', declineCode: null, declineReason: null } : {}),
      version: intent.version + 1,
      updatedAt: row.updatedAt,
    });
    await wakePayment(tx, intent.id, { stoppedAt: null, stoppedBy: null });
    return row;
  });
}

function lostRow(intent: PaymentIntentRow, { connection, told, reference }: LostAttempt): ChargeRow {
  const at = new Date();
  const madeAt = told.createdAt ? new Date(told.createdAt) : at;
  const text = `${reference.intent}-${reference.attempt}`;
  return pendingCharge(intent, {
    attemptNumber: reference.attempt,
    confirmation: Math.max(1, intent.confirmation),
    processorId: connection.id,
    outcomeClass: 'unknown',
    reference: text,
    idempotencyKey: text,
    processorPaymentId: told.processorPaymentId,
    leaseToken: intent.leaseToken,
    firstSentAt: madeAt,
    nextLookupAt: at,
    sendingClosedAt: at,
    decision: {
      rule: null,
      strategy: 'reconciliation',
      candidates: [connection.publicId],
      skipped: [],
      order: [connection.publicId],
      fallback: { on: [], max_attempts: 1 },
      route_id: null,
      version: null,
      fallback_reason: null,
    },
    reconciledAt: at,
    createdAt: madeAt,
    at,
  });
}
