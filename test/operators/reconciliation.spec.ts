import { jest } from '@jest/globals';
import pg from 'pg';
import { connect } from '../../libs/db/client.js';
import { openNightly } from '../../libs/db/reconciliation.writes.js';
import { uuidOf } from '../../libs/views/ids.js';
import { cardOf, chargesOf, intentOf, moneyTaken, openShop, pay, settled, type Shop } from '../payments/shop.js';
import { freshAccount, type Answer, type TestAccount } from '../support/account.js';
import { eventually, startStack, type PrivateStack } from '../support/stack.js';
import { runCli } from './cli.js';

jest.setTimeout(180_000);

let stack: PrivateStack;
let shop: Shop;
let database: pg.Client;

beforeAll(async () => {
  stack = await startStack();
  shop = await openShop({ account: await newAccount(), simulatorUrl: stack.simulator.url });
  database = new pg.Client({ connectionString: stack.databaseUrl });
  await database.connect();
});
afterAll(async () => {
  await database?.end();
  await stack?.stop();
}, 180_000);

function newAccount(): Promise<TestAccount> {
  return freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
}

async function ended(id: string, at = shop, connection = at.a): Promise<Answer['body']> {
  return eventually(async () => {
    const { body } = await at.admin.get(`/payment-processors/${connection}/reconciliations?limit=100`);
    const run = body.data.find((each: Answer['body']) => each.id === id);
    return run.status === 'running' ? null : run;
  }, { timeoutMs: 60_000 });
}

async function reconciled(at = shop, connection = at.a): Promise<Answer['body']> {
  const answer = await at.admin.post(`/payment-processors/${connection}/reconcile`);
  expect([answer.status, answer.body.object]).toEqual([201, 'reconciliation']);
  return ended(answer.body.id, at, connection);
}

const linesAbout = async (at: Shop, type: string) => (await at.admin.get(`/attention?status=open&type=${type}&limit=100`)).body.data as Answer['body'][];

