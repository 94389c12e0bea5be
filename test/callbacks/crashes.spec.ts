import { connect } from '../../libs/db/client.js';
import { freshAccount } from '../support/account.js';
import { eventually, startStack, type PrivateStack } from '../support/stack.js';
import { cardOf, chargesOf, eventTypes, intentOf, moneyTaken, openShop, pay, settled, type Shop, type ShopOptions } from '../payments/shop.js';
import { applied, bodyOf, signed, storedAt, unresolved, uuid, type Snapshot } from './provider.js';

let stack: PrivateStack;

beforeAll(async () => {
  stack = await startStack({ extra: { PAYMENT_LOOKUP_SCHEDULE: '1,2,3,4,5,600' } });
}, 180_000);
afterAll(() => stack?.stop(), 180_000);

async function open(options: ShopOptions = {}): Promise<Shop> {
  const account = await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
  return openShop({ account, simulatorUrl: stack.simulator.url, ...options });
}

const secret = () => Buffer.from(stack.stack.secrets.simulatorSecret, 'base64');

/** Posts as the provider does; resolves with the status. */
async function tell(shop: Shop, reference: string, snapshot: Snapshot = {}): Promise<number> {
  const body = bodyOf(reference, snapshot);
  const headers = { 'content-type': 'application/json', 'simulator-signature': signed(body, uuid('processor', shop.a), { secret: secret() }) };
  return (await fetch(`${stack.api.url}/callbacks/${shop.a}`, { method: 'POST', body, headers })).status;
}

/** A payment at rest that waits for its provider, with nobody who asks for it. */
async function waiting(shop: Shop): Promise<{ id: string; reference: string }> {
  const { id, reference, answer } = await unresolved(shop);
  await answer;
  return { id, reference };
}

describe('after the 2xx a callback is applied, whatever happens', () => {
  it('kill -9 of the API: within seconds, by the sweeper', async () => {
    const shop = await open();
    const { id, reference } = await waiting(shop);
    expect(await tell(shop, reference)).toBe(200);
    await stack.api.kill9();
    const rows = await applied(shop, id, 1, stack.databaseUrl);
    expect(rows).toMatchObject([{ result: 'applied' }]);
    await stack.api.restart();
    expect((await intentOf(shop, id)).status).toBe('succeeded');
  }, 180_000);

  it('Temporal is away when it comes: when it is back', async () => {
    const shop = await open();
    const { id, reference } = await waiting(shop);
    await stack.temporal.kill9();
    expect(await tell(shop, reference)).toBe(200);
    expect(await storedAt(shop.a, id, stack.databaseUrl)).toMatchObject([{ appliedAt: null }]);
    await stack.temporal.restart();
    await settled(shop, id, 'succeeded');
    expect(await eventTypes(shop, id)).toEqual(['payment_intent.created', 'payment_intent.processing', 'payment_intent.succeeded']);
  }, 180_000);

  it('nobody was told (its process died first): the sweeper finds it', async () => {
    const shop = await open();
    const { id, reference } = await waiting(shop);
    await Promise.all([stack.worker.kill9(), stack.temporal.kill9()]);
    expect(await tell(shop, reference)).toBe(200);
    await stack.api.kill9();
    await stack.temporal.restart();
    await Promise.all([stack.worker.restart(), stack.api.restart()]);
    await settled(shop, id, 'succeeded');
  }, 180_000);

  it('of a payment that is run in the API itself', async () => {
    const shop = await open();
    const { id, reference, answer } = await unresolved(shop, { extra: { execution: 'inline' } });
    await answer;
    expect(await tell(shop, reference)).toBe(200);
    await stack.api.kill9();
    await applied(shop, id, 1, stack.databaseUrl);
    await stack.api.restart();
    expect((await intentOf(shop, id)).status).toBe('succeeded');
  }, 180_000);
});

describe('a callback that comes while the payment\'s holder is in its call', () => {
  it('is applied when the call has ended: the holder looks again before it lets go', async () => {
    const shop = await open({ settings: { a: { total_timeout_ms: 4_000 } } });
    const method = await cardOf(shop);
    const answer = pay(shop, { simulate: { [shop.a]: 'timeout_before_charge' }, method });
    const charge = await eventually(async () => (await shop.admin.post('/charges/list', { payment_method_id: method })).body.data[0]);
    expect(charge.outcome_class).toBeNull();
    expect(await tell(shop, `${charge.payment_intent_id}-1`)).toBe(200);
    expect(await storedAt(shop.a, charge.payment_intent_id, stack.databaseUrl)).toMatchObject([{ appliedAt: null }]);
    expect((await answer).body).toMatchObject({ status: 'succeeded' });
    expect(await eventTypes(shop, charge.id)).toEqual(['charge.created', 'charge.pending', 'charge.succeeded']);
  }, 180_000);
});

