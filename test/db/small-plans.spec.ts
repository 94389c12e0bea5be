import { sql } from 'drizzle-orm';
import { connect, type Database } from '../../libs/db/client.js';
import { dueDeliveries } from '../../libs/db/delivery.queries.js';
import { recordDelivered } from '../../libs/db/delivery.writes.js';
import { newId } from '../../libs/db/mint.js';
import { writeTogether } from '../../libs/db/together.js';
import { deliveredAttempt, openLarge, type Large } from './large.stage.js';

let large: Large;
let one: Database;

beforeAll(async () => {
  large = await openLarge(300);
  one = connect(large.url, { max: 1 });
}, 60_000);
afterAll(async () => {
  await one?.close();
  await large?.close();
}, 60_000);

const grownBy = 20_000;

/** What the database counted of a table so far. */
async function counted(table: string, figure: string): Promise<number> {
  await one.db.execute(sql`select pg_stat_force_next_flush()`);
  const { rows } = await one.db.execute<{ count: string }>(sql`select ${sql.raw(figure)} as count from pg_stat_user_tables where relname = ${table}`);
  return Number(rows[0]!.count);
}

/** Rows of the deliveries' table that were looked at so far, by whatever index. */
const looked = () => counted('webhook_deliveries', 'coalesce(idx_tup_fetch, 0) + coalesce(seq_tup_read, 0)');

async function record(): Promise<number> {
  const page = await dueDeliveries(one.db, large.behind, { limit: 5, except: [] });
  expect(page).toHaveLength(5);
  const before = await looked();
  const streak = await recordDelivered(one.db, { endpointId: large.behind, epoch: 0 }, page.map(({ id }) => deliveredAttempt(id)));
  expect(streak).toMatchObject({ consecutiveFailures: 0 });
  return (await looked()) - before;
}

describe('a plan that was made while the tables were small', () => {
  it('does not read all deliveries to record a few, once there are many', async () => {
    expect(await record()).toBeLessThan(1_000);
    await one.db.execute(sql`
      insert into webhook_deliveries (id, account_id, event_id, endpoint_id, object_id, sequence, status, finished_at, created_at, updated_at)
      select gen_random_uuid(), ${large.account}, gen_random_uuid(), ${newId()}, gen_random_uuid(), 1, 'delivered', now(), now(), now() from generate_series(1, ${grownBy})`);
    expect(await record()).toBeLessThan(1_000);
  });

  it('goes by the key in what shares a transaction, also where the whole table is one page', async () => {
    const scans = () => counted('webhook_endpoints', 'seq_scan');
    const before = await scans();
    const text = 'update webhook_endpoints set version = version + 1 where id = $1 returning id';
    const rows = await Promise.all([large.busy, large.calm].map((id) => writeTogether(one.db, [{ text, values: [id] }], id)));
    expect(rows).toEqual([[[{ id: large.busy }]], [[{ id: large.calm }]]]);
    expect(await scans()).toBe(before);
  });
});
