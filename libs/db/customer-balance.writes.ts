import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { invalidField, notFound } from '../errors/domain-error.js';
import { customerBalanceTransactionView } from '../views/customer-balance-transaction.view.js';
import type { Tx } from './client.js';
import { findBalanceEntry } from './customer-balance.queries.js';
import { appendEvents } from './event.writes.js';
import { newId } from './mint.js';
import { customerBalanceTransactions, customers, type CustomerBalanceTransactionRow } from './schema/index.js';

export interface BalanceEntry {
  /** Default: a new one. */
  id?: string;
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
export async function enterBalance(tx: Tx, change: Change, entry: BalanceEntry, at: Date): Promise<CustomerBalanceTransactionRow> {
  const before = await lockBalance(tx, change.accountId, entry);
  const row = {
    ...entry,
    id: entry.id ?? newId(),
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
  return row;
}

export interface BalanceAdjustment {
  id: string;
  customerId: string;
  currency: string;
  /** Atoms; positive is to the customer's credit. */
  amountAtom: number;
  description: string | null;
}

/**
 * A person's correction of a customer's credit; event `customer_balance_transaction.created`. A retry of the same command finds
 * the row and adds nothing.
 * @throws DomainError 404; 422 when it takes more than there is, or leaves more than a number holds exactly.
 */
export async function adjustBalance(tx: Tx, change: Change, wish: BalanceAdjustment): Promise<CustomerBalanceTransactionRow> {
  const own = and(eq(customers.id, wish.customerId), eq(customers.accountId, change.accountId), isNull(customers.deletedAt));
  const [customer] = await tx.select({ id: customers.id }).from(customers).where(own).for('no key update');
  if (!customer) throw notFound('customer');
  const known = await findBalanceEntry(tx, change.accountId, wish);
  if (known) return known;
  const before = await lockBalance(tx, change.accountId, wish);
  const ending = before + wish.amountAtom;
  if (wish.amountAtom < 0 && ending < 0) throw invalidField('amount_atom', `The customer's credit is ${before} atoms in ${wish.currency}`);
  if (!Number.isSafeInteger(ending)) throw invalidField('amount_atom', 'The credit would be too large');
  return enterBalance(tx, change, { ...wish, type: 'adjustment', invoiceId: null }, new Date());
}
