import { and, asc, desc, eq, inArray, ne, sql } from 'drizzle-orm';
import { builtOnce } from './batch.js';
import type { Db, Tx } from './client.js';
import {
  chargeOperations,
  charges,
  paymentIntents,
  paymentMethods,
  paymentProcessors,
  refunds,
  type ChargeOperationRow,
  type ChargeRow,
  type PaymentIntentRow,
  type RefundRow,
} from './schema/index.js';
import { rowOf } from './statement.js';
import { readTogether } from './together.js';

export async function intentById(db: Db, id: string): Promise<PaymentIntentRow | null> {
  const [row] = await db.select().from(paymentIntents).where(eq(paymentIntents.id, id));
  return row ?? null;
}

export async function intentOf(db: Db | Tx, accountId: string, id: string): Promise<PaymentIntentRow | null> {
  const [row] = await db.select().from(paymentIntents).where(and(eq(paymentIntents.id, id), eq(paymentIntents.accountId, accountId)));
  return row ?? null;
}

export async function intentByReference(db: Db | Tx, accountId: string, reference: string): Promise<PaymentIntentRow | null> {
  const [row] = await db
    .select()
    .from(paymentIntents)
    .where(and(eq(paymentIntents.accountId, accountId), eq(paymentIntents.reference, reference)));
  return row ?? null;
}

/** The invoice's one intent that is not cancelled. */
export async function intentOfInvoice(db: Db | Tx, accountId: string, invoiceId: string): Promise<PaymentIntentRow | null> {
  const [row] = await db
    .select()
    .from(paymentIntents)
    .where(and(eq(paymentIntents.accountId, accountId), eq(paymentIntents.invoiceId, invoiceId), ne(paymentIntents.status, 'canceled')));
  return row ?? null;
}

export async function latestCharge(db: Db, id: string): Promise<ChargeRow | undefined> {
  const [row] = await db.select().from(charges).where(eq(charges.id, id));
  return row;
}

export interface IntentPartsRow {
  chargeIds: string[];
  refundIds: string[];
  processorKind: string | null;
  processorPaymentId: string | null;
}

/** Drizzle leaves the table's name out where it can; in a subquery the column would then be another table's. */
const ownId = sql.raw('"payment_intents"."id"');

interface RawParts {
  charges: string[] | null;
  refunds: string[] | null;
  last: { kind: string; payment: string | null } | null;
}

/** What the intent's view shows of other rows, in the row of the surrounding query. */
const parts = sql<RawParts>`json_build_object(
  'charges', (select json_agg(c.id order by c.attempt_number) from charges c where c.payment_intent_id = ${ownId}),
  'refunds', (select json_agg(r.id order by r.id) from charges c join refunds r on r.charge_id = c.id where c.payment_intent_id = ${ownId}),
  'last', (select json_build_object('kind', p.kind, 'payment', c.processor_payment_id) from charges c join payment_processors p on p.id = c.processor_id
    where c.payment_intent_id = ${ownId} order by c.attempt_number desc limit 1))`;

const ownIntent = builtOnce(['accountId', 'id'], ({ accountId, id }: { accountId: string; id: string }) =>
  sql`select payment_intents.*, ${parts} as parts from payment_intents where id = ${id} and account_id = ${accountId}`);

/**
 * The intent with what its view shows of other rows; null if the account has none such. One statement, so that a status never stands
 * beside the charges of another moment; those of several callers are sent together.
 */
export async function intentWithParts(db: Db, accountId: string, id: string): Promise<{ row: PaymentIntentRow; parts: IntentPartsRow } | null> {
  const [intents] = await readTogether(db, [ownIntent(db, { accountId, id })]);
  const [found] = intents!;
  return found ? { row: rowOf(paymentIntents, found), parts: partsOf(found.parts as RawParts) } : null;
}

