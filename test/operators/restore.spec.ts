import { jest } from '@jest/globals';
import pg from 'pg';
import { cardOf, chargesOf, intentOf, ledgerOf, moneyTaken, openShop, pay, settled } from '../payments/shop.js';
import { anchorEndingIn, invoicesOf, openStore, subscribe, takenFor, type Store } from '../subscriptions/store.js';
import { freshAccount } from '../support/account.js';
import { openEngine } from '../support/engine.js';
import { eventually, startStack, type PrivateStack } from '../support/stack.js';
import { runCli } from './cli.js';

jest.setTimeout(400_000);

let stack: PrivateStack;
let store: Store;

beforeAll(async () => {
  stack = await startStack({ extra: { SUBSCRIPTION_JITTER_SECONDS: '0' } });
  const account = await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
  store = await openStore({ account, simulatorUrl: stack.simulator.url });
});
afterAll(() => stack?.stop(), 180_000);

/** Runs SQL beside the environment's database, with nobody connected to it. */
async function offline(...statements: string[]): Promise<void> {
  await stack.worker.stop();
  await stack.api.stop();
  const url = new URL(stack.databaseUrl);
  url.pathname = '/postgres';
  const admin = new pg.Client({ connectionString: url.href });
  await admin.connect();
  try {
    for (const statement of statements) await admin.query(statement);
  } finally {
    await admin.end();
  }
}

const live = () => `"${new URL(stack.databaseUrl).pathname.slice(1)}"`;

async function online(): Promise<void> {
  await stack.api.restart();
  await stack.worker.restart();
}

/** Events in the history of a subscription's workflow. */
async function stepsOf(subscription: string): Promise<number> {
  const engine = await openEngine({ address: stack.temporalAddress, namespace: stack.temporalNamespace });
  try {
    return (await engine.client.workflow.getHandle(`subscription/${subscription}`).describe()).historyLength;
  } finally {
    await engine.close();
  }
}

describe('after the database was restored to an earlier state', () => {
  it('reconcile --restored finds what was lost, and nothing is charged a second time', async () => {
    const method = await cardOf(store);
    const paid = await pay(store, { method });
    const unconfirmed = (await pay(store, { method, extra: { confirm: false } })).body.id;
    const { id: subscription } = await subscribe(store, { starts_at: anchorEndingIn(45) }, { billing_interval: 'day', unit_amount_atom: 86_400 });
    await offline(`create database backup template ${live()}`);
    await online();

    expect((await store.admin.post(`/payment-intents/${unconfirmed}/confirm`)).body.status).toBe('succeeded');
    expect((await store.admin.post('/refunds/', { charge_id: paid.body.charge_ids[0], amount_atom: 400 }, { key: 'lost-refund' })).status).toBe(201);
    const forgotten = await pay(store, { method });
    const renewal = await eventually(async () => (await invoicesOf(store, subscription)).find((each) => each.billing_reason === 'subscription_cycle' && each.status === 'paid'), { timeoutMs: 150_000 });
    expect(await takenFor(store, renewal)).toHaveLength(1);
    const [their] = await chargesOf(store, forgotten.body.id);

    await offline(`drop database ${live()}`, `alter database backup rename to ${live()}`);
    const { code, output } = await runCli(stack, ['reconcile', '--env', 'staging', '--restored']);
    expect([code, output]).toEqual([0, expect.stringContaining(`stopped ${store.publicId}`)]);
    expect(output).toMatch(new RegExp(`${unconfirmed}-1: attempt that the database had lost, made again`));
    expect(output).toMatch(new RegExp(`${paid.body.id}-1: learned`));
    expect(output).toMatch(new RegExp(`${forgotten.body.id}-1: payment that the database does not know`));
    expect(output).toMatch(new RegExp(`lifted the stop of ${store.publicId}`));
    await online();

    expect(await settled(store, unconfirmed, 'succeeded')).toMatchObject({ charge_ids: [expect.any(String)] });
    const again = await store.admin.post(`/payment-intents/${unconfirmed}/confirm`);
    expect([again.status, again.body.code]).toEqual([409, 'invalid_state_transition']);
    expect(await ledgerOf(store, unconfirmed)).toHaveLength(1);
    expect(await moneyTaken(store, unconfirmed)).toHaveLength(1);
    expect(await intentOf(store, paid.body.id)).toMatchObject({ amount_atom_refunded: 400 });

    const lines = (await store.admin.get('/attention?status=open&type=unknown_payment_at_processor')).body.data;
    expect(lines.map(({ details }: { details: { processor_payment_id: string } }) => details.processor_payment_id)).toContain(their.processor_payment_id);
    const { data: stops } = (await store.admin.get('/charge-stops')).body;
    expect(stops).toMatchObject([{ reason: 'restored', status: 'lifted' }]);

    const renewed = await eventually(async () => (await invoicesOf(store, subscription)).find((each) => each.billing_reason === 'subscription_cycle' && each.status === 'paid'), { timeoutMs: 150_000 });
    expect(renewed.period_start).toBe(renewal.period_start);
    expect(await takenFor(store, renewed)).toHaveLength(1);
    expect(await stepsOf(subscription)).toBeLessThan(60);
  });

  it('keeps the stops where a processor could not be compared', async () => {
    const other = await openShop({ account: await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey }), simulatorUrl: stack.simulator.url });
    await stack.simulator.stop();
    const { code, output } = await runCli(stack, ['reconcile', '--env', 'staging', '--restored']);
    await stack.simulator.restart();
    expect([code, output]).toEqual([1, expect.stringContaining('The stops stand')]);
    expect((await pay(other)).body.code).toBe('charging_stopped');
    const second = await runCli(stack, ['reconcile', '--env', 'staging', '--restored']);
    expect(second.code).toBe(0);
    expect((await pay(other)).status).toBe(201);
  });
});
