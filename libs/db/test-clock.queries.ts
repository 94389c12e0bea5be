import { and, asc, eq, inArray, isNull, ne, sql } from 'drizzle-orm';
import { DomainError } from '../errors/domain-error.js';
import type { Db, Tx } from './client.js';
import type { Clockwork } from './subscription.queries.js';
import { customers, subscriptions, testClocks, type CustomerRow, type SubscriptionRow, type TestClockRow } from './schema/index.js';

/** Deleted ones count as absent. */
export async function findTestClock(db: Db | Tx, accountId: string, id: string): Promise<TestClockRow | undefined> {
  const [row] = await db
    .select()
    .from(testClocks)
    .where(and(eq(testClocks.id, id), eq(testClocks.accountId, accountId), isNull(testClocks.deletedAt)));
  return row;
}

/** A deleted one too: its workflow still ends what lived on it. */
export async function testClockById(db: Db | Tx, id: string): Promise<TestClockRow | undefined> {
  const [row] = await db.select().from(testClocks).where(eq(testClocks.id, id));
  return row;
}

/** The time that the customer's test clock shows; null for a customer on real time. */
export async function customerTime(db: Db | Tx, customerId: string): Promise<Date | null> {
  const [row] = await db
    .select({ frozenTime: testClocks.frozenTime })
    .from(customers)
    .innerJoin(testClocks, eq(testClocks.id, customers.testClockId))
    .where(eq(customers.id, customerId));
  return row?.frozenTime ?? null;
}

/** The customer's own now: what its test clock shows, else the real time. */
export async function nowOf(db: Db | Tx, customerId: string): Promise<Date> {
  return (await customerTime(db, customerId)) ?? new Date();
}

/** The time of a test clock, without jitter; without a clock the one given. */
export async function clockworkOf(db: Db | Tx, testClockId: string | null, real: Clockwork): Promise<Clockwork> {
  const clock = testClockId === null ? undefined : await testClockById(db, testClockId);
  return clock ? { now: clock.frozenTime, jitterSeconds: 0 } : real;
}

/** Before a command is sent; its transaction asks again. @throws DomainError 409 `test_clock_advancing` */
export async function assertClockStands(db: Db | Tx, testClockId: string | null): Promise<void> {
  const clock = testClockId === null ? undefined : await testClockById(db, testClockId);
  if (clock?.status === 'advancing' && clock.deletedAt === null) throw new DomainError('test_clock_advancing', undefined, { retryAfterSeconds: 1 });
}

const living = (clockId: string) => and(eq(subscriptions.testClockId, clockId), ne(subscriptions.status, 'cancelled'));

/** Members in the order in which they act up to `until`, the next one first; at most `limit`. */
export async function nextMembers(db: Db, clockId: string, until: Date, limit: number): Promise<SubscriptionRow[]> {
  return db
    .select()
    .from(subscriptions)
    .where(and(living(clockId), sql`${subscriptions.nextActionAt} <= ${until.toISOString()}::timestamptz`))
    .orderBy(asc(subscriptions.nextActionAt), asc(subscriptions.id))
    .limit(limit);
}

/** Members whose rows may say something new without a due time: a payment under way, money owed, a resume that waits. */
export async function restlessMembers(db: Db, clockId: string): Promise<SubscriptionRow[]> {
  return db
    .select()
    .from(subscriptions)
    .where(
      and(
        eq(subscriptions.testClockId, clockId),
        sql`(charging_invoice_id is not null or (status <> 'cancelled'
          and (dunning is not null or resuming or billing_status in ('past_due', 'incomplete', 'unpaid'))))`,
      ),
    )
    .orderBy(asc(subscriptions.id));
}

export async function livingMembers(db: Db, clockId: string, limit: number): Promise<SubscriptionRow[]> {
  return db.select().from(subscriptions).where(living(clockId)).orderBy(asc(subscriptions.id)).limit(limit);
}

export async function clockCustomers(db: Db, clockId: string, limit: number): Promise<CustomerRow[]> {
  return db
    .select()
    .from(customers)
    .where(and(eq(customers.testClockId, clockId), isNull(customers.deletedAt)))
    .orderBy(asc(customers.id))
    .limit(limit);
}

/** Clocks that should be moving, or be cleared after their deletion, and that nobody has touched for a while. */
export async function idleTestClocks(db: Db, { idleSeconds, limit }: { idleSeconds: number; limit: number }): Promise<TestClockRow[]> {
  const before = sql`clock_timestamp() - make_interval(secs => ${idleSeconds})`;
  const { rows } = await db.execute<{ id: string }>(sql`
    (select id from test_clocks where status = 'advancing' and deleted_at is null and updated_at < ${before} order by updated_at limit ${limit})
    union
    (select k.id from customers c join test_clocks k on k.id = c.test_clock_id
      where c.test_clock_id is not null and c.deleted_at is null and k.deleted_at < ${before} limit ${limit})`);
  if (rows.length === 0) return [];
  return db.select().from(testClocks).where(inArray(testClocks.id, rows.map(({ id }) => id)));
}
