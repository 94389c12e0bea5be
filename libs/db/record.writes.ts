import { and, eq, isNull, type AnyColumn } from 'drizzle-orm';
import type { PgTable } from 'drizzle-orm/pg-core';
import type { Change } from '../domain/change/change.js';
import type { Environment } from '../domain/environment.js';
import { DomainError, notFound } from '../errors/domain-error.js';
import type { IdKind } from '../views/ids.js';
import type { Tx } from './client.js';
import { oncePerCommand, type CommandKey } from './command.writes.js';
import { appendEvents, previousValues } from './event.writes.js';

type RecordTable = PgTable & { id: AnyColumn; accountId: AnyColumn; deletedAt: AnyColumn; version: AnyColumn };
interface RecordRow {
  id: string;
  version: number;
  updatedAt: Date;
  deletedAt: Date | null;
}
type Row<T extends RecordTable> = T['$inferSelect'] & RecordRow;

/** A resource whose life is created, updated, deleted: its row and how it is published. */
export interface RecordKind<T extends RecordTable> {
  table: T;
  kind: IdKind;
  /** Prefix of its event types, and its name in messages. */
  name: string;
  view: (row: T['$inferSelect'], environment: Environment) => object;
  customerId?: (row: T['$inferSelect']) => string | null;
}

/** Row and event `<name>.created`. A retry of the same command finds the row and adds nothing. */
export async function createRecord<T extends RecordTable>(tx: Tx, change: Change, kind: RecordKind<T>, values: T['$inferInsert'] & { id: string }): Promise<Row<T>> {
  const known = await select(tx, kind, and(eq(kind.table.id, values.id), eq(kind.table.accountId, change.accountId)));
  if (known) return known;
  const [row] = (await tx.insert(kind.table as PgTable).values(values).returning()) as Row<T>[];
  await append(tx, change, kind, { row: row!, verb: 'created', previous: null });
  return row!;
}

export interface RecordUpdate<T extends RecordTable> {
  id: string;
  /** Asked under the row's lock; may refuse. An empty answer changes nothing. */
  patch: (before: Row<T>) => Partial<T['$inferInsert']> | Promise<Partial<T['$inferInsert']>>;
}

/**
 * Row and event `<name>.updated`, under the row's lock. What changes nothing writes nothing. A retry of the same keyed
 * command changes nothing again.
 * @throws DomainError 404
 */
export async function updateRecord<T extends RecordTable>(tx: Tx, change: Change, kind: RecordKind<T>, { id, patch }: RecordUpdate<T>): Promise<Row<T>> {
  const before = await lockRecord(tx, change, kind, id);
  const effect = async (): Promise<boolean> => {
    const fields = await patch(before);
    const next = { ...before, ...fields };
    const previous = previousValues(kind.view(before, change.environment), kind.view(next, change.environment));
    if (Object.keys(previous).length > 0) await write(tx, change, kind, { before, fields, verb: 'updated' });
    return true;
  };
  await onceIfKeyed(tx, change, { objectId: id, step: 'update' }, effect);
  return (await select(tx, kind, eq(kind.table.id, id)))!;
}

/** The row stays, marked as deleted; event `<name>.deleted`. @throws DomainError 404 */
export async function deleteRecord<T extends RecordTable>(tx: Tx, change: Change, kind: RecordKind<T>, id: string): Promise<Row<T>> {
  const before = await lockRecord(tx, change, kind, id);
  await write(tx, change, kind, { before, fields: { deletedAt: new Date() } as Partial<T['$inferInsert']>, verb: 'deleted' });
  return (await select(tx, kind, eq(kind.table.id, id)))!;
}

/** Remembers the effect of a keyed command only: without a key nobody can repeat it. */
export async function onceIfKeyed<R>(tx: Tx, change: Change, key: CommandKey, effect: () => Promise<R>): Promise<R> {
  return change.claim ? oncePerCommand(tx, change, key, effect) : effect();
}

/** The row for update; what is deleted counts as absent. @throws DomainError 404 */
export async function lockRecord<T extends RecordTable>(tx: Tx, change: Change, kind: RecordKind<T>, id: string): Promise<Row<T>> {
  const own = and(eq(kind.table.id, id), eq(kind.table.accountId, change.accountId), isNull(kind.table.deletedAt));
  const [row] = (await tx.select().from(kind.table as PgTable).where(own).for('update')) as Row<T>[];
  if (!row) throw notFound(kind.name.replaceAll('_', ' '));
  return row;
}

async function select<T extends RecordTable>(tx: Tx, kind: RecordKind<T>, where: ReturnType<typeof and>): Promise<Row<T> | undefined> {
  const [row] = (await tx.select().from(kind.table as PgTable).where(where)) as Row<T>[];
  return row;
}

interface Writing<T extends RecordTable> {
  before: Row<T>;
  fields: Partial<T['$inferInsert']>;
  verb: 'updated' | 'deleted';
}

async function write<T extends RecordTable>(tx: Tx, change: Change, kind: RecordKind<T>, { before, fields, verb }: Writing<T>): Promise<void> {
  const [row] = (await tx
    .update(kind.table as PgTable)
    .set({ ...fields, version: before.version + 1, updatedAt: new Date() } as Record<string, unknown>)
    .where(and(eq(kind.table.id, before.id), eq(kind.table.version, before.version)))
    .returning()) as Row<T>[];
  if (!row) throw new DomainError('version_conflict');
  const previous = previousValues(kind.view(before, change.environment), kind.view(row, change.environment));
  await append(tx, change, kind, { row, verb, previous });
}

interface Telling<T extends RecordTable> {
  row: Row<T>;
  verb: 'created' | 'updated' | 'deleted';
  previous: object | null;
}

async function append<T extends RecordTable>(tx: Tx, change: Change, kind: RecordKind<T>, { row, verb, previous }: Telling<T>): Promise<void> {
  await appendEvents(tx, change, [{
    type: `${kind.name}.${verb}`,
    kind: kind.kind,
    objectId: row.id,
    customerId: kind.customerId?.(row) ?? null,
    data: kind.view(row, change.environment),
    previous,
  }]);
}
