import { sql } from 'drizzle-orm';
import { isStale, isStatementError, orFail, type Statement } from '../../libs/db/batch.js';
import { connect, type Database } from '../../libs/db/client.js';
import { newId } from '../../libs/db/mint.js';
import { statementsSent } from '../../libs/db/prepared-client.js';
import { accounts } from '../../libs/db/schema/index.js';
import { insertStatement, updateStatement } from '../../libs/db/statement.js';
import { readTogether, writeNumbered, writeTogether } from '../../libs/db/together.js';
import { shared } from '../support/stack.js';

let database: Database;

beforeAll(() => {
  database = connect(shared.databaseUrlStaging, { max: 8, onError: () => undefined });
});
afterAll(() => database.close());

const now = new Date();
const open = (id: string, name = 'together spec') => insertStatement(accounts, [{ id, name, execution: 'inline', createdAt: now, updatedAt: now }]);
const rename = (id: string, name: string, version = 1): Statement =>
  orFail(updateStatement(accounts, { name, version: version + 1 }, { text: 'id = ? and version = ?', values: [id, version], returning: 'name as written' }), ['written']);
const write = (id: string, ...statements: Statement[]) => writeTogether(database.db, statements, id);
const ids = (count: number) => Array.from({ length: count }, newId);

async function rowsOf(...wanted: string[]): Promise<{ id: string; name: string; writer: string }[]> {
  const { rows } = await database.db.execute<{ id: string; name: string; writer: string }>(
    sql`select id, name, xmin::text as writer from accounts where id = any(${sql.param(wanted)}::uuid[]) order by id`);
  return rows;
}

async function holding(id: string, during: (letGo: () => void) => Promise<void>): Promise<void> {
  let letGo = (): void => undefined;
  const released = new Promise<void>((resolve) => (letGo = resolve));
  let holder: Promise<void> | undefined;
  await new Promise<void>((held) => {
    holder = database.db.transaction(async (tx) => {
      await tx.execute(sql`select 1 from accounts where id = ${id} for update`);
      held();
      await released;
    });
  });
  try {
    await during(letGo);
  } finally {
    letGo();
    await holder;
  }
}

