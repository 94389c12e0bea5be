import { and, eq } from 'drizzle-orm';
import type { Db, Tx } from './client.js';
import { attentionItems, type AttentionItemRow } from './schema/index.js';

export async function findAttention(db: Db | Tx, accountId: string, id: string): Promise<AttentionItemRow | null> {
  const [row] = await db.select().from(attentionItems).where(and(eq(attentionItems.accountId, accountId), eq(attentionItems.id, id)));
  return row ?? null;
}
