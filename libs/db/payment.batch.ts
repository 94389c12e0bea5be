import { sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { PaymentDriver } from '../domain/payment/payment-status.js';
import { builtOnce, orFail, type Statement } from './batch.js';
import { claimRow } from './change.js';
import { isStopped, type StopTarget } from './charge-stop.queries.js';
import type { Db } from './client.js';
import { sameSubscribers, type RenderedEvents } from './event.writes.js';
import type { Fence, IntentRest } from './payment.writes.js';
import { leaseSeconds } from './payment-lease.writes.js';
import { charges, events, idempotencyKeys, paymentIntents, paymentMethodMappings, webhookDeliveries, type ChargeRow, type PaymentIntentRow } from './schema/index.js';
import { clockTimestamp, insertStatement, Literal, updateStatement } from './statement.js';
import { writeTogether } from './together.js';
import { requestWake } from './wake.js';

/** What the writer of a batch knew when it rendered the events: another version or other endpoints and nothing is written. */
export interface Known {
  accountId: string;
  version: number;
  subscribers: string;
}

export interface NewCharge {
  row: ChargeRow;
  callLimitMs: number;
  /** Nothing is written while a stop stands over it. */
  target: StopTarget;
}

export interface HeldChange {
  fence: Fence;
  known: Known;
  /** Of other objects, to be written first. */
  before: readonly Statement[];
  intent: Partial<PaymentIntentRow>;
  rest: IntentRest;
  newCharge?: NewCharge;
  /** Written only while the row is the version before. */
  charge?: { id: string; set: Partial<ChargeRow> & { version: number } };
  networkTransaction?: { paymentMethodId: string; processorId: string; id: string };
  events: RenderedEvents;
}

const leaseEnd = new Literal(`clock_timestamp() + interval '${leaseSeconds} seconds'`);

/**
 * One fact of a payment whose lease is held, in one round trip: all of it or nothing.
 * @returns whether the lease was given back too. @throws an error that `isStale` knows when the lease, the version or the endpoints
 * are not what was known.
 */
export async function writeHeldChange(db: Db, { fence, known, before, intent, rest, ...rows }: HeldChange): Promise<{ released: boolean }> {
  const statements = [
    ...before,
    heldIntent(fence, known.version, { intent, rest }),
    sameSubscribers(known.accountId, known.subscribers),
    ...(rows.newCharge ? newCharge(db, rows.newCharge) : []),
    ...(rows.charge ? [heldCharge(rows.charge)] : []),
    ...(rows.networkTransaction ? [keptCredential(rows.networkTransaction)] : []),
    ...eventStatements(rows.events),
  ];
  const answers = await writeTogether(db, statements, fence.intentId);
  if (rows.events.deliveries.length > 0) requestWake();
  return { released: answers[before.length]![0]!.released === true };
}

/**
 * A payment that begins with its first attempt, its lease taken with token 1: the idempotency record, the intent, the charge and their
 * events in one round trip. @throws an error that `isStale` knows when any of it is there already or the endpoints changed.
 */
export async function writeNewPayment(
  db: Db,
  change: Change,
  rows: { owner: string; subscribers: string; intent: PaymentIntentRow; charge: NewCharge; events: RenderedEvents },
): Promise<void> {
  const statements = [
    ...(change.claim ? [claimStatement(change)] : []),
    sameSubscribers(change.accountId, rows.subscribers),
    insertStatement(paymentIntents, [{ ...rows.intent, leaseOwner: rows.owner, leaseToken: 1, leaseUntil: leaseEnd }]),
    ...newCharge(db, rows.charge),
    ...eventStatements(rows.events),
  ];
  await writeTogether(db, statements, rows.intent.id);
  if (rows.events.deliveries.length > 0) requestWake();
}

/**
 * The first attempt of a payment that is there and that nobody holds, together with its lease: all of it or nothing.
 * @throws an error that `isStale` knows when it is held, moved or changed, charging is stopped, or the endpoints changed.
 */
export async function writeFirstAttempt(
  db: Db,
  { intentId, owner, driver, leaseToken, known, intent, charge, events: rendered }: {
    intentId: string;
    owner: string;
    driver: PaymentDriver;
    /** The one that the lease gets. */
    leaseToken: number;
    known: Known;
    intent: Partial<PaymentIntentRow>;
    charge: NewCharge;
    events: RenderedEvents;
  },
): Promise<void> {
  const written = updateStatement(
    paymentIntents,
    { ...intent, version: new Literal('version + 1'), driver, leaseOwner: owner, leaseToken, leaseUntil: leaseEnd },
    {
      text: 'id = ? and lease_token = ? and lease_until is null and not settled and version = ?',
      values: [intentId, leaseToken - 1, known.version],
      returning: 'id',
    },
  );
  const unchanged = sameSubscribers(known.accountId, known.subscribers);
  await writeTogether(db, [orFail(written, []), unchanged, ...newCharge(db, charge), ...eventStatements(rendered)], intentId);
  if (rendered.deliveries.length > 0) requestWake();
}

/** A payment that somebody else advances. @throws as `writeNewPayment` does. */
export async function writeNewIntent(db: Db, change: Change, rows: { subscribers: string; intent: PaymentIntentRow; events: RenderedEvents }): Promise<void> {
  const statements = [
    ...(change.claim ? [claimStatement(change)] : []),
    sameSubscribers(change.accountId, rows.subscribers),
    insertStatement(paymentIntents, [rows.intent]),
    ...eventStatements(rows.events),
  ];
  await writeTogether(db, statements, rows.intent.id);
  if (rows.events.deliveries.length > 0) requestWake();
}

function heldIntent(fence: Fence, version: number, { intent: set, rest }: Pick<HeldChange, 'intent' | 'rest'>): Statement {
  const seen = `wake_seq = ${Number(rest.seenWake)}`;
  const written = updateStatement(
    paymentIntents,
    {
      ...set,
      version: new Literal('version + 1'),
      settled: rest.settled ? new Literal(`(${seen})`) : false,
      nextActionAt: rest.nextActionAt,
      ...(rest.release ? { leaseUntil: new Literal(`case when ${seen} then null else lease_until end`) } : {}),
    },
    {
      text: 'id = ? and lease_token = ? and lease_until is not null and version = ?',
      values: [fence.intentId, fence.token, version],
      returning: 'lease_until is null as released',
    },
  );
  return orFail(written, ['released']);
}

function heldCharge({ id, set }: NonNullable<HeldChange['charge']>): Statement {
  return orFail(updateStatement(charges, set, { text: 'id = ? and version = ?', values: [id, set.version - 1], returning: 'id' }), []);
}

const isFree = builtOnce(['accountId', 'invoiceId', 'paymentLinkId', 'processorId'], ({ processorId, ...target }: StopTarget & { processorId: string }) =>
  sql`select 1 where not ${isStopped(target, processorId)}`);

function unstopped(db: Db, values: StopTarget & { processorId: string }): Statement {
  return { ...orFail(isFree(db, values), []), guard: true };
}

function newCharge(db: Db, { row, callLimitMs, target }: NewCharge): Statement[] {
  const callBy = new Literal(`clock_timestamp() + ${Math.round(callLimitMs)} * interval '1 millisecond'`);
  const { accountId, invoiceId, paymentLinkId } = target;
  return [insertStatement(charges, [{ ...row, callBy }]), unstopped(db, { accountId, invoiceId, paymentLinkId, processorId: row.processorId })];
}

/** First reference that an unattended charge may use; never replaced. */
function keptCredential(found: { paymentMethodId: string; processorId: string; id: string }): Statement {
  return updateStatement(
    paymentMethodMappings,
    { networkTransactionId: found.id },
    { text: 'payment_method_id = ? and processor_id = ? and network_transaction_id is null', values: [found.paymentMethodId, found.processorId] },
  );
}

function eventStatements({ events: rows, deliveries }: RenderedEvents): Statement[] {
  const due = deliveries.map((row) => ({ ...row, nextAttemptAt: clockTimestamp }));
  return [
    ...(rows.length > 0 ? [insertStatement(events, rows)] : []),
    ...(due.length > 0 ? [insertStatement(webhookDeliveries, due)] : []),
  ];
}

/** As `transact` does it for a transaction: the record of a keyed request is written with its first effect. */
function claimStatement(change: Change): Statement {
  const inserted = insertStatement(idempotencyKeys, [{ ...claimRow(change), heartbeatAt: clockTimestamp }]);
  const text = `${inserted.text} on conflict (account_id, key) do update
    set heartbeat_at = clock_timestamp(), object_id = coalesce(idempotency_keys.object_id, excluded.object_id)
    where idempotency_keys.command_id = excluded.command_id and idempotency_keys.completed_at is null returning id`;
  return orFail({ text, values: inserted.values }, []);
}
