import pg from 'pg';
import { eventually, shared, startStack, type PrivateStack } from '../support/stack.js';

async function rowsOf(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end();
  }
}

describe('the shared stack', () => {
  it('has two databases with the same migrations', async () => {
    const sql = 'select hash from drizzle.__drizzle_migrations order by id';
    const [staging, production] = [await rowsOf(shared.databaseUrlStaging, sql), await rowsOf(shared.databaseUrlProduction, sql)];
    expect(staging.length).toBeGreaterThan(0);
    expect(production).toEqual(staging);
  });

  it('runs Postgres durably', async () => {
    const settings = await rowsOf(
      shared.databaseUrlStaging,
      "select name, setting from pg_settings where name in ('fsync', 'synchronous_commit', 'max_connections') order by name",
    );
    expect(settings).toEqual([
      { name: 'fsync', setting: 'on' },
      { name: 'max_connections', setting: '200' },
      { name: 'synchronous_commit', setting: 'on' },
    ]);
  });
});

describe('a private stack', () => {
  let own: PrivateStack;

  beforeAll(async () => {
    own = await startStack({ withoutWorker: true });
  }, 180_000);

  afterAll(async () => {
    await own.stop();
  }, 180_000);

  it('stands beside the shared one on ports of its own', () => {
    expect(new Set([own.api.url, own.temporalAddress, shared.stagingUrl, shared.temporalAddress]).size).toBe(4);
  });

  it('keeps what was committed when Postgres is killed', async () => {
    await rowsOf(own.databaseUrl, 'create table kept (id int)');
    await rowsOf(own.databaseUrl, 'insert into kept values (7)');
    const before = own.postgres.pid;
    await own.postgres.kill9();
    await expect(rowsOf(own.databaseUrl, 'select 1')).rejects.toThrow();
    await own.postgres.restart();
    expect(own.postgres.pid).not.toBe(before);
    expect(await eventually(() => rowsOf(own.databaseUrl, 'select id from kept'))).toEqual([{ id: 7 }]);
  }, 180_000);
});
