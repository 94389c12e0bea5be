import { randomUUID } from 'node:crypto';
import { sql } from 'drizzle-orm';
import { Pool } from 'undici';
import type { TestStack } from '../../apps/cli/src/stack/test-stack.js';
import { openAccount } from '../../libs/db/account.writes.js';
import { connect, type Database } from '../../libs/db/client.js';
import type { AccountRow } from '../../libs/db/schema/index.js';
import { openWakeSender } from '../../libs/db/wake.js';
import { LightClient } from './light-client.js';

/** Everything the measurements share: a fresh account with one route over two simulator connections and a customer with a card. */
export interface Stage {
  database: Database;
  account: AccountRow;
  http: Pool;
  headers: Record<string, string>;
  customerId: string;
  simulatorUrl: string;
  /** Body of a payment that is confirmed at once. */
  wish: Record<string, unknown>;
  pay: (body?: Record<string, unknown>) => Promise<void>;
  call: <T = Record<string, any>>(method: 'GET' | 'POST' | 'PUT' | 'DELETE', path: string, body?: unknown) => Promise<T>;
  /** Statements that the worker has sent to the database since it began. */
  workerStatements(): Promise<number>;
  /** Deliveries of the account that wait or are tried again. */
  pendingDeliveries(): Promise<number>;
  close(): Promise<void>;
}

export async function setStage(stack: TestStack): Promise<Stage> {
  const database = connect(stack.databaseUrl('staging'), { max: 10 });
  /** Events that are written here are told to the drains as the API tells its own. */
  const wakes = openWakeSender({ databaseUrl: stack.databaseUrl('staging') });
  const tokenKey = Buffer.from(stack.secrets.keys.staging.tokenKey, 'base64');
  const { account, token } = await openAccount(database.db, { environment: 'staging', name: 'bench', tokenKey });
  const http = new Pool(stack.apiUrl('staging'), { connections: 64 });
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };

  const call: Stage['call'] = async (method, path, body) => {
    const answer = await http.request({ method, path, headers, body: body === undefined ? undefined : JSON.stringify(body) });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path} answered ${answer.statusCode}: ${text.slice(0, 500)}`);
    return text === '' ? {} : JSON.parse(text);
  };

  const first = await call('POST', '/payment-processors/', { name: 'A', kind: 'simulator' });
  const second = await call('POST', '/payment-processors/', { name: 'B', kind: 'simulator' });
  const document = { rules: [], default: { strategy: 'priority', processors: [first.id, second.id] } };
  const route = await call('POST', '/payment-routes/', { name: 'bench', route_configuration: document });
  const customer = await call('POST', '/customers/', { email: `bench.${randomUUID()}@example.com` });
  const card = { number: '4242424242424242', exp_month: 12, exp_year: new Date().getUTCFullYear() + 2, cvc: '123' };
  const method = await call('POST', '/payment-methods/', { card });
  await call('POST', `/payment-methods/${method.id}/attach`, { customer_id: customer.id });

  const wish = {
    amount_atom: 1000, currency: 'usd', customer_id: customer.id, payment_method_id: method.id, payment_route_id: route.id, confirm: true,
  };
  const light = new LightClient(stack.apiUrl('staging'), headers);
  const rendered = new WeakMap<object, string>();
  const asWished = {};
  const pay = async (body: Record<string, unknown> = asWished) => {
    const request = rendered.get(body) ?? light.rendered('/payment-intents/', { ...wish, ...body });
    rendered.set(body, request);
    const answer = await light.send(request);
    const { status } = JSON.parse(answer.body) as { status: unknown };
    if (answer.status !== 201 || status !== 'succeeded') throw new Error(`a payment is ${String(status)}: ${answer.status} ${answer.body.slice(0, 500)}`);
  };
  const pendingDeliveries = async () => {
    const { rows } = await database.db.execute<{ count: number }>(sql`
      select count(*)::int as count from webhook_deliveries where account_id = ${account.id} and status = 'pending'`);
    return rows[0]!.count;
  };
  const workerStatements = async () => {
    const text = await (await fetch(`http://127.0.0.1:${stack.ports['worker-metrics-staging']}/metrics`)).text();
    return Number(/^signalbox_db_statements_total(?:\{[^}]*\})? (\d+)/m.exec(text)?.[1] ?? Number.NaN);
  };
  const close = async () => {
    light.close();
    await http.close();
    await wakes.close();
    await database.close();
  };
  return { database, account, http, headers, customerId: customer.id, simulatorUrl: stack.simulatorUrl!, wish, pay, call, workerStatements, pendingDeliveries, close };
}

/** Asks every 20 ms, or as it says, and throws where the condition does not come about in time. */
export async function until(condition: () => Promise<boolean>, { seconds = Infinity, everyMs = 20 } = {}): Promise<void> {
  const end = Date.now() + seconds * 1000;
  while (!(await condition())) {
    if (Date.now() > end) throw new Error(`not within ${seconds} s`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}
