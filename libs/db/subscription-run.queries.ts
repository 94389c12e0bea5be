import { eq } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { SubscriptionRun } from '../domain/subscription/subscription.command.js';
import { publicId } from '../views/ids.js';
import type { Db, Tx } from './client.js';
import { testClockById } from './test-clock.queries.js';
import { invoices, type SubscriptionRow } from './schema/index.js';

/** What the workflow holds of the row. */
export async function runOf(db: Db | Tx, row: SubscriptionRow, change: Pick<Change, 'environment'>): Promise<SubscriptionRun> {
  const intentId = row.chargingInvoiceId ? await intentOfInvoice(db, row.chargingInvoiceId) : null;
  const run = runFrom(row, change, intentId);
  return row.testClockId === null ? run : { ...run, nextActionAt: await dueOnClock(db, row) };
}

/** The same where the payment of `chargingInvoiceId` is known, of a row on real time. */
export function runFrom(row: SubscriptionRow, { environment }: Pick<Change, 'environment'>, intentId: string | null): SubscriptionRun {
  const onClock = row.testClockId !== null;
  return {
    version: row.version,
    status: row.status,
    billingStatus: row.billingStatus,
    nextActionAt: row.nextActionAt?.toISOString() ?? null,
    charging: intentId ? { intentId, publicId: publicId('pi', environment, intentId) } : null,
    ended: row.status === 'cancelled' && row.chargingInvoiceId === null,
    ...(onClock ? { onClock } : {}),
  };
}

/** Its workflow has no timer: what the clock has brought about already is due at once, the rest when the clock moves. */
async function dueOnClock(db: Db | Tx, { testClockId, nextActionAt }: SubscriptionRow): Promise<string | null> {
  if (!testClockId || !nextActionAt) return null;
  const clock = await testClockById(db, testClockId);
  return clock && nextActionAt <= clock.frozenTime ? new Date(0).toISOString() : null;
}

async function intentOfInvoice(db: Db | Tx, invoiceId: string): Promise<string | null> {
  const [row] = await db.select({ intentId: invoices.paymentIntentId }).from(invoices).where(eq(invoices.id, invoiceId));
  return row?.intentId ?? null;
}
