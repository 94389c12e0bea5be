import { and, eq, inArray, isNotNull, isNull, lt } from 'drizzle-orm';
import type { Db, Tx } from './client.js';
import { processorCallbacks, type ProcessorCallbackRow } from './schema/index.js';

/** False: the processor's event is stored already. */
export async function insertCallback(tx: Tx, row: ProcessorCallbackRow): Promise<boolean> {
  const inserted = await tx.insert(processorCallbacks).values(row).onConflictDoNothing().returning({ id: processorCallbacks.id });
  return inserted.length > 0;
}

export async function markCallbackApplied(tx: Tx, { id, result }: { id: string; result: string }, at: Date): Promise<void> {
  await tx
    .update(processorCallbacks)
    .set({ appliedAt: at, result })
    .where(and(eq(processorCallbacks.id, id), isNull(processorCallbacks.appliedAt)));
}

/**
 * Removes what was applied and received more than `olderThanMs` ago, at most `limit` rows a call; answers how many. A processor
 * that sends such an event once more is told nothing new: states never move backwards. Uses `processor_callbacks_received`.
 */
export async function pruneCallbacks(db: Db, { olderThanMs, limit }: { olderThanMs: number; limit: number }): Promise<number> {
  const old = db
    .select({ id: processorCallbacks.id })
    .from(processorCallbacks)
    .where(and(lt(processorCallbacks.receivedAt, new Date(Date.now() - olderThanMs)), isNotNull(processorCallbacks.appliedAt)))
    .orderBy(processorCallbacks.receivedAt)
    .limit(limit)
    .for('update', { skipLocked: true });
  const gone = await db.delete(processorCallbacks).where(inArray(processorCallbacks.id, old)).returning({ id: processorCallbacks.id });
  return gone.length;
}
