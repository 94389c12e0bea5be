import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import { isStopped, type StopTarget } from './charge-stop.queries.js';
import type { Db, Tx } from './client.js';
import { defer } from './deferred.js';
import { insertStatement } from './statement.js';
import { newId } from './mint.js';
import {
  attemptEvidence,
  chargeOperations,
  charges,
  paymentIntents,
  paymentMethodMappings,
  refunds,
  type AttemptEvidenceRow,
  type ChargeOperationRow,
  type ChargeRow,
  type PaymentIntentRow,
  type RefundRow,
} from './schema/index.js';

export async function insertIntent(tx: Tx, row: PaymentIntentRow): Promise<PaymentIntentRow | null> {
  if (defer(tx, () => insertStatement(paymentIntents, [row]))) return row;
  const [inserted] = await tx.insert(paymentIntents).values(row).onConflictDoNothing().returning();
  return inserted ?? null;
}

export interface Fence {
  intentId: string;
  token: number;
}

export interface IntentRest {
  settled: boolean;
  nextActionAt: Date | null;
  /** Give the lease back in the same statement, unless the payment was woken meanwhile. */
  release: boolean;
  /** Wakes that the holder has taken into account. */
  seenWake: number;
}

/** `lost`: the lease is somebody else's. `changed`: it is the caller's, and the row is another version than known. */
export type WrittenIntent = { kind: 'written'; released: boolean } | { kind: 'lost' } | { kind: 'changed' };

/** Writes the intent only while the lease is the caller's and the row is the version that `set` was derived from. */
export async function writeHeldIntent(
  tx: Tx,
  fence: Fence & { version: number },
  set: Partial<PaymentIntentRow>,
  rest: IntentRest,
): Promise<WrittenIntent> {
  const seen = sql`${paymentIntents.wakeSeq} = ${rest.seenWake}`;
  const [row] = await tx
    .update(paymentIntents)
    .set({
      ...set,
      version: sql`${paymentIntents.version} + 1`,
      settled: rest.settled ? (sql`${seen}` as never) : false,
      nextActionAt: rest.nextActionAt,
      ...(rest.release ? { leaseUntil: sql`case when ${seen} then null else ${paymentIntents.leaseUntil} end` as never } : {}),
    })
    .where(
      and(
        eq(paymentIntents.id, fence.intentId),
        eq(paymentIntents.leaseToken, fence.token),
        eq(paymentIntents.version, fence.version),
        sql`${paymentIntents.leaseUntil} is not null`,
      ),
    )
    .returning({ leaseUntil: paymentIntents.leaseUntil });
  if (row) return { kind: 'written', released: row.leaseUntil === null };
  const held = and(eq(paymentIntents.id, fence.intentId), eq(paymentIntents.leaseToken, fence.token), sql`${paymentIntents.leaseUntil} is not null`);
  const [mine] = await tx.select({ id: paymentIntents.id }).from(paymentIntents).where(held);
  return { kind: mine ? 'changed' : 'lost' };
}

/** False: a stop stands over the attempt, and the transaction must not commit. */
export async function insertCharge(tx: Tx, row: ChargeRow, { callLimitMs, target }: { callLimitMs: number; target: StopTarget }): Promise<boolean> {
  const [inserted] = await tx
    .insert(charges)
    .values({ ...row, callBy: callByIn(callLimitMs) })
    .returning({ stopped: isStopped(target, row.processorId) });
  return inserted?.stopped === false;
}

export async function updateCharge(tx: Tx, id: string, set: Partial<ChargeRow>): Promise<void> {
  await tx.update(charges).set(set).where(eq(charges.id, id));
}

/** Only while the row is the version before `set.version`: amounts are written as sums. False: somebody changed it meanwhile. */
export async function updateHeldCharge(tx: Tx, id: string, set: Partial<ChargeRow> & { version: number }): Promise<boolean> {
  const known = and(eq(charges.id, id), eq(charges.version, set.version - 1));
  return (await tx.update(charges).set(set).where(known).returning({ id: charges.id })).length > 0;
}

export async function insertOperation(tx: Tx, row: ChargeOperationRow): Promise<boolean> {
  const inserted = await tx.insert(chargeOperations).values(row).onConflictDoNothing().returning({ id: chargeOperations.id });
  return inserted.length > 0;
}

export async function updateOperation(tx: Tx, id: string, set: Partial<ChargeOperationRow>): Promise<void> {
  await tx.update(chargeOperations).set(set).where(eq(chargeOperations.id, id));
}

export async function insertRefund(tx: Tx, row: RefundRow): Promise<void> {
  await tx.insert(refunds).values(row);
}

export async function updateRefund(tx: Tx, id: string, set: Partial<RefundRow>): Promise<void> {
  await tx.update(refunds).set(set).where(eq(refunds.id, id));
}

/**
 * Says, before a request leaves, that it is about to be sent: sets `call_by` by the database's clock and, the first time,
 * `first_sent_at`. False: the lease is no longer the caller's and nothing may be sent.
 */
