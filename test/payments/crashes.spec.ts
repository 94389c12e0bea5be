import { freshAccount } from '../support/account.js';
import { eventually, startStack, type PrivateStack } from '../support/stack.js';
import { cardOf, chargesOf, ledgerOf, moneyTaken, openShop, pay, settled, type Shop } from './shop.js';

let stack: PrivateStack;
let shop: Shop;

beforeAll(async () => {
  stack = await startStack();
  const account = await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
  shop = await openShop({ account, simulatorUrl: stack.simulator.url });
}, 180_000);
afterAll(() => stack?.stop(), 180_000);

/** Begins a slow payment and waits until its attempt is under way. */
async function underWay(extra: object = {}): Promise<{ id: string; answer: Promise<unknown>; key: string; method: string }> {
  const method = await cardOf(shop);
  const key = `crash-${method}`;
  const answer = pay(shop, { simulate: { [shop.a]: 'delay_5s' }, method, key, extra }).catch(() => null);
  const charge = await eventually(async () => (await shop.admin.post('/charges/list', { payment_method_id: method })).body.data[0]);
  return { id: charge.payment_intent_id, answer, key, method };
}

async function expectOneCharge(id: string): Promise<void> {
  const intent = await settled(shop, id, 'succeeded', 'requires_payment_method', 'exception');
  expect(intent).toMatchObject({ status: 'succeeded', charge_ids: [expect.any(String)] });
  expect(await ledgerOf(shop, id)).toHaveLength(1);
  expect(await moneyTaken(shop, id)).toHaveLength(1);
  expect((await chargesOf(shop, id))[0]).toMatchObject({ status: 'succeeded', outcome_class: 'approved' });
}

describe('kill -9 in the middle of a payment', () => {
  it('of the worker: exactly one charge, found by the next worker', async () => {
    const { id, answer } = await underWay();
    await stack.worker.kill9();
    await stack.worker.restart();
    await answer;
    await expectOneCharge(id);
  }, 180_000);

  it('of the API: the workflow goes on, and the same key answers with the outcome', async () => {
    const { id, answer, key, method } = await underWay();
    await stack.api.kill9();
    await answer;
    await stack.api.restart();
    await expectOneCharge(id);
    const again = await eventually(async () => {
      const retry = await pay(shop, { simulate: { [shop.a]: 'delay_5s' }, method, key });
      return retry.body.code === 'idempotency_key_in_use' ? null : retry;
    }, { timeoutMs: 45_000, intervalMs: 500 });
    expect([again.status, again.body.id, again.body.status]).toEqual([201, id, 'succeeded']);
    expect(await ledgerOf(shop, id)).toHaveLength(1);
  }, 180_000);

  it('of the API while it runs the payment itself: the sweeper gives it a workflow', async () => {
    const { id, answer } = await underWay({ execution: 'inline' });
    await stack.api.kill9();
    await answer;
    await stack.api.restart();
    await expectOneCharge(id);
  }, 180_000);

  it('of Temporal: the payment goes on when it is back', async () => {
    const { id, answer } = await underWay();
    await stack.temporal.kill9();
    await stack.temporal.restart();
    await answer;
    await expectOneCharge(id);
  }, 180_000);

  it('of API, worker and simulator at once', async () => {
    const { id, answer } = await underWay();
    await Promise.all([stack.api.kill9(), stack.worker.kill9(), stack.simulator.kill9()]);
    await stack.simulator.restart();
    await Promise.all([stack.api.restart(), stack.worker.restart()]);
    await answer;
    await expectOneCharge(id);
  }, 180_000);
});

describe('while Temporal is away', () => {
  it('inline payments are answered, others are processing, and all go on when it is back', async () => {
    const [card, challenged] = [await cardOf(shop), await cardOf(shop, '4000002760003184')];
    await stack.temporal.stop();
    const paid = await pay(shop, { method: card, extra: { execution: 'inline' } });
    expect([paid.status, paid.body.status]).toEqual([201, 'succeeded']);
    const waiting = await pay(shop, { method: challenged, extra: { execution: 'inline' } });
    expect([waiting.status, waiting.body.status]).toEqual([201, 'requires_action']);
    const durable = await pay(shop, { method: card });
    expect([durable.status, durable.body.status]).toEqual([201, 'processing']);
    await stack.temporal.restart();
    await fetch(waiting.body.next_action.redirect_url, {
      method: 'POST', redirect: 'manual', headers: { 'content-type': 'application/json' }, body: '{"result":"passed"}',
    });
    await settled(shop, waiting.body.id, 'succeeded');
    expect(await settled(shop, durable.body.id, 'succeeded')).toMatchObject({ charge_ids: [expect.any(String)] });
    expect(await moneyTaken(shop, durable.body.id)).toHaveLength(1);
  }, 180_000);
});