describe('batches that come at the same time', () => {
  it('share a transaction, and each caller gets the rows of its own statements', async () => {
    const all = ids(11);
    const answers = await Promise.all(all.map((id) => write(id, open(id), rename(id, `name of ${id}`))));
    expect(answers).toEqual(all.map((id) => [[], [{ touched: true, written: `name of ${id}` }]]));
    const written = await rowsOf(...all);
    expect(written.map(({ name }) => name)).toEqual(all.map((id) => `name of ${id}`));
    expect(new Set(written.map(({ writer }) => writer)).size).toBe(1);
  });

  it('write the others when one is refused, which gets its own error', async () => {
    const [before, twice, after, ...more] = ids(6) as [string, string, string, ...string[]];
    await write(twice, open(twice));
    const asked = [before, after, ...more].map((id) => write(id, open(id)));
    const duplicate = write(twice, open(twice)).catch((error: unknown) => error);
    const stale = write(twice, rename(twice, 'too late', 7), open(newId())).catch((error: unknown) => error);
    await Promise.all(asked);
    expect(await rowsOf(before, after, ...more)).toHaveLength(5);
    expect(await duplicate).toMatchObject({ code: '23505' });
    expect([isStale(await duplicate), isStale(await stale)]).toEqual([true, true]);
    expect((await rowsOf(twice))[0]!.name).toBe('together spec');
  });

  it('write nothing of a batch whose last statement is refused, and all of its neighbours', async () => {
    const [half, whole] = ids(2) as [string, string];
    const refused = write(half, open(half), rename(half, 'never', 7)).catch((error: unknown) => error);
    const [, written] = await Promise.all([refused, write(whole, open(whole), rename(whole, 'whole'))]);
    expect(isStale(await refused)).toBe(true);
    expect(written[1]).toEqual([{ touched: true, written: 'whole' }]);
    expect((await rowsOf(half, whole)).map(({ id }) => id)).toEqual([whole]);
  });

  it('all learn that a connection was lost and nobody knows what happened; those after them go on', async () => {
    const [first, second, third] = ids(3) as [string, string, string];
    const broken = { text: 'select pg_terminate_backend(pg_backend_pid())', values: [] };
    const told = await Promise.allSettled([write(first, open(first)), write(second, broken), write(third, open(third))]);
    expect(told.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(told.some((each) => isStatementError((each as PromiseRejectedResult).reason))).toBe(false);
    await write(first, open(first));
    expect((await rowsOf(first, third)).map(({ id }) => id)).toEqual([first]);
  });

  it('do not wait for a row that somebody else holds, except the one that needs it', async () => {
    const [held, free] = ids(2) as [string, string];
    await Promise.all([write(held, open(held)), write(free, open(free))]);
    await holding(held, async (letGo) => {
      const waits = write(held, rename(held, 'waited'));
      await write(free, rename(free, 'at once'));
      expect((await rowsOf(held, free)).map(({ name }) => name)).toEqual(['together spec', 'at once']);
      letGo();
      expect((await waits)[0]).toEqual([{ touched: true, written: 'waited' }]);
    });
  });

  it('leave although earlier ones still wait for rows', async () => {
    const [free, ...held] = ids(4) as [string, ...string[]];
    await Promise.all([free, ...held].map((id) => write(id, open(id))));
    const waits: Promise<unknown>[] = [];
    const holdAll = async ([id, ...rest]: string[]): Promise<void> => {
      if (id === undefined) return void (await write(free, rename(free, 'free')));
      await holding(id, async () => {
        waits.push(write(id, rename(id, 'waited')));
        await new Promise(setImmediate);
        await holdAll(rest);
      });
    };
    await holdAll(held);
    await Promise.all(waits);
    expect((await rowsOf(free, ...held)).map(({ name }) => name)).toEqual(['free', 'waited', 'waited', 'waited']);
  });
});

describe('guards of batches that come at the same time', () => {
  const thereAre = (count: number, wanted: string[]): Statement => ({
    ...orFail({ text: 'select 1 where (select count(*) from accounts where id = any($1::uuid[])) = $2', values: [wanted, count] }, []),
    guard: true,
  });

  it('are asked once for all that ask the same, after all of them have written', async () => {
    const all = ids(3);
    const before = statementsSent();
    const answers = await Promise.all(all.map((id) => write(id, thereAre(3, all), open(id), rename(id, 'guarded'))));
    expect(answers).toEqual(all.map(() => [[{ touched: true }], [], [{ touched: true, written: 'guarded' }]]));
    expect(statementsSent() - before).toBe(['settings', 'insert of 2', 'insert of 1', ...all, 'guard'].length);
  });

  it('keep back those that ask, and nobody else, where they do not hold', async () => {
    const [free, ...bound] = ids(3) as [string, ...string[]];
    const refused = bound.map((id) => write(id, thereAre(7, bound), open(id)).catch((error: unknown) => error));
    await Promise.all([...refused, write(free, thereAre(1, [free]), open(free))]);
    expect((await Promise.all(refused)).map(isStale)).toEqual([true, true]);
    expect((await rowsOf(free, ...bound)).map(({ id }) => id)).toEqual([free]);
  });
});

describe('reads that come at the same time', () => {
  const number = (value: unknown): Statement => ({ text: 'select $1::int as number, pg_backend_pid() as pid, now()::text as began', values: [value] });

  it('share a round trip and answer each caller; a refused one fails alone', async () => {
    const wrong = readTogether(database.db, [number('x')]).catch((error: unknown) => error);
    const answers = await Promise.all([1, 2, 3].map((value) => readTogether(database.db, [number(value), number(-value)])));
    expect(answers.map((rows) => rows.map(([row]) => row!.number))).toEqual([[1, -1], [2, -2], [3, -3]]);
    expect(new Set(answers.flat(2).map(({ began }) => began)).size).toBe(1);
    expect(isStatementError(await wrong)).toBe(true);
  });
});

describe('listed reads that come at the same time', () => {
  const doubled = (value: unknown): Statement => ({
    text: 'select q.at::int as at, q.number * 2 as doubled from unnest($1::int[]) with ordinality as q(number, at) where q.number <> 3',
    values: [[value]],
    listed: true,
  });
  const read = async (...values: unknown[]) => (await readTogether(database.db, values.map(doubled))).map((rows) => rows.map((row) => row.doubled));

  it('are one statement, and each caller gets its own rows or none', async () => {
    const before = statementsSent();
    expect(await Promise.all([read(1), read(2, 3), read(3), read(4, 5)])).toEqual([[[2]], [[4], []], [[]], [[8], [10]]]);
    expect(statementsSent() - before).toBe(['settings', 'list'].length);
    expect(await read(6)).toEqual([[12]]);
  });

  it('fail alone where one is refused', async () => {
    const wrong = read('x').catch((error: unknown) => error);
    expect(await Promise.all([read(1), read(null)])).toEqual([[[2]], [[]]]);
    expect(isStatementError(await wrong)).toBe(true);
  });
});

describe('batches that need a consecutive number', () => {
  /** Writes its number into the row's name. */
  const numbered = (accountId: string, id: string, ...guards: Statement[]) =>
    writeNumbered(database.db, { accountId, guards, order: id, write: (number) => Promise.resolve([open(id, String(number))]) });
  const locked = (id: string): Statement => orFail({ text: 'select id from accounts where id = $1 for no key update', values: [id] }, []);
  const namesOf = async (...wanted: string[]) => (await rowsOf(...wanted)).map(({ name }) => Number(name)).sort((a, b) => a - b);
  const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  const account = async () => {
    const [id] = ids(1) as [string];
    await write(id, open(id));
    return id;
  };

  it('take theirs in one transaction, account by account', async () => {
    const [one, other] = [await account(), await account()];
    const [first, second] = [ids(7), ids(5)];
    await Promise.all([...first.map((id) => numbered(one, id)), ...second.map((id) => numbered(other, id))]);
    expect(await namesOf(...first)).toEqual(upTo(7));
    expect(await namesOf(...second)).toEqual(upTo(5));
    expect(new Set((await rowsOf(...first, ...second)).map(({ writer }) => writer)).size).toBe(1);
  });

  it('leave no gap when a condition does not hold, the last rows are refused or nothing can be written', async () => {
    const one = await account();
    const [missing, twice, ...more] = ids(8) as [string, string, ...string[]];
    await write(twice, open(twice));
    const outcomes = await Promise.allSettled([
      numbered(one, more[0]!),
      numbered(one, missing, locked(missing)),
      numbered(one, more[1]!),
      numbered(one, twice),
      numbered(one, more[2]!),
      writeNumbered(database.db, { accountId: one, guards: [], order: missing, write: () => Promise.reject(new Error('nothing to write')) }),
      ...more.slice(3).map((id) => numbered(one, id)),
    ]);
    const refused = outcomes.flatMap((outcome, index) => (outcome.status === 'rejected' ? [[index, isStale(outcome.reason)]] : []));
    expect(refused).toEqual([[1, true], [3, true], [5, false]]);
    expect(await namesOf(...more)).toEqual(upTo(6));
    const [next] = ids(1) as [string];
    await numbered(one, next);
    expect(await namesOf(next)).toEqual([7]);
  });

  it('do not wait for one whose row somebody holds', async () => {
    const [one, held] = [await account(), await account()];
    const [slow, ...others] = ids(5) as [string, ...string[]];
    await holding(held, async (letGo) => {
      const waits = numbered(one, slow, locked(held));
      await Promise.all(others.map((id) => numbered(one, id)));
      expect(await namesOf(...others)).toEqual(upTo(4));
      letGo();
      await waits;
      expect(await namesOf(slow)).toEqual([5]);
    });
  });
});
