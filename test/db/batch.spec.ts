import { sql } from 'drizzle-orm';
import { isStale, isStatementError, orFail, sendBatch, type Statement } from '../../libs/db/batch.js';
import { connect, type Database } from '../../libs/db/client.js';
import { newId } from '../../libs/db/mint.js';
import { accounts } from '../../libs/db/schema/index.js';
import { clockTimestamp, insertStatement, updateStatement } from '../../libs/db/statement.js';
import { shared } from '../support/stack.js';

let database: Database;

beforeAll(() => {
  database = connect(shared.databaseUrlStaging, { max: 2 });
});
afterAll(() => database.close());

const now = new Date();
const account = (id: string, name = 'batch spec') => ({ id, name, execution: 'inline', createdAt: now, updatedAt: now });
const named = async (id: string) => (await database.db.select({ name: accounts.name }).from(accounts).where(sql`id = ${id}`))[0]?.name;
const rename = (id: string, name: string, version: number): Statement =>
  updateStatement(accounts, { name, version: version + 1 }, { text: 'id = ? and version = ?', values: [id, version], returning: 'name as written' });

describe('a batch of statements', () => {
  it('answers the rows of each statement in its order, with the driver\'s types', async () => {
    const id = newId();
    const [, read, none] = await sendBatch(database.db, [
      insertStatement(accounts, [account(id)]),
      { text: 'select id, version, created_at, default_payment_route_id from accounts where id = $1', values: [id] },
      { text: 'select 1 where $1::int = 2', values: [1] },
    ]);
    expect(read).toEqual([{ id, version: 1, created_at: now, default_payment_route_id: null }]);
    expect(none).toEqual([]);
  });

  it('is all or nothing', async () => {
    const [first, second] = [newId(), newId()];
    const broken = sendBatch(database.db, [insertStatement(accounts, [account(first)]), insertStatement(accounts, [account(second), account(second)])]);
    await expect(broken).rejects.toMatchObject({ code: '23505' });
    expect(await named(first)).toBeUndefined();
  });

  it('writes nothing when a statement that must touch a row touches none', async () => {
    const id = newId();
    await sendBatch(database.db, [insertStatement(accounts, [account(id)])]);
    const other = newId();
    const stale = await sendBatch(database.db, [insertStatement(accounts, [account(other)]), orFail(rename(id, 'new', 7), ['written'])]).catch((error: unknown) => error);
    expect(isStale(stale)).toBe(true);
    expect([await named(other), await named(id)]).toEqual([undefined, 'batch spec']);
    const [written] = await sendBatch(database.db, [orFail(rename(id, 'new', 1), ['written'])]);
    expect(written).toEqual([{ touched: true, written: 'new' }]);
  });

  it('goes on with the same connection and the same statements after a refused batch', async () => {
    const id = newId();
    const only = connect(shared.databaseUrlStaging, { max: 1 });
    try {
      await expect(sendBatch(only.db, [orFail(rename(id, 'no row', 1), ['written'])])).rejects.toThrow();
      for (const name of ['one', 'two']) {
        const fresh = newId();
        await sendBatch(only.db, [insertStatement(accounts, [account(fresh, 'x')]), orFail(rename(fresh, name, 1), ['written'])]);
        expect(await named(fresh)).toBe(name);
      }
      const { rows } = await only.db.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`);
      expect(rows).toHaveLength(1);
    } finally {
      await only.close();
    }
  });

  it('tells a lost connection from a refused statement, and the pool goes on', async () => {
    const errors: Error[] = [];
    const only = connect(shared.databaseUrlStaging, { max: 1, onError: (error) => errors.push(error) });
    try {
      const lost = await sendBatch(only.db, [{ text: 'select pg_terminate_backend(pg_backend_pid())', values: [] }, { text: 'select 1 as one', values: [] }]).catch((error: unknown) => error);
      expect(lost).toBeInstanceOf(Error);
      expect([isStale(lost), isStatementError(lost)]).toEqual([false, false]);
      const [rows] = await sendBatch(only.db, [{ text: 'select 1 as one', values: [] }]);
      expect(rows).toEqual([{ one: 1 }]);
    } finally {
      await only.close();
    }
  });

  it('takes the database\'s clock as a literal', async () => {
    const id = newId();
    await sendBatch(database.db, [insertStatement(accounts, [{ ...account(id), createdAt: clockTimestamp }])]);
    const [row] = await database.db.select({ at: accounts.createdAt }).from(accounts).where(sql`id = ${id}`);
    expect(Math.abs(row!.at.getTime() - Date.now())).toBeLessThan(60_000);
  });
});
