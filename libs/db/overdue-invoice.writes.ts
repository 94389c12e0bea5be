import { and, asc, eq, isNull, lt } from 'drizzle-orm';
import type { Environment } from '../domain/environment.js';
import { transact } from './change.js';
import type { Db } from './client.js';
import { markPastDue } from './invoice.writes.js';
import { derivedId } from './mint.js';
import { customers, invoices, type InvoiceRow } from './schema/index.js';

const batch = 100;

/**
 * Sent invoices that a person made and whose due date has passed, oldest first; uses `invoices_due`. Those of customers on a
 * test clock follow that clock, named by `testClockId`; null: real time.
 */
export async function overdueInvoices(db: Db, { at, testClockId, limit = batch }: { at: Date; testClockId: string | null; limit?: number }): Promise<InvoiceRow[]> {
  const rows = await db
    .select({ invoice: invoices })
    .from(invoices)
    .innerJoin(customers, eq(customers.id, invoices.customerId))
    .where(and(
      eq(invoices.billingReason, 'manual'),
      eq(invoices.status, 'open'),
      eq(invoices.collectionMethod, 'send_invoice'),
      lt(invoices.dueDate, at),
      testClockId === null ? isNull(customers.testClockId) : eq(customers.testClockId, testClockId),
    ))
    .orderBy(asc(invoices.dueDate), asc(invoices.id))
    .limit(limit);
  return rows.map(({ invoice }) => invoice);
}

/** Event `invoice.past_due`; nothing if the invoice was paid meanwhile. Running twice, or in two workers, changes nothing more. */
export async function passDueDate(db: Db, environment: Environment, { invoice, at, clockTime }: { invoice: InvoiceRow; at: Date; clockTime: string | null }): Promise<void> {
  const change = {
    accountId: invoice.accountId,
    environment,
    actor: 'system',
    requestId: null,
    idempotencyKey: null,
    commandId: derivedId('invoice due date', invoice.id),
    clockTime,
  };
  await transact(db, change, (tx) => markPastDue(tx, change, { invoiceId: invoice.id, message: null, at }));
}