/** What the views of many intents show of other rows, in one statement. */
export async function intentParts(db: Db | Tx, intentIds: string[]): Promise<Map<string, IntentPartsRow>> {
  if (intentIds.length === 0) return new Map();
  const rows = await db.select({ id: paymentIntents.id, parts }).from(paymentIntents).where(sql`${paymentIntents.id} = any(${sql.param(intentIds)}::uuid[])`);
  return new Map(rows.map((row) => [row.id, partsOf(row.parts)]));
}

function partsOf({ charges: chargeIds, refunds: refundIds, last }: RawParts): IntentPartsRow {
  return { chargeIds: chargeIds ?? [], refundIds: refundIds ?? [], processorKind: last?.kind ?? null, processorPaymentId: last?.payment ?? null };
}

export async function chargeOf(db: Db | Tx, accountId: string, id: string): Promise<ChargeRow | null> {
  const [row] = await db.select().from(charges).where(and(eq(charges.id, id), eq(charges.accountId, accountId)));
  return row ?? null;
}

export async function chargesOfIntent(db: Db | Tx, intentId: string): Promise<ChargeRow[]> {
  return db.select().from(charges).where(eq(charges.paymentIntentId, intentId)).orderBy(asc(charges.attemptNumber));
}

/** Kind and name of connections, deleted ones too. */
export async function processorNames(db: Db | Tx, ids: string[]): Promise<Map<string, { kind: string; name: string }>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .select({ id: paymentProcessors.id, kind: paymentProcessors.kind, name: paymentProcessors.name })
    .from(paymentProcessors)
    .where(inArray(paymentProcessors.id, ids));
  return new Map(rows.map((row) => [row.id, { kind: row.kind, name: row.name }]));
}

export async function refundOf(db: Db | Tx, accountId: string, id: string): Promise<RefundRow | null> {
  const [row] = await db.select().from(refunds).where(and(eq(refunds.id, id), eq(refunds.accountId, accountId)));
  return row ?? null;
}

/** The operation that a command asked for, so that its repetition finds it. */
export async function operationOfCommand(db: Db | Tx, intentId: string, commandId: string): Promise<ChargeOperationRow | null> {
  const [row] = await db
    .select()
    .from(chargeOperations)
    .where(and(eq(chargeOperations.paymentIntentId, intentId), eq(chargeOperations.commandId, commandId)));
  return row ?? null;
}

export async function operationsOfCharge(db: Db | Tx, chargeId: string): Promise<ChargeOperationRow[]> {
  return db.select().from(chargeOperations).where(eq(chargeOperations.chargeId, chargeId)).orderBy(asc(chargeOperations.id));
}

export async function operationsOfIntent(db: Db | Tx, intentId: string): Promise<ChargeOperationRow[]> {
  return db.select().from(chargeOperations).where(eq(chargeOperations.paymentIntentId, intentId)).orderBy(asc(chargeOperations.id));
}

/** A refund of the same charge and amount that began within the last minute. */
export async function recentEqualRefund(db: Db | Tx, chargeId: string, amountAtom: number): Promise<RefundRow | null> {
  const [row] = await db
    .select()
    .from(refunds)
    .where(and(eq(refunds.chargeId, chargeId), eq(refunds.amountAtom, amountAtom), sql`${refunds.createdAt} > clock_timestamp() - interval '60 seconds'`))
    .orderBy(desc(refunds.id))
    .limit(1);
  return row ?? null;
}

export interface MethodUse {
  status: 'authorized' | 'attached' | 'detached';
  customerId: string | null;
}

/** How a payment method stands; null if the account has none such. */
export async function methodUse(db: Db | Tx, accountId: string, methodId: string): Promise<MethodUse | null> {
  const [row] = await db
    .select({ status: paymentMethods.status, customerId: paymentMethods.customerId })
    .from(paymentMethods)
    .where(and(eq(paymentMethods.id, methodId), eq(paymentMethods.accountId, accountId), sql`${paymentMethods.shownAt} is not null`));
  return row ?? null;
}

