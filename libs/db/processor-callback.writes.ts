import { and, eq, isNull } from 'drizzle-orm';
import type { Tx } from './client.js';
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
