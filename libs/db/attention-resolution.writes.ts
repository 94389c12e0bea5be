import { and, eq } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { DomainError, notFound } from '../errors/domain-error.js';
import type { Tx } from './client.js';
import { onceIfKeyed } from './record.writes.js';
import { linkPausedAttention, reopenPaymentLink } from './payment-link.writes.js';
import { attentionItems, type AttentionItemRow } from './schema/index.js';

/** What a resolved line sets going again, by its type. */
const consequences: Record<string, (tx: Tx, change: Change, objectId: string) => Promise<void>> = {
  [linkPausedAttention]: reopenPaymentLink,
};

/** A person closes a line of the attention list. @throws DomainError 404; 409 when it is resolved already. */
export async function resolveAttention(tx: Tx, change: Change, { id, resolution }: { id: string; resolution: string | null }): Promise<AttentionItemRow> {
  const own = and(eq(attentionItems.id, id), eq(attentionItems.accountId, change.accountId));
  const [before] = await tx.select().from(attentionItems).where(own).for('update');
  if (!before) throw notFound('attention item');
  await onceIfKeyed(tx, change, { objectId: id, step: 'resolve' }, async () => {
    if (before.resolvedAt) throw new DomainError('conflict', 'This item is resolved already.');
    await tx.update(attentionItems).set({ resolvedAt: new Date(), resolvedBy: change.actor, resolution }).where(own);
    await goOn(tx, change, before);
    return true;
  });
  const [row] = await tx.select().from(attentionItems).where(own);
  return row!;
}

/** The object may be gone by now; its line can be closed all the same. */
async function goOn(tx: Tx, change: Change, { type, objectId }: AttentionItemRow): Promise<void> {
  try {
    await consequences[type]?.(tx, change, objectId);
  } catch (error) {
    if (!(error instanceof DomainError && error.code === 'not_found')) throw error;
  }
}

/**
 * Writes what a person's action on a line led to; with a resolution the line is closed.
 * @throws DomainError 409 when it is resolved already.
 */
export async function closeAttention(
  tx: Tx,
  change: Change,
  { id, resolution, details }: { id: string; resolution?: string; details: Record<string, unknown> },
): Promise<void> {
  const own = and(eq(attentionItems.id, id), eq(attentionItems.accountId, change.accountId));
  const [before] = await tx.select({ resolvedAt: attentionItems.resolvedAt }).from(attentionItems).where(own).for('update');
  if (!before || before.resolvedAt) throw new DomainError('conflict', 'This item is resolved already.');
  const closed = resolution === undefined ? {} : { resolvedAt: new Date(), resolvedBy: change.actor, resolution };
  await tx.update(attentionItems).set({ details, ...closed }).where(own);
}