/** Changed on a test clock that shows a later time: how long ago cannot be told. */
const aheadOfTime = sql`${paymentIntents.updatedAt} > clock_timestamp() + interval '1 hour'`;

/** Unfinished payments that nobody moves: `driver` api, not leased, older than the grace. */
export async function interruptedPayments(db: Tx, limit: number): Promise<PaymentIntentRow[]> {
  return db
    .select()
    .from(paymentIntents)
    .where(
      and(
        eq(paymentIntents.driver, 'api'),
        eq(paymentIntents.settled, false),
        sql`(${paymentIntents.leaseUntil} is null or ${paymentIntents.leaseUntil} < clock_timestamp())`,
        sql`(${paymentIntents.updatedAt} < clock_timestamp() - interval '2 seconds' or ${aheadOfTime})`,
      ),
    )
    .orderBy(asc(paymentIntents.id))
    .limit(limit)
    .for('update', { skipLocked: true });
}

/** Payments whose time has come long ago: their workflow is gone. */
export async function overduePayments(db: Tx, limit: number): Promise<PaymentIntentRow[]> {
  return db
    .select()
    .from(paymentIntents)
    .where(
      and(
        eq(paymentIntents.settled, false),
        // Without a time it waits to be begun: the workflow that was to do it is gone, or knows a later state than a restored database.
        sql`(${paymentIntents.nextActionAt} < clock_timestamp() - interval '60 seconds' or (${paymentIntents.nextActionAt} is null
          and ${paymentIntents.status} = 'processing' and ${paymentIntents.stoppedAt} is null and (${paymentIntents.updatedAt} < clock_timestamp() - interval '60 seconds' or ${aheadOfTime})))`,
        sql`(${paymentIntents.leaseUntil} is null or ${paymentIntents.leaseUntil} < clock_timestamp())`,
      ),
    )
    .orderBy(asc(paymentIntents.nextActionAt))
    .limit(limit)
    .for('update', { skipLocked: true });
}

/**
 * Payments with a capture, void or refund that nobody waits for: its sender died before it knew the answer, and the engine had not yet
 * noted that it was asked. Uses `charge_operations_pending`.
 */
export async function forsakenOperations(db: Tx, limit: number): Promise<PaymentIntentRow[]> {
  const forsaken = sql`${chargeOperations.nextLookupAt} is null
    and (coalesce(${chargeOperations.callBy}, ${chargeOperations.createdAt}) < clock_timestamp() - interval '10 seconds'
      or (${chargeOperations.callBy} is null and ${chargeOperations.createdAt} > clock_timestamp() + interval '1 hour'))`;
  const rows = await db
    .select({ intent: paymentIntents })
    .from(chargeOperations)
    .innerJoin(paymentIntents, eq(paymentIntents.id, chargeOperations.paymentIntentId))
    .where(
      and(
        sql`${chargeOperations.status} = 'pending'`,
        forsaken,
        eq(paymentIntents.settled, false),
        sql`(${paymentIntents.leaseUntil} is null or ${paymentIntents.leaseUntil} < clock_timestamp())`,
      ),
    )
    .orderBy(asc(chargeOperations.id))
    .limit(limit)
    .for('update', { of: paymentIntents, skipLocked: true });
  return rows.map(({ intent }) => intent);
}

/** Payments that wait for the stop and that nobody holds, oldest first. */
export async function stoppedPayments(db: Tx, stop: { id: string; accountId: string }, limit: number): Promise<PaymentIntentRow[]> {
  return db
    .select()
    .from(paymentIntents)
    .where(and(eq(paymentIntents.accountId, stop.accountId), sql`stopped_at is not null and ${stop.id}::uuid = any(stopped_by)`))
    .orderBy(asc(paymentIntents.id))
    .limit(limit)
    .for('update', { skipLocked: true });
}
