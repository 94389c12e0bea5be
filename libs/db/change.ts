import { sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { DomainError } from '../errors/domain-error.js';
import type { Db, Tx } from './client.js';
import { newId } from './mint.js';
import { idempotencyKeys } from './schema/index.js';

const callbacks = new WeakMap<object, (() => void)[]>();

/** Runs `callback` once the transaction is committed; never if it is rolled back. */
export function afterCommit(tx: Tx, callback: () => void): void {
  const list = callbacks.get(tx);
  if (!list) throw new Error('afterCommit outside transact');
  if (!list.includes(callback)) list.push(callback);
}

/** What `work` wants to be called after the commit of a transaction that its caller makes. */
export async function gatherCallbacks<T>(tx: Tx, work: () => Promise<T>): Promise<{ result: T; afterwards: () => void }> {
  const done: (() => void)[] = [];
  callbacks.set(tx, done);
  const result = await work();
  return { result, afterwards: () => done.forEach((callback) => callback()) };
}

/**
 * One transaction for one fact. The first one of a keyed request also writes its idempotency record, so that nothing is
 * recorded before the first write and no write is ever without its record.
 * @throws DomainError `idempotency_key_in_use` when another request holds the key.
 */
export async function transact<T>(db: Db, change: Change, work: (tx: Tx) => Promise<T>): Promise<T> {
  const done: (() => void)[] = [];
  const result = await db.transaction(async (tx) => {
    callbacks.set(tx, done);
    if (change.claim) await claimKey(tx, change);
    return work(tx);
  });
  for (const callback of done) callback();
  return result;
}

/** The idempotency record of a keyed request; its heartbeat is the database's clock. */
export function claimRow(change: Change) {
  const { key, fingerprint, tokenId, owner, objectId } = change.claim!;
  return { id: newId(), accountId: change.accountId, key, fingerprint, tokenId, commandId: change.commandId, objectId, owner, createdAt: new Date() };
}

async function claimKey(tx: Tx, change: Change): Promise<void> {
  const [row] = await tx
    .insert(idempotencyKeys)
    .values({ ...claimRow(change), heartbeatAt: sql`clock_timestamp()` })
    .onConflictDoUpdate({
      target: [idempotencyKeys.accountId, idempotencyKeys.key],
      set: { heartbeatAt: sql`clock_timestamp()`, objectId: sql`coalesce(${idempotencyKeys.objectId}, excluded.object_id)` },
      setWhere: sql`${idempotencyKeys.commandId} = excluded.command_id and ${idempotencyKeys.completedAt} is null`,
    })
    .returning({ id: idempotencyKeys.id });
  if (!row) throw new DomainError('idempotency_key_in_use', undefined, { retryAfterSeconds: 1 });
}
