import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { DomainError, invalidField } from '../errors/domain-error.js';
import { testClockView } from '../views/test-clock.view.js';
import type { Tx } from './client.js';
import { appendEvents, previousValues } from './event.writes.js';
import { createRecord, lockRecord, onceIfKeyed, type RecordKind } from './record.writes.js';
import { testClocks, type TestClockRow } from './schema/index.js';

const kind: RecordKind<typeof testClocks> = { table: testClocks, kind: 'clock', name: 'test_clock', view: testClockView };

/** Event `test_clock.created`. */
export async function createTestClock(tx: Tx, change: Change, clock: { id: string; name: string | null; frozenTime: Date }): Promise<TestClockRow> {
  const now = new Date();
  const onClock = { ...change, clockTime: clock.frozenTime.toISOString() };
  return createRecord(tx, onClock, kind, { ...clock, accountId: change.accountId, createdAt: now, updatedAt: now });
}

/**
 * The clock begins to move; its workflow makes happen what falls due. Event `test_clock.advancing`.
 * @throws DomainError 404, 409 `test_clock_advancing`, 422 for a time that is not ahead.
 */
export async function advanceTestClock(tx: Tx, change: Change, { id, to }: { id: string; to: Date }): Promise<TestClockRow> {
  const before = await lockRecord(tx, change, kind, id);
  await onceIfKeyed(tx, change, { objectId: id, step: 'advance' }, async () => {
    if (before.status === 'advancing') throw new DomainError('test_clock_advancing');
    if (to <= before.frozenTime) throw invalidField('frozen_time', `must be after ${before.frozenTime.toISOString()}, which the clock shows`);
    const begun = { targetTime: to, advancedFrom: before.frozenTime, actionsDone: 0, waitingFor: null, failureReason: null };
    await write(tx, change, { before, set: { ...begun, status: 'advancing' }, event: 'advancing' });
    return true;
  });
  return (await lockRecord(tx, change, kind, id)) as TestClockRow;
}

/** The target is reached: everything due before it has happened. Event `test_clock.ready`. Nothing where the advance is over. */
export async function finishAdvance(tx: Tx, change: Change, { id, targetTime }: Pick<TestClockRow, 'id' | 'targetTime'>): Promise<void> {
  const before = await lockAdvancing(tx, id);
  if (before?.targetTime?.getTime() !== targetTime?.getTime()) return;
  await write(tx, change, { before: before!, set: { status: 'ready', frozenTime: targetTime!, waitingFor: null }, event: 'ready' });
}

/** The advance cannot go on. Event `test_clock.internal_failure`. */
export async function failAdvance(tx: Tx, change: Change, { id, reason }: { id: string; reason: string }): Promise<void> {
  const before = await lockAdvancing(tx, id);
  if (!before) return;
  await write(tx, change, { before, set: { status: 'internal_failure', failureReason: reason.slice(0, 1000), waitingFor: null }, event: 'internal_failure' });
}

/** The customers and subscriptions that live on it are ended by its workflow. Event `test_clock.deleted`. @throws DomainError 404 */
export async function deleteTestClock(tx: Tx, change: Change, id: string): Promise<void> {
  await onceIfKeyed(tx, change, { objectId: id, step: 'delete' }, async () => {
    const before = await lockRecord(tx, change, kind, id);
    await write(tx, change, { before, set: { deletedAt: new Date(), waitingFor: null }, event: 'deleted' });
    return true;
  });
}

/** Whose payment holds the advance, while one does. */
export async function noteWaiting(tx: Tx, id: string, subscriptionId: string | null): Promise<void> {
  await tx
    .update(testClocks)
    .set({ waitingFor: subscriptionId, updatedAt: new Date() })
    .where(and(eq(testClocks.id, id), eq(testClocks.status, 'advancing')));
}

/**
 * A fact happened at `at` in the running advance; in the transaction of the fact, so that it counts once and the clock never
 * shows an earlier time than what has happened. False where the clock was deleted or does not move.
 */
export async function tickTestClock(tx: Tx, id: string, at: Date): Promise<boolean> {
  const rows = await tx
    .update(testClocks)
    .set({
      frozenTime: sql`greatest(${testClocks.frozenTime}, ${at.toISOString()}::timestamptz)`,
      actionsDone: sql`${testClocks.actionsDone} + 1`,
      waitingFor: null,
      updatedAt: new Date(),
    })
    .where(and(eq(testClocks.id, id), eq(testClocks.status, 'advancing'), isNull(testClocks.deletedAt)))
    .returning({ id: testClocks.id });
  return rows.length > 0;
}

/** The clock's row, held so that no advance begins or ends before the transaction does. */
export async function holdTestClock(tx: Tx, id: string): Promise<TestClockRow> {
  const [row] = await tx.select().from(testClocks).where(eq(testClocks.id, id)).for('share');
  return row!;
}

async function lockAdvancing(tx: Tx, id: string): Promise<TestClockRow | null> {
  const [row] = await tx.select().from(testClocks).where(eq(testClocks.id, id)).for('update');
  return row?.status === 'advancing' && row.deletedAt === null ? row : null;
}

interface ClockWrite {
  before: TestClockRow;
  set: Partial<TestClockRow>;
  event: 'advancing' | 'ready' | 'internal_failure' | 'deleted';
}

async function write(tx: Tx, change: Change, { before, set, event }: ClockWrite): Promise<void> {
  const [row] = await tx
    .update(testClocks)
    .set({ ...set, version: before.version + 1, updatedAt: new Date() })
    .where(and(eq(testClocks.id, before.id), eq(testClocks.version, before.version)))
    .returning();
  if (!row) throw new DomainError('version_conflict');
  const [old, data] = [testClockView(before, change.environment), testClockView(row, change.environment)];
  const draft = { type: `test_clock.${event}`, kind: 'clock', objectId: row.id, data, previous: previousValues(old, data) } as const;
  await appendEvents(tx, { ...change, clockTime: row.frozenTime.toISOString() }, [draft]);
}
