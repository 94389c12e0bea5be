import { freshAccount } from '../support/account.js';
import { eventually, startStack, type PrivateStack } from '../support/stack.js';
import { cardOf, intentOf, moneyTaken, pay, settled } from '../payments/shop.js';
import { anchorEndingIn, becomes, invoicesOf, openStore, priceOf, subscribe, type Store } from '../subscriptions/store.js';

let stack: PrivateStack;

beforeAll(async () => {
  stack = await startStack({ extra: { SUBSCRIPTION_JITTER_SECONDS: '0' } });
}, 180_000);
afterAll(() => stack?.stop(), 180_000);

const daily = { billing_interval: 'day', unit_amount_atom: 86_400 };

async function newStore(): Promise<Store> {
  const account = await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
  return openStore({ account, simulatorUrl: stack.simulator.url });
}

async function stop(store: Store, body: object): Promise<string> {
  const answer = await store.admin.post('/charge-stops/', { reason: 'Something looks wrong', ...body });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.id as string;
}

describe('a stop of a price', () => {
  it('refuses who buys it, holds up its renewals, and nothing else', async () => {
    const store = await newStore();
    const [stopped, free] = [await priceOf(store, daily), await priceOf(store, daily)];
    const of = (price: string) => ({ selected_product_price_quantity: [{ price_id: price, quantity: 1 }] });
    const { id } = await subscribe(store, { ...of(stopped), starts_at: anchorEndingIn(15) });
    await becomes(store, id, { status: 'active', billing_status: 'current' });
    const stopId = await stop(store, { scope: 'price', object_id: stopped });
    const refused = await subscribe(store, of(stopped));
    expect((await invoicesOf(store, refused.id))[0]).toMatchObject({ latest_payment_intent_id: expect.any(String) });
    await becomes(store, refused.id, { status: 'trialing', billing_status: 'incomplete' });
    await becomes(store, (await subscribe(store, of(free))).id, { status: 'active' });
    const renewal = await eventually(async () => {
      const invoice = (await invoicesOf(store, id)).find((each) => each.billing_reason === 'subscription_cycle');
      const intent = invoice?.latest_payment_intent_id ? await intentOf(store, invoice.latest_payment_intent_id) : null;
      return intent?.charging_stopped ? intent : null;
    }, { timeoutMs: 90_000 });
    expect(renewal).toMatchObject({ status: 'processing', charge_ids: [], charging_stopped: { charge_stop_ids: [stopId] } });
    expect((await store.admin.get(`/subscriptions/${id}`)).body).toMatchObject({ status: 'active', billing_status: 'current' });
    await store.admin.post(`/charge-stops/${stopId}/lift`);
    await settled(store, renewal.id, 'succeeded');
  }, 180_000);
});

describe('a restart', () => {
  it('keeps its pace, also over a kill -9 of the worker, and each payment is made once', async () => {
    const store = await newStore();
    const method = await cardOf(store);
    await pay(store, { method });
    const id = await stop(store, { scope: 'account' });
    const answers = await Promise.all(Array.from({ length: 30 }, () => pay(store, { method, extra: { off_session: true } })));
    const waiting = answers.map(({ body }) => body.id as string);
    expect((await store.admin.get(`/charge-stops/${id}`)).body.waiting_payments).toBe(30);
    const lifted = performance.now();
    await store.admin.post(`/charge-stops/${id}/lift`, { restart_per_second: 5 });
    await eventually(async () => (await store.admin.get(`/charge-stops/${id}`)).body.waiting_payments < 25);
    await stack.worker.kill9();
    const standing = (await store.admin.get(`/charge-stops/${id}`)).body;
    expect(standing).toMatchObject({ status: 'restarting', drained_at: null });
    expect(standing.waiting_payments).toBeGreaterThan(0);
    await stack.worker.restart();
    await eventually(async () => (await store.admin.get(`/charge-stops/${id}`)).body.drained_at, { timeoutMs: 90_000 });
    expect(performance.now() - lifted).toBeGreaterThan(5_000);
    for (const payment of waiting) {
      expect(await settled(store, payment, 'succeeded')).toMatchObject({ charge_ids: [expect.any(String)], charging_stopped: null });
      expect(await moneyTaken(store, payment)).toHaveLength(1);
    }
  }, 180_000);
});
