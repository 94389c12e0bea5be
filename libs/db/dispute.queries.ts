import { and, asc, eq } from 'drizzle-orm';
import type { Db, Tx } from './client.js';
import { disputes, type DisputeRow } from './schema/index.js';

export async function disputeOf(db: Db | Tx, accountId: string, id: string): Promise<DisputeRow | null> {
  const [row] = await db.select().from(disputes).where(and(eq(disputes.id, id), eq(disputes.accountId, accountId)));
  return row ?? null;
}

export async function disputesOfCharge(db: Db | Tx, chargeId: string): Promise<DisputeRow[]> {
  return db.select().from(disputes).where(eq(disputes.chargeId, chargeId)).orderBy(asc(disputes.id));
}
