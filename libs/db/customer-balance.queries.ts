import { and, desc, eq } from 'drizzle-orm';
import type { Db, Tx } from './client.js';
import { customerBalanceTransactions, type CustomerBalanceTransactionRow } from './schema/index.js';

/** Newest first. */
export async function balanceEntries(db: Db, accountId: string, customerId: string): Promise<CustomerBalanceTransactionRow[]> {
  return db
    .select()
    .from(customerBalanceTransactions)
    .where(ofCustomer(accountId, customerId))
    .orderBy(desc(customerBalanceTransactions.id));
}

export async function findBalanceEntry(
  db: Db | Tx,
  accountId: string,
  { customerId, id }: { customerId: string; id: string },
): Promise<CustomerBalanceTransactionRow | null> {
  const [row] = await db
    .select()
    .from(customerBalanceTransactions)
    .where(and(ofCustomer(accountId, customerId), eq(customerBalanceTransactions.id, id)));
  return row ?? null;
}

function ofCustomer(accountId: string, customerId: string) {
  return and(eq(customerBalanceTransactions.accountId, accountId), eq(customerBalanceTransactions.customerId, customerId));
}
