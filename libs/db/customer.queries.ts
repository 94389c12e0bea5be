import { and, eq, isNull, sql } from 'drizzle-orm';
import type { CustomerTotals } from '../views/customer.view.js';
import type { Db, Tx } from './client.js';
import { customers, type CustomerRow } from './schema/index.js';

export async function findCustomer(db: Db | Tx, accountId: string, id: string): Promise<CustomerRow | null> {
  const own = and(eq(customers.accountId, accountId), eq(customers.id, id), isNull(customers.deletedAt));
  const [row] = await db.select().from(customers).where(own);
  return row ?? null;
}

interface RawTotals {
  balances: Record<string, number> | null;
  payments: { currency: string; spent: number; refunded: number }[] | null;
  statuses: string[] | null;
}

/** Drizzle leaves the table's name out where it can; in a subquery the column would then be another table's. */
const customerId = sql.raw('"customers"."id"');

/** What other tables say of the customer in the row of the surrounding query. */
const totals = sql<RawTotals>`json_build_object(
  'balances', (select json_object_agg(b.currency, b.atoms) from
    (select currency, sum(amount_atom) as atoms from customer_balance_transactions where customer_id = ${customerId} group by currency) b),
  'payments', (select json_agg(p) from
    (select currency, sum(amount_received_atom) as spent, sum(amount_refunded_atom) as refunded from payment_intents
      where customer_id = ${customerId} and amount_received_atom > 0 group by currency) p),
  'statuses', (select json_agg(distinct s.status) from subscriptions s where s.customer_id = ${customerId}))`;

type Reader = (accountId: string, id: string) => Promise<{ row: CustomerRow; totals: RawTotals }[]>;
const readers = new WeakMap<Db, Reader>();

/** A prepared statement: this read is the one that callers repeat most. */
function readerOf(db: Db): Reader {
  const known = readers.get(db);
  if (known) return known;
  const own = and(eq(customers.accountId, sql.placeholder('accountId')), eq(customers.id, sql.placeholder('id')), isNull(customers.deletedAt));
  const statement = db.select({ row: customers, totals }).from(customers).where(own).prepare('customer_by_id');
  const reader: Reader = (accountId, id) => statement.execute({ accountId, id });
  readers.set(db, reader);
  return reader;
}

export async function readCustomer(db: Db, accountId: string, id: string): Promise<{ row: CustomerRow; totals: CustomerTotals } | null> {
  const [found] = await readerOf(db)(accountId, id);
  return found ? { row: found.row, totals: readTotals(found.totals) } : null;
}

/** Totals of a page of customers, by id. */
export async function readCustomerTotals(db: Db, ids: string[]): Promise<Map<string, CustomerTotals>> {
  if (ids.length === 0) return new Map();
  const rows = await db.select({ id: customers.id, totals }).from(customers).where(sql`${customers.id} = any(${sql.param(ids)}::uuid[])`);
  return new Map(rows.map((row) => [row.id, readTotals(row.totals)]));
}

function readTotals({ balances, payments, statuses }: RawTotals): CustomerTotals {
  const paid = payments ?? [];
  return {
    balances: balances ?? {},
    spent: Object.fromEntries(paid.map(({ currency, spent }) => [currency, spent])),
    refunded: Object.fromEntries(paid.filter(({ refunded }) => refunded > 0).map(({ currency, refunded }) => [currency, refunded])),
    status: statusOf(statuses ?? []),
  };
}

function statusOf(statuses: string[]): CustomerTotals['status'] {
  if (statuses.length === 0) return 'inactive';
  if (statuses.includes('active')) return 'active';
  if (statuses.includes('trialing')) return 'trialing';
  return statuses.includes('paused') ? 'inactive' : 'cancelled';
}