async function atProvider(path: string, body: object = {}): Promise<Answer['body']> {
  const response = await fetch(`${stack.simulator.url}/control/${path}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

describe('a reconciliation', () => {
  it('finds nothing where both sides agree, whatever became of the payments', async () => {
    const method = await cardOf(shop);
    const paid = await pay(shop, { method });
    await pay(shop, { method, simulate: 'do_not_honor' });
    await shop.admin.post('/refunds/', { charge_id: paid.body.charge_ids[0], amount_atom: 300 });
    const held = await pay(shop, { method, extra: { capture_method: 'manual' } });
    await shop.admin.post(`/payment-intents/${held.body.id}/cancel`);
    const run = await reconciled();
    expect(run).toMatchObject({ status: 'done', compared: 3, differences: 0, finished_at: expect.any(String), night: null });
    expect(await linesAbout(shop, 'reconciliation_difference')).toEqual([]);
  });

  it('learns what the API never heard: refunds and captures made at the provider, and an outcome', async () => {
    const other = await openShop({ account: await newAccount(), simulatorUrl: stack.simulator.url, settings: { a: { idempotency: false } } });
    const method = await cardOf(other);
    const paid = await pay(other, { method });
    const held = await pay(other, { method, extra: { capture_method: 'manual' } });
    const [charge, authorised] = [(await chargesOf(other, paid.body.id))[0], (await chargesOf(other, held.body.id))[0]];
    await stack.worker.stop();
    await stack.api.stop();
    try {
      await atProvider(`payments/${charge.processor_payment_id}/refunds`, { amount: 250 });
      await atProvider(`payments/${authorised.processor_payment_id}/capture`);
      const { output, code } = await runCli(stack, ['reconcile', '--env', 'staging']);
      expect([code, output.match(/learned from the processor/g)?.length]).toEqual([0, 2]);
    } finally {
      await stack.api.restart();
      await stack.worker.restart();
    }
    expect(await intentOf(other, paid.body.id)).toMatchObject({ amount_atom_refunded: 250 });
    expect(await intentOf(other, held.body.id)).toMatchObject({ status: 'succeeded', amount_atom_received: 1_000 });
    expect(await reconciled(other)).toMatchObject({ differences: 0 });
  });

  it('shows a person what only one side has', async () => {
    const other = await openShop({ account: await newAccount(), simulatorUrl: stack.simulator.url });
    const paid = await pay(other);
    const [charge] = await chargesOf(other, paid.body.id);
    await database.query("update charges set reference = reference || 'x', processor_payment_id = 'sim_pay_lost', created_at = created_at - interval '1 hour' where id = $1", [uuidOf(charge.id)]);
    const run = await reconciled(other);
    expect(run).toMatchObject({ status: 'done', differences: 2 });
    expect(run.details.findings.map(({ kind }: { kind: string }) => kind).sort()).toEqual(['difference', 'unknown_payment']);
    expect(await linesAbout(other, 'reconciliation_difference')).toMatchObject([
      { object_id: charge.id, details: { ours: { status: 'succeeded', captured_atom: 1_000 }, theirs: null }, actions: expect.arrayContaining([expect.stringContaining(`/charges/${charge.id}`)]) },
    ]);
    expect(await linesAbout(other, 'unknown_payment_at_processor')).toMatchObject([
      { object_id: other.a, details: { reference: `${paid.body.id}-1`, processor_payment_id: charge.processor_payment_id } },
    ]);
    await reconciled(other);
    expect(await linesAbout(other, 'unknown_payment_at_processor')).toHaveLength(1);
    await database.query("update charges set reference = left(reference, -1), processor_payment_id = $2 where id = $1", [uuidOf(charge.id), charge.processor_payment_id]);
    await reconciled(other);
    expect(await linesAbout(other, 'reconciliation_difference')).toEqual([]);
  });

  it('says when the processor cannot be read, and takes it back when it can', async () => {
    await stack.simulator.stop();
    try {
      expect(await reconciled()).toMatchObject({ status: 'failed', details: { unavailable: expect.any(String) } });
      expect(await linesAbout(shop, 'reconciliation_failed')).toMatchObject([{ object_id: shop.a, actions: expect.arrayContaining([expect.stringContaining('/check')]) }]);
    } finally {
      await stack.simulator.restart();
    }
    await reconciled();
    expect(await linesAbout(shop, 'reconciliation_failed')).toEqual([]);
  });

  it('goes on with another worker after a kill -9', async () => {
    process.kill(stack.simulator.pid, 'SIGSTOP');
    let id: string;
    try {
      id = (await shop.admin.post(`/payment-processors/${shop.a}/reconcile`)).body.id;
      await eventually(async () => (await database.query('select 1 from reconciliations where id = $1 and claim_token > 0', [uuidOf(id)])).rowCount === 1);
      await stack.worker.kill9();
    } finally {
      process.kill(stack.simulator.pid, 'SIGCONT');
    }
    await stack.worker.restart();
    const run = await ended(id);
    expect(run.status).toBe('done');
    expect((await database.query('select claim_token from reconciliations where id = $1', [uuidOf(id)])).rows).toEqual([{ claim_token: 2 }]);
  });

  it('is opened once a night for each connection, however many workers ask', async () => {
    const { db, close } = connect(stack.databaseUrl, { max: 2 });
    try {
      const range = { night: '2030-01-31', since: new Date(Date.now() - 1_000), until: new Date() };
      await Promise.all([openNightly(db, ['simulator'], range), openNightly(db, ['simulator'], range), openNightly(db, ['simulator'], range)]);
      expect(await openNightly(db, ['simulator'], range)).toBe(0);
      const { rows } = await database.query("select processor_id, count(*)::int as runs from reconciliations where night = '2030-01-31' group by 1");
      expect(rows).toContainEqual({ processor_id: uuidOf(shop.a), runs: 1 });
      expect(rows.every(({ runs }) => runs === 1)).toBe(true);
    } finally {
      await close();
    }
  });

  it('is an ADMIN\'s, of the own account, over a range that makes sense', async () => {
    const path = `/payment-processors/${shop.a}/reconcile`;
    expect((await shop.operator.post(path)).status).toBe(403);
    const stranger = await newAccount();
    expect((await stranger.admin.post(path)).status).toBe(404);
    expect((await stranger.admin.get(`/payment-processors/${shop.a}/reconciliations`)).status).toBe(404);
    const wrong = async (body: object, field: string) => {
      const answer = await shop.admin.post(path, body);
      expect([answer.status, answer.body.errors?.[0]?.loc]).toEqual([422, ['body', field]]);
    };
    await wrong({ since: '2000-01-01T00:00:00Z' }, 'since');
    await wrong({ until: '2999-01-01T00:00:00Z' }, 'until');
    await wrong({ since: new Date(Date.now() - 1_000).toISOString(), until: new Date(Date.now() - 2_000).toISOString() }, 'since');
    await wrong({ from: 'x' }, 'from');
    const key = 'once';
    const [first, again] = [await shop.admin.post(path, {}, { key }), await shop.admin.post(path, {}, { key })];
    expect([first.status, again.text]).toEqual([201, first.text]);
    await ended(first.body.id);
  });
});

describe('money', () => {
  it('stays single where an unresolved attempt is learned while its payment looks for itself', async () => {
    const method = await cardOf(shop);
    const unknown = await pay(shop, { method, simulate: 'error_after_charge' });
    await reconciled();
    await settled(shop, unknown.body.id, 'succeeded');
    expect(await moneyTaken(shop, unknown.body.id)).toHaveLength(1);
  });
});
