import { and, eq, isNull } from 'drizzle-orm';
import type { Tx } from './client.js';
import { newId } from './mint.js';
import { attentionItems } from './schema/index.js';

export interface Attention {
  accountId: string;
  /** What happened, for example `payment_exception`. */
  type: string;
  /** Kind of the object's id, for example `pi`. */
  kind: string;
  objectId: string;
  /** Tells apart several lines of one type about one object. */
  about?: string;
  reason: string;
  details?: Record<string, unknown> | null;
  /** What a person can do, in plain words or as calls. */
  actions: string[];
}

/** Puts something on the attention list; one open line per type and object, a second one changes nothing. */
export async function raiseAttention(tx: Tx, attention: Attention, at: Date): Promise<void> {
  await tx
    .insert(attentionItems)
    .values({ ...attention, id: newId(), details: attention.details ?? null, openedAt: at })
    .onConflictDoNothing();
}

/** Closes what solved itself. */
export async function settleAttention(tx: Tx, line: { type: string; objectId: string; resolution: string }, at: Date): Promise<void> {
  await tx
    .update(attentionItems)
    .set({ resolvedAt: at, resolvedBy: 'system', resolution: line.resolution })
    .where(and(eq(attentionItems.type, line.type), eq(attentionItems.objectId, line.objectId), isNull(attentionItems.resolvedAt)));
}