export async function stampSend(
  db: Db,
  fence: Fence,
  target: { chargeId: string } | { operationId: string },
  limitMs: number,
): Promise<boolean> {
  const held = sql`exists (select 1 from payment_intents p where p.id = ${fence.intentId} and p.lease_token = ${fence.token}
    and p.lease_until > clock_timestamp())`;
  const callBy = callByIn(limitMs);
  const rows =
    'chargeId' in target
      ? await db
          .update(charges)
          .set({ callBy, leaseToken: fence.token })
          .where(and(eq(charges.id, target.chargeId), eq(charges.status, 'pending'), isNull(charges.sendingClosedAt), held))
          .returning({ id: charges.id })
      : await db
          .update(chargeOperations)
          .set({ callBy, firstSentAt: sql`coalesce(${chargeOperations.firstSentAt}, clock_timestamp())` as never })
          .where(and(eq(chargeOperations.id, target.operationId), eq(chargeOperations.status, 'pending'), held))
          .returning({ id: chargeOperations.id });
  return rows.length > 0;
}

/** From now on nothing is sent for this attempt: only reads and cancels. */
export async function closeForSending(db: Db, fence: Fence, chargeId: string, at: Date): Promise<boolean> {
  const rows = await db
    .update(charges)
    .set({ sendingClosedAt: at })
    .where(
      and(
        eq(charges.id, chargeId),
        sql`exists (select 1 from payment_intents p where p.id = ${fence.intentId} and p.lease_token = ${fence.token})`,
      ),
    )
    .returning({ id: charges.id });
  return rows.length > 0;
}

export async function markEvidenceApplied(tx: Tx, ids: string[], at: Date): Promise<void> {
  await tx.update(attemptEvidence).set({ appliedAt: at }).where(inArray(attemptEvidence.id, ids));
}

export interface EvidenceDraft {
  paymentIntentId: string;
  chargeId: string;
  operationId: string | null;
  leaseToken: number;
  outcome: AttemptEvidenceRow['outcome'];
}

/** Keeps an outcome that its finder may not apply, and wakes the payment so that the lease's next holder does. */
export async function insertEvidence(tx: Tx, draft: EvidenceDraft, at: Date): Promise<void> {
  await tx.insert(attemptEvidence).values({ ...draft, id: newId(), createdAt: at });
  await wakePayment(tx, draft.paymentIntentId);
}

/**
 * Something new is there to do: whoever holds the lease reads again, else the next taker finds it.
 * @returns whether the lease is held, so that its holder cannot let go without having read it.
 */
export async function wakePayment(tx: Tx, intentId: string, set: Partial<PaymentIntentRow> = {}): Promise<boolean> {
  const [row] = await tx
    .update(paymentIntents)
    .set({ ...set, wakeSeq: sql`${paymentIntents.wakeSeq} + 1`, settled: false, driver: 'api' })
    .where(eq(paymentIntents.id, intentId))
    .returning({ held: sql<boolean>`coalesce(${paymentIntents.leaseUntil} > clock_timestamp(), false)` });
  return row?.held ?? false;
}

/** The intent with its row lock; null if it is not the account's. */
export async function lockIntent(tx: Tx, accountId: string, intentId: string): Promise<PaymentIntentRow | null> {
  const [row] = await tx
    .select()
    .from(paymentIntents)
    .where(and(eq(paymentIntents.id, intentId), eq(paymentIntents.accountId, accountId)))
    .for('update');
  return row ?? null;
}

export async function updateIntent(tx: Tx, id: string, set: Partial<PaymentIntentRow>): Promise<PaymentIntentRow> {
  const [row] = await tx.update(paymentIntents).set(set).where(eq(paymentIntents.id, id)).returning();
  return row!;
}

/** First reference that an unattended charge may use; never replaced. */
export async function keepNetworkTransaction(tx: Tx, found: { paymentMethodId: string; processorId: string; id: string }): Promise<void> {
  await tx
    .update(paymentMethodMappings)
    .set({ networkTransactionId: found.id })
    .where(
      and(
        eq(paymentMethodMappings.paymentMethodId, found.paymentMethodId),
        eq(paymentMethodMappings.processorId, found.processorId),
        isNull(paymentMethodMappings.networkTransactionId),
      ),
    );
}

/** Reserves an amount of the charge for a refund; false: more than what is captured and not refunded yet. */
export async function reserveRefund(tx: Tx, chargeId: string, { amountAtom, at }: { amountAtom: number; at: Date }): Promise<boolean> {
  const rows = await tx
    .update(charges)
    .set({ refundedAtom: sql`${charges.refundedAtom} + ${amountAtom}`, version: sql`${charges.version} + 1`, updatedAt: at })
    .where(and(eq(charges.id, chargeId), sql`${charges.refundedAtom} + ${amountAtom} <= ${charges.capturedAtom}`))
    .returning({ id: charges.id });
  return rows.length > 0;
}

function callByIn(limitMs: number): never {
  return sql`clock_timestamp() + ${limitMs} * interval '1 millisecond'` as never;
}
