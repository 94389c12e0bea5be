import { and, eq, sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { customerBalanceTransactionView } from '../views/customer-balance-transaction.view.js';
import type { Tx } from './client.js';
import { appendEvents } from './event.writes.js';
import { newId } from './mint.js';
import { customerBalanceTransactions, customers } from './schema/index.js';

export interface BalanceEntry {
  customerId: string;
  currency: string;
  /** Atoms; positive is to the customer's credit. */
  amountAtom: number;
  type: 'adjustment' | 'applied_to_invoice' | 'unapplied_from_invoice';
  description: string | null;
  invoiceId: string | null;
}

/** The customer's credit after locking it against other entries, in atoms. */
export async function lockBalance(tx: Tx, accountId: string, owner: { customerId: string; currency: string }): Promise<number> {
  await tx.select({ id: customers.id }).from(customers).where(eq(customers.id, owner.customerId)).for('no key update');
  const [row] = await tx
    .select({ sum: sql<string>`coalesce(sum(${customerBalanceTransactions.amountAtom}), 0)` })
    .from(customerBalanceTransactions)
    .where(
      and(
        eq(customerBalanceTransactions.accountId, accountId),
        eq(customerBalanceTransactions.customerId, owner.customerId),
        eq(customerBalanceTransactions.currency, owner.currency),
      ),
    );
  return Number(row?.sum ?? 0);
}

/** Event `customer_balance_transaction.created`. */
export async function enterBalance(tx: Tx, change: Change, entry: BalanceEntry, at: Date): Promise<void> {
  const before = await lockBalance(tx, change.accountId, entry);
  const row = {
    ...entry,
    id: newId(),
    accountId: change.accountId,
    endingBalanceAmountAtom: before + entry.amountAtom,
    commandId: change.commandId,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
  await tx.insert(customerBalanceTransactions).values(row);
  await appendEvents(tx, change, [
    {
      type: 'customer_balance_transaction.created',
      kind: 'cbt',
      objectId: row.id,
      customerId: row.customerId,
      data: customerBalanceTransactionView(row, change.environment),
      previous: null,
    },
  ]);
}