describe('the simulator\'s own callbacks', () => {
  it('that nobody took are posted again after kill -9', async () => {
    const shop = await open();
    const { body } = await pay(shop, { simulate: 'pending_then_approved' });
    expect(body.status).toBe('processing');
    await stack.api.kill9();
    await eventually(async () => {
      const answer = await fetch(`${stack.simulator.url}/ledger?reference=${body.id}-1`);
      return ((await answer.json()) as { payments: { status: string }[] }).payments[0]?.status === 'captured';
    });
    await stack.simulator.kill9();
    await stack.simulator.restart();
    await stack.api.restart();
    expect(await applied(shop, body.id, 1, stack.databaseUrl)).toMatchObject([{ eventType: 'payment.captured' }]);
    await settled(shop, body.id, 'succeeded');
    const delivered = await eventually(async () => {
      const { data } = (await (await fetch(`${stack.simulator.url}/ledger?reference=${body.id}-1`)).json()) as { data: { type: string }[] };
      return data.find(({ type }) => type === 'callback_delivered');
    });
    expect(delivered).toBeDefined();
  }, 180_000);
});

describe('a success that is told late', () => {
  it('after the payment was cancelled is given back, once, and reported', async () => {
    const quick = { total_timeout_ms: 500, connect_timeout_ms: 500, settle_after_ms: 1, idempotency: false };
    const shop = await open({ settings: { a: quick }, fallback: { on: ['soft_decline'], max_attempts: 1 } });
    const method = await cardOf(shop);
    const { id, reference } = await unresolved(shop, { method });
    await settled(shop, id, 'requires_payment_method');
    expect((await shop.admin.post(`/payment-intents/${id}/cancel`)).body.status).toBe('canceled');
    expect((await shop.admin.put(`/payment-intents/${id}`, { custom_fields: null })).status).toBe(200);
    const [mapping] = (await shop.admin.get(`/payment-methods/${method}`)).body.mappings;
    const charged = await fetch(`${stack.simulator.url}/v1/payments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${uuid('processor', shop.a)}`, 'x-simulate': 'pending_then_approved' },
      body: JSON.stringify({
        reference, amount: 1_000, currency: 'eur', capture: 'automatic', payment_method: mapping.their_payment_method_id, off_session: false,
        return_url: null, callback_url: `${stack.api.url}/callbacks/${shop.a}`, metadata: {},
      }),
    });
    expect(charged.status).toBe(201);
    const refund = await eventually(async () => {
      const [found] = (await shop.admin.post('/refunds/list', { payment_intent_id: id })).body.data;
      return found?.status === 'succeeded' ? found : null;
    }, { timeoutMs: 90_000 });
    expect(refund).toMatchObject({ reason: 'duplicate', amount_atom: 1_000, refunded_out_of_band: false });
    expect((await intentOf(shop, id)).status).toBe('canceled');
    expect((await chargesOf(shop, id))[0]).toMatchObject({ status: 'succeeded', is_late: true, refunded: true });
    expect(await moneyTaken(shop, id)).toEqual([]);
    expect((await eventTypes(shop, (await chargesOf(shop, id))[0].id)).slice(-2)).toEqual(['charge.succeeded', 'charge.refunded']);
  }, 180_000);
});

describe('a refund whose sender dies in its call', () => {
  it('is found out and made once', async () => {
    const shop = await open();
    const { body } = await pay(shop);
    await shop.admin.put(`/payment-intents/${body.id}`, { custom_fields: { simulate: 'delay_5s' } });
    const asked = shop.admin.post('/refunds/', { payment_intent_id: body.id, amount_atom: 400 }).catch(() => null);
    const pending = async () => (await shop.admin.post('/refunds/list', { payment_intent_id: body.id })).body.data[0];
    await eventually(pending);
    await eventually(async () => sentAt(body.id));
    await stack.worker.kill9();
    await stack.worker.restart();
    await asked;
    await eventually(async () => (await pending()).status === 'succeeded', { timeoutMs: 90_000 });
    const ledger = (await (await fetch(`${stack.simulator.url}/ledger?reference=${body.id}-1`)).json()) as { payments: { amount_refunded: number }[] };
    expect(ledger.payments[0]!.amount_refunded).toBe(400);
  }, 180_000);
});

async function sentAt(intentId: string): Promise<boolean> {
  const database = connect(stack.databaseUrl, { max: 1 });
  try {
    const { rows } = await database.pool.query('select first_sent_at from charge_operations where payment_intent_id = $1', [uuid('pi', intentId)]);
    return rows[0]?.first_sent_at != null;
  } finally {
    await database.close();
  }
}
