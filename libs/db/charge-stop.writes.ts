import { and, eq, inArray, isNull, sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { DomainError, notFound } from '../errors/domain-error.js';
import { chargeStopView, stoppedObject, type ChargeStopView } from '../views/charge-stop.view.js';
import { publicId } from '../views/ids.js';
import { raiseAttention, settleAttention } from './attention.writes.js';
import { someWait, waitingFor } from './charge-stop.queries.js';
import type { Db, Tx } from './client.js';
import { oncePerCommand } from './command.writes.js';
import { appendEvents, previousValues } from './event.writes.js';
import { chargeStops, type ChargeStopRow } from './schema/index.js';

export const chargeStopAttention = 'charge_stop';

export type NewChargeStop = Pick<ChargeStopRow, 'id' | 'scope' | 'objectId' | 'reason'>;

/**
 * From this transaction's commit no attempt begins in its scope. Event `charge_stop.started`, and a line on the attention list.
 * @throws DomainError 409 where one stands already.
 */
export async function startStop(tx: Tx, change: Change, { id, scope, objectId, reason }: NewChargeStop): Promise<ChargeStopView> {
  return oncePerCommand(tx, change, { objectId: id, step: 'start' }, async () => {
    const startedAt = new Date();
    const values = { id, accountId: change.accountId, scope, objectId, reason, startedBy: change.actor, startedAt };
    const [row] = await tx.insert(chargeStops).values(values).onConflictDoNothing().returning();
    if (!row) throw await alreadyStopped(tx, change, { scope, objectId });
    const data = chargeStopView(row, change.environment, 0);
    const what = scope === 'account' ? 'the account' : `${scope} ${stoppedObject(row, change.environment)}`;
    const actions = [`POST /charge-stops/${data.id}/lift {"restart_per_second": 10}`];
    const line = { accountId: change.accountId, kind: 'stop', objectId: id, reason: `New charges of ${what} are stopped: ${reason}`, actions };
    await raiseAttention(tx, { ...line, type: chargeStopAttention }, startedAt);
    await appendEvents(tx, change, [{ type: 'charge_stop.started', kind: 'stop', objectId: id, data, previous: null }]);
    return data;
  });
}

async function alreadyStopped(tx: Tx, change: Change, { scope, objectId }: Pick<ChargeStopRow, 'scope' | 'objectId'>): Promise<DomainError> {
  const open = and(eq(chargeStops.scope, scope), eq(chargeStops.objectId, objectId), isNull(chargeStops.liftedAt));
  const [row] = await tx.select({ id: chargeStops.id }).from(chargeStops).where(open);
  return new DomainError('conflict', `This is stopped already${row ? `, by ${publicId('stop', change.environment, row.id)}` : ''}.`);
}

export interface Lift {
  id: string;
  /** Waiting payments that may begin per second. */
  restartPerSecond: number;
}

/** What waits goes on at the given pace. Event `charge_stop.lifted`. @throws DomainError 404; 409 when it was lifted before. */
export async function liftStop(tx: Tx, change: Change, { id, restartPerSecond }: Lift): Promise<ChargeStopView> {
  return oncePerCommand(tx, change, { objectId: id, step: 'lift' }, async () => {
    const own = and(eq(chargeStops.id, id), eq(chargeStops.accountId, change.accountId));
    const [before] = await tx.select().from(chargeStops).where(own).for('update');
    if (!before) throw notFound('charge stop');
    if (before.liftedAt) throw new DomainError('conflict', 'This stop was lifted already.');
    const liftedAt = new Date();
    const waiting = (await waitingFor(tx, change.accountId, [id])).get(id) ?? 0;
    const set = { liftedAt, liftedBy: change.actor, restartPerSecond, drainedAt: waiting === 0 ? liftedAt : null };
    const [row] = await tx.update(chargeStops).set({ ...set, pacedAt: sql`clock_timestamp()` as never }).where(own).returning();
    await settleAttention(tx, { type: chargeStopAttention, objectId: id, resolution: 'The stop was lifted.' }, liftedAt);
    const data = chargeStopView(row!, change.environment, waiting);
    const previous = previousValues(chargeStopView(before, change.environment, waiting), data);
    await appendEvents(tx, change, [{ type: 'charge_stop.lifted', kind: 'stop', objectId: id, data, previous }]);
    return data;
  });
}

/** Holds the stops where they are until the transaction ends; false: one of them was lifted, so nothing may wait for it. */
export async function holdStops(tx: Tx, ids: string[]): Promise<boolean> {
  const rows = await tx
    .select({ id: chargeStops.id })
    .from(chargeStops)
    .where(and(inArray(chargeStops.id, ids), isNull(chargeStops.liftedAt)))
    .for('share');
  return rows.length === ids.length;
}

export interface Allowance {
  stop: ChargeStopRow;
  /** Payments that may begin now. */
  payments: number;
}

/**
 * The turn of one lifted stop for which payments still wait: locked, so that several workers share one pace. At most one
 * second's worth at once, however long nobody asked. Null: nothing waits, or another worker has the turn.
 */
export async function takeTurn(tx: Tx, stopId: string): Promise<Allowance | null> {
  const [row] = await tx
    .select({ stop: chargeStops, elapsed: sql<number>`extract(epoch from clock_timestamp() - coalesce(paced_at, lifted_at))::float8` })
    .from(chargeStops)
    .where(and(eq(chargeStops.id, stopId), sql`lifted_at is not null and drained_at is null`))
    .for('update', { skipLocked: true });
  if (!row) return null;
  const rate = row.stop.restartPerSecond ?? 1;
  const payments = Math.min(rate, Math.floor(row.elapsed * rate));
  if (payments < 1) return { stop: row.stop, payments: 0 };
  const used = sql`greatest(coalesce(paced_at, lifted_at) + ${payments / rate} * interval '1 second', clock_timestamp() - interval '1 second')`;
  await tx.update(chargeStops).set({ pacedAt: used as never }).where(eq(chargeStops.id, stopId));
  return { stop: row.stop, payments };
}

/** Remembers that nothing waits any more. */
export async function endRestart(tx: Tx, stop: ChargeStopRow): Promise<boolean> {
  if (await someWait(tx, stop)) return false;
  await tx.update(chargeStops).set({ drainedAt: new Date() }).where(and(eq(chargeStops.id, stop.id), isNull(chargeStops.drainedAt)));
  return true;
}

/** Lifted stops for which payments may still wait, oldest first. */
export async function stopsToRestart(db: Db, limit: number): Promise<{ id: string; accountId: string }[]> {
  return db
    .select({ id: chargeStops.id, accountId: chargeStops.accountId })
    .from(chargeStops)
    .where(sql`lifted_at is not null and drained_at is null`)
    .orderBy(chargeStops.id)
    .limit(limit);
}
