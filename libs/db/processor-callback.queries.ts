import { and, eq } from 'drizzle-orm';
import type { Db } from './client.js';
import { charges, paymentProcessors, type ChargeRow, type PaymentProcessorRow } from './schema/index.js';

/** The connection that a callback names: of any account, deleted ones too, because their payments are still settled. */
export async function connectionById(db: Db, id: string): Promise<PaymentProcessorRow | null> {
  const [row] = await db.select().from(paymentProcessors).where(eq(paymentProcessors.id, id));
  return row ?? null;
}

/** The charge of a connection that a processor speaks of: by our reference, else by its own id. */
export async function chargeToldOf(
  db: Db,
  processorId: string,
  told: { reference: string | null; processorPaymentId: string },
): Promise<ChargeRow | null> {
  const byReference = told.reference === null ? [] : await db.select().from(charges).where(and(eq(charges.processorId, processorId), eq(charges.reference, told.reference)));
  if (byReference[0]) return byReference[0];
  const [row] = await db
    .select()
    .from(charges)
    .where(and(eq(charges.processorId, processorId), eq(charges.processorPaymentId, told.processorPaymentId)));
  return row ?? null;
}
