import { sql } from 'drizzle-orm';
import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { connect, type Database } from '../../libs/db/client.js';
import { appendEvents } from '../../libs/db/event.writes.js';
import { newId } from '../../libs/db/mint.js';
import { settleRestoredPositions } from '../../libs/db/restored-positions.writes.js';
import { freshAccount, type TestAccount } from '../support/account.js';
import { eventually, shared } from '../support/stack.js';

let database: Database;
let account: TestAccount;

beforeAll(async () => {
  database = connect(shared.databaseUrlStaging, { max: 2 });
  account = await freshAccount();
});
afterAll(() => database.close());

async function emit(): Promise<string> {
  const change = systemChange('staging', account.id);
  const objectId = newId();
  await transact(database.db, change, (tx) => appendEvents(tx, change, [{ type: 'customer.created', kind: 'cus', objectId, data: {}, previous: null }]));
  return objectId;
}

async function listed(): Promise<string[]> {
  const { body } = await account.readOnly.get('/events?type=customer.created&limit=50');
  return body.data.map((event: { id: string }) => event.id);
}

it('events that were loaded from another Postgres are listed again, before what is written since', async () => {
  await emit();
  await emit();
  const before = await eventually(async () => ((await listed()).length === 2 ? listed() : null));
  await database.db.execute(sql`update events set tx_id = (pg_snapshot_xmax(pg_current_snapshot())::text::bigint + 1000000)::text::xid8 where account_id = ${account.id}`);
  expect(await listed()).toEqual([]);
  expect(await settleRestoredPositions(database.db)).toBeGreaterThanOrEqual(2);
  expect(await settleRestoredPositions(database.db)).toBe(0);
  expect(await listed()).toEqual(before);
  await emit();
  const after = await eventually(async () => ((await listed()).length === 3 ? listed() : null));
  expect(after.slice(1)).toEqual(before);
});
