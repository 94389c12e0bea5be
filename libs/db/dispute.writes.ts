import { eq } from 'drizzle-orm';
import type { Tx } from './client.js';
import { disputes, type DisputeRow } from './schema/index.js';

export async function insertDispute(tx: Tx, row: DisputeRow): Promise<void> {
  await tx.insert(disputes).values(row);
}

export async function updateDispute(tx: Tx, id: string, set: Partial<DisputeRow>): Promise<void> {
  await tx.update(disputes).set(set).where(eq(disputes.id, id));
}
