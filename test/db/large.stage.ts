import { performance } from 'node:perf_hooks';
import { drizzle } from 'drizzle-orm/node-postgres';
import pg from 'pg';
import type { Db } from '../../libs/db/client.js';
import type { ScheduledAttempt } from '../../libs/db/delivery.writes.js';
import { migrate } from '../../libs/db/migrate.js';
import { newId } from '../../libs/db/mint.js';
import * as schema from '../../libs/db/schema/index.js';
import { shared } from '../support/stack.js';

export interface Seen {
  /** Lines of the plans of all statements. */
  plan: string[];
  ms: number;
}

/** A post that its receiver took. */
export const deliveredAttempt = (deliveryId: string): ScheduledAttempt => ({
  deliveryId, eventId: deliveryId, url: 'https://x.example/', startedAt: new Date(), durationMs: 1, timings: {}, address: null, requestHeaders: {}, responseHeaders: null,
  responseStatus: 200, responseText: 'ok', error: null, detail: null, next: { status: 'delivered' }, silenceMs: 0,
});

/** UUIDv7 of a moment, told apart by a number. */
const idAt = (at: string, salt: string) =>
  `(lpad(to_hex((extract(epoch from ${at}) * 1000)::bigint), 12, '0') || '7' || substr(md5(${salt} || i), 1, 3) || '8' || substr(md5(${salt} || i), 4, 15))::uuid`;

/** A database of its own with `rows` events, deliveries and attempts of the last 100 days, and a backlog of a tenth of them. */
export async function openLarge(rows: number) {
  const name = `large_${newId().replaceAll('-', '')}`;
  const url = new URL(shared.databaseUrlProduction);
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  await admin.query(`create database ${name}`);
  url.pathname = `/${name}`;
  await migrate(url.href);
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  const [account, busy, calm, behind] = [newId(), newId(), newId(), newId()];
  await fill(client, { rows, account, endpoints: { busy, calm, behind } });

  const plan: string[] = [];
  let explaining = false;
  const run = client.query.bind(client) as unknown as (config: unknown, values?: unknown[]) => Promise<{ rows: Record<string, string>[] }>;
  client.query = (async (config: { text?: string } & string, values?: unknown[]) => {
    const text = config.text ?? config;
    if (explaining && /^\s*(select|with|update|delete|insert)/i.test(text)) {
      const explained = await run(`explain ${text}`, values);
      plan.push(...explained.rows.map((row) => row['QUERY PLAN']!));
    }
    return run(config, values);
  }) as never;
  const db = drizzle(client, { schema, casing: 'snake_case' }) as unknown as Db;

  return {
    db, account, busy, calm, behind,
    url: url.href,
    /** Runs the work twice: once for its time, once for its plans. */
    async watch(work: (db: Db) => Promise<unknown>): Promise<Seen> {
      const begin = performance.now();
      await work(db);
      const ms = performance.now() - begin;
      plan.length = 0;
      explaining = true;
      await work(db).finally(() => { explaining = false; });
      return { plan: [...plan], ms };
    },
    async close() {
      await client.end();
      await admin.query(`drop database ${name} with (force)`);
      await admin.end();
    },
  };
}

export type Large = Awaited<ReturnType<typeof openLarge>>;

interface Filling {
  rows: number;
  account: string;
  endpoints: { busy: string; calm: string; behind: string };
}

/** In a small table a plan that reads all of it may be the best: there it is asked whether an index could be used at all.
 *  One in a hundred goes to the calm endpoint, and one in a hundred failed for good; `behind` has nothing but its backlog. */
async function fill(client: pg.Client, { rows, account, endpoints: { busy, calm, behind } }: Filling): Promise<void> {
  const now = `'${new Date().toISOString()}'::timestamptz`;
  const at = `${now} - interval '100 days' * (1 - i::float8 / ${rows})`;
  for (const id of [busy, calm, behind]) {
    await client.query(`insert into webhook_endpoints (id, account_id, url, enabled_events, created_at, updated_at) values ('${id}', '${account}', 'https://x.example/', '{*}', now(), now())`);
  }
  const endpoint = `case when i % 100 = 0 then '${calm}' else '${busy}' end::uuid`;
  await client.query(`
    insert into events (id, account_id, type, kind, object_id, customer_id, sequence, command_id, deliveries_created, head, data, created_at)
    select ${idAt(at, `'e'`)}, '${account}', case when i % 50 = 0 then 'charge.failed' else 'customer.updated' end, 'cus', md5('o' || i / 3)::uuid, md5('c' || i / 3)::uuid, i % 3,
           md5('k' || i)::uuid, 1, '{}', '{"id":"x"}', ${at} from generate_series(1, ${rows}) i`);
  await client.query(`
    insert into webhook_deliveries (id, account_id, event_id, endpoint_id, object_id, sequence, status, attempts, finished_at, created_at, updated_at)
    select ${idAt(at, `'d'`)}, '${account}', ${idAt(at, `'e'`)}, ${endpoint}, md5('o' || i / 3)::uuid, i % 3,
           case when i % 100 = 1 then 'exhausted' else 'delivered' end, 1, ${at}, ${at}, ${at} from generate_series(1, ${rows}) i`);
  await client.query(`
    insert into webhook_attempts (id, account_id, delivery_id, endpoint_id, event_id, number, url, started_at, duration_ms, response_status, response_text, request_headers, timings)
    select ${idAt(at, `'a'`)}, '${account}', ${idAt(at, `'d'`)}, ${endpoint}, ${idAt(at, `'e'`)}, 1, 'https://x.example/', ${at}, 12, case when i % 100 = 1 then 500 else 200 end, 'ok',
           '{"webhook-id":"event_prod_00000000000000000000000000"}', '{"first_byte":3}' from generate_series(1, ${rows}) i`);
  await client.query(`
    insert into webhook_deliveries (id, account_id, event_id, endpoint_id, object_id, sequence, next_attempt_at, created_at, updated_at)
    select ${idAt(now, `'b'`)}, '${account}', ${idAt(at, `'e'`)}, '${behind}', md5('o' || i)::uuid, 1, now(), now(), now()
      from generate_series(${rows} - ${Math.floor(rows / 10)} + 1, ${rows}) i`);
  await client.query(`
    insert into emails (id, account_id, customer_id, kind, recipient, fact_key, status, created_at, updated_at)
    select ${idAt(at, `'m'`)}, '${account}', md5('c' || i / 3)::uuid, 'receipt', 'a@example.com', 'f' || i, 'sent', ${at}, ${at} from generate_series(1, ${Math.floor(rows / 10)}) i`);
  await client.query('analyze');
  if (rows <= 100_000) await client.query('set enable_seqscan = off');
}
