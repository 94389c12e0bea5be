import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Db } from './client.js';
import { idempotencyKeys, type IdempotencyKeyRow } from './schema/index.js';

/** Seconds after which an open record whose owner is silent goes to the next caller. */
export const heartbeatLimitSeconds = 30;

export async function findKey(db: Db, accountId: string, key: string): Promise<IdempotencyKeyRow | null> {
  const [row] = await db.select().from(idempotencyKeys).where(and(eq(idempotencyKeys.accountId, accountId), eq(idempotencyKeys.key, key)));
  return row ?? null;
}

/** Makes `owner` the owner of an open record whose owner is silent; false when another caller was faster. */
export async function takeOverKey(db: Db, record: IdempotencyKeyRow, owner: string): Promise<boolean> {
  const silent = sql`${idempotencyKeys.heartbeatAt} < clock_timestamp() - make_interval(secs => ${heartbeatLimitSeconds})`;
  const rows = await db
    .update(idempotencyKeys)
    .set({ owner, heartbeatAt: sql`clock_timestamp()` })
    .where(and(eq(idempotencyKeys.id, record.id), eq(idempotencyKeys.owner, record.owner), isNull(idempotencyKeys.completedAt), silent))
    .returning({ id: idempotencyKeys.id });
  return rows.length > 0;
}

export interface KeyOwner {
  accountId: string;
  key: string;
  owner: string;
}

export async function beatKey(db: Db, owner: KeyOwner): Promise<void> {
  await db.update(idempotencyKeys).set({ heartbeatAt: sql`clock_timestamp()` }).where(ownedOpen(owner));
}

/** The work is not done, but this caller has left: the next one goes on at once. */
export async function releaseKey(db: Db, owner: KeyOwner): Promise<void> {
  await db.update(idempotencyKeys).set({ heartbeatAt: sql`'-infinity'` }).where(ownedOpen(owner));
}

/** The request was refused and changed nothing: the key is free again. */
export async function dropKey(db: Db, owner: KeyOwner): Promise<void> {
  await db.delete(idempotencyKeys).where(ownedOpen(owner));
}

export async function findOwnedKey(db: Db, owner: KeyOwner): Promise<{ id: string } | null> {
  const [row] = await db.select({ id: idempotencyKeys.id }).from(idempotencyKeys).where(ownedOpen(owner));
  return row ?? null;
}

/** Stores the answer; from now on the key answers with it. */
export async function completeKey(db: Db, owner: KeyOwner, answer: { status: number; sealed: string }): Promise<void> {
  await db
    .update(idempotencyKeys)
    .set({ completedAt: new Date(), responseStatus: answer.status, responseSealed: answer.sealed })
    .where(ownedOpen(owner));
}

function ownedOpen({ accountId, key, owner }: KeyOwner) {
  return and(
    eq(idempotencyKeys.accountId, accountId), eq(idempotencyKeys.key, key), eq(idempotencyKeys.owner, owner), isNull(idempotencyKeys.completedAt),
  );
}
