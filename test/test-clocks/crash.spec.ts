import { jest } from '@jest/globals';
import { invoicesOf, openStore, subscribe, takenFor } from '../subscriptions/store.js';
import { freshAccount } from '../support/account.js';
import { eventually, startStack, type PrivateStack } from '../support/stack.js';
import { clockOf, isReady, onClock, toldOf } from './hall.js';

jest.setTimeout(180_000);

let stack: PrivateStack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

it('kill -9 of worker, Temporal and API during an advance: nothing is lost, nothing happens twice', async () => {
  const account = await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
  const store = await openStore({ account, simulatorUrl: stack.simulator.url });
  const hall = await onClock(store, '2030-01-01T00:00:00.000Z');
  const weekly = await subscribe(hall, {}, { billing_interval: 'week' });
  const monthly = await subscribe(hall);
  const to = '2030-07-01T00:00:00.000Z';
  expect((await hall.admin.post(`/test-clocks/${hall.clock}/advance`, { frozen_time: to })).status).toBe(200);
  for (const [part, percent] of [['worker', 10], ['temporal', 35], ['api', 60], ['worker', 80]] as const) {
    await eventually(async () => (await clockOf(hall, hall.clock)).progress.percent >= percent, { timeoutMs: 60_000, intervalMs: 10 });
    await stack[part].kill9();
    await stack[part].restart();
  }
  await isReady(hall, to, 120_000);
  for (const [{ id }, periods] of [[weekly, 26], [monthly, 7]] as const) {
    const invoices = (await invoicesOf(hall, id)).sort((x, y) => (x.period_start < y.period_start ? -1 : 1));
    expect(invoices.map((invoice) => invoice.status)).toEqual(Array(periods).fill('paid'));
    expect(invoices.slice(1).map((invoice) => invoice.period_start)).toEqual(invoices.slice(0, -1).map((invoice) => invoice.period_end));
    for (const invoice of invoices) expect([invoice.period_start, (await takenFor(hall, invoice)).length]).toEqual([invoice.period_start, 1]);
    const told = await toldOf(hall, id);
    expect(told.map(({ sequence }) => sequence)).toEqual(told.map((_, index) => index + 1));
    expect(told.map(({ clock }) => clock)).toEqual(told.map(({ clock }) => clock).sort());
  }
  expect((await toldOf(hall, hall.clock)).map(({ type }) => type)).toEqual(['test_clock.created', 'test_clock.advancing', 'test_clock.ready']);
});
