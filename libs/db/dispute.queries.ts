import { and, asc, eq, inArray } from 'drizzle-orm';
import type { Db, Tx } from './client.js';
import { charges, disputes, paymentProcessors, type DisputeRow } from './schema/index.js';

export async function disputeOf(db: Db | Tx, accountId: string, id: string): Promise<DisputeRow | null> {
  const [row] = await db.select().from(disputes).where(and(eq(disputes.id, id), eq(disputes.accountId, accountId)));
  return row ?? null;
}

export async function disputesOfCharge(db: Db | Tx, chargeId: string): Promise<DisputeRow[]> {
  return db.select().from(disputes).where(eq(disputes.chargeId, chargeId)).orderBy(asc(disputes.id));
}

/** What a dispute's view shows of its charge, by the charge's id. */
export async function disputedCharges(db: Db | Tx, chargeIds: string[]): Promise<Map<string, { currency: string; processorPaymentId: string | null }>> {
  if (chargeIds.length === 0) return new Map();
  const rows = await db
    .select({ id: charges.id, currency: charges.currency, processorPaymentId: charges.processorPaymentId })
    .from(charges)
    .where(inArray(charges.id, chargeIds));
  return new Map(rows.map((row) => [row.id, row]));
}

/** The payment that a processor of the account knows by this id. */
export async function intentIdByTheirs(db: Db, accountId: string, processorPaymentId: string): Promise<string | null> {
  const own = db.select({ id: paymentProcessors.id }).from(paymentProcessors).where(eq(paymentProcessors.accountId, accountId));
  const [row] = await db
    .select({ intentId: charges.paymentIntentId })
    .from(charges)
    .where(and(inArray(charges.processorId, own), eq(charges.processorPaymentId, processorPaymentId)));
  return row?.intentId ?? null;
}
