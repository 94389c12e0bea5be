import { and, asc, eq, isNull } from 'drizzle-orm';
import type { Db, Tx } from './client.js';
import { paymentProcessors, type PaymentProcessorRow } from './schema/index.js';

/** A connection of the account that is not deleted. */
export async function findProcessor(db: Db | Tx, accountId: string, id: string): Promise<PaymentProcessorRow | null> {
  const [row] = await db.select().from(paymentProcessors).where(ofAccount(accountId, id));
  return row ?? null;
}

/** Enabled connections, oldest first. */
export async function enabledProcessors(db: Db | Tx, accountId: string): Promise<PaymentProcessorRow[]> {
  return db
    .select()
    .from(paymentProcessors)
    .where(and(eq(paymentProcessors.accountId, accountId), eq(paymentProcessors.isEnabled, true), isNull(paymentProcessors.deletedAt)))
    .orderBy(asc(paymentProcessors.id));
}

/** @internal the condition of `findProcessor`, for a lock. */
export function ofAccount(accountId: string, id: string) {
  return and(eq(paymentProcessors.id, id), eq(paymentProcessors.accountId, accountId), isNull(paymentProcessors.deletedAt));
}
