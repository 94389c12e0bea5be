import { jest } from '@jest/globals';
import { connect } from '../../libs/db/client.js';
import { made } from '../payments/shop.js';
import { freshAccount, type Answer } from '../support/account.js';
import { eventually, startStack, type PrivateStack } from '../support/stack.js';
import { StripeFake } from './stripe-fake.js';
import { booked, chargesOf, methodOf, openStripeShop, sell, settled, type StripeShop } from './stripe-shop.js';

jest.setTimeout(180_000);

const creating = /^POST \/v1\/payment_intents$/;
const confirming = /^POST .*\/confirm$/;

let fake: StripeFake;
let stack: PrivateStack;
let shop: StripeShop;

beforeAll(async () => {
  fake = await StripeFake.open();
  stack = await startStack({ extra: { PAYMENT_LOOKUP_SCHEDULE: '1,2,3,4,5,6,7,60' } });
  const account = await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
  shop = await openStripeShop(fake, { account });
}, 180_000);

afterAll(async () => {
  await fake?.close();
  await stack?.stop();
}, 180_000);

/** Begins a payment, waits until `path` was asked for it, ends whoever asked without warning, and starts it again. */
async function interrupted(path: RegExp, extra: object = {}, meanwhile: (id: string) => Promise<void> = async () => undefined): Promise<string> {
  const method = await methodOf(shop);
  const before = fake.requests(path).length;
  const answer = sell(shop, 'visa', { method, extra }).catch((): Answer | null => null);
  await eventually(() => fake.requests(path).length > before);
  const asker = 'execution' in extra ? stack.api : stack.worker;
  await asker.kill9();
  const key = fake.requests(path).at(-1)!.key!.replace(/-1(-confirm)?$/, '');
  await meanwhile(key);
  await asker.restart();
  await answer;
  return key;
}

async function expectOneCharge(id: string): Promise<void> {
  expect(await settled(shop, id, 'succeeded', 'requires_payment_method', 'exception')).toMatchObject({ status: 'succeeded', charge_ids: [expect.any(String)] });
  expect(booked(shop, id)).toHaveLength(1);
  expect(takenFor(id)).toEqual([4_200]);
}

const takenFor = (id: string, attempt = 1) => booked(shop, id, attempt).map((intent) => intent.amount_received).filter((amount) => amount > 0);
const confirmsOf = (id: string) => fake.requests(confirming).filter(({ key }) => key === `${id}-1-confirm`).length;

describe('kill -9 between the two steps', () => {
  it.each([{}, { execution: 'inline' }])('while the PaymentIntent is being made, before Stripe did so (%j)', async (extra) => {
    const release = fake.hold(creating);
    fake.plan(creating, 'drop_before');
    const id = await interrupted(creating, extra, async () => release());
    await expectOneCharge(id);
    expect(confirmsOf(id)).toBe(1);
  });

  it.each([{}, { execution: 'inline' }])('after Stripe made it, before its id was stored (%j)', async (extra) => {
    fake.plan(creating, 'hang_after');
    const id = await interrupted(creating, extra);
    await expectOneCharge(id);
    expect(confirmsOf(id)).toBe(1);
  });

  it('after its id was stored, the confirmation lost on its way', async () => {
    const release = fake.hold(confirming);
    fake.plan(confirming, 'drop_before');
    const id = await interrupted(confirming, {}, async () => release());
    await expectOneCharge(id);
    expect(confirmsOf(id)).toBe(2);
  });

  it.each([{}, { execution: 'inline' }])('after Stripe charged, before that was written (%j)', async (extra) => {
    fake.plan(confirming, 'hang_after');
    const id = await interrupted(confirming, extra);
    await expectOneCharge(id);
    expect(confirmsOf(id)).toBe(2);
  });

  it('and its key is forgotten since: what was never confirmed took nothing, and never will', async () => {
    fake.plan(creating, 'hang_after');
    const id = await interrupted(creating, {}, async () => age(2));
    expect(await settled(shop, id, 'succeeded', 'requires_payment_method', 'exception')).toMatchObject({ status: 'requires_payment_method' });
    expect((await chargesOf(shop, id))[0]).toMatchObject({ status: 'failed', outcome_class: 'not_sent', processor_payment_id: null });
    expect(confirmsOf(id)).toBe(0);
    expect(booked(shop, id)).toMatchObject([{ status: 'requires_confirmation', amount_received: 0 }]);
  });

  it('and its key is forgotten since, but it may have been confirmed: it is only read', async () => {
    fake.plan(confirming, 'hang_after');
    const id = await interrupted(confirming, {}, async () => age(2));
    await expectOneCharge(id);
    expect(confirmsOf(id)).toBe(1);
  });
});

/** The unresolved attempts began so many days earlier. */
async function age(days: number): Promise<void> {
  const database = connect(stack.databaseUrl, { max: 1 });
  try {
    const { rowCount } = await database.pool.query('update charges set created_at = created_at - make_interval(days => $1) where status = $2', [days, 'pending']);
    expect(rowCount).toBe(1);
  } finally {
    await database.close();
  }
}

describe('while nobody dies', () => {
  it.each(['drop_before', 'drop_after', 'error_before', 'error_after', 'html'] as const)('%s while it is made: nothing was taken, and the next processor may be asked', async (fault) => {
    const method = await methodOf(shop);
    fake.plan(creating, fault);
    const { status, body } = await sell(shop, 'visa', { method });
    expect([status, body.code]).toEqual([402, 'connection_failed']);
    const id = body.payment_intent_id;
    expect((await chargesOf(shop, id))[0]).toMatchObject({ outcome_class: 'not_sent' });
    expect(confirmsOf(id)).toBe(0);
    const again = await shop.admin.post(`/payment-intents/${id}/confirm`, {});
    expect(again.body.status).toBe('succeeded');
    expect(takenFor(id)).toEqual([]);
    expect(takenFor(id, 2)).toEqual([4_200]);
  });

  it('a charge whose answer was an error, and stays one under its key: found by its id', async () => {
    const method = await methodOf(shop);
    fake.plan(confirming, 'error_after');
    const { body } = await sell(shop, 'visa', { method });
    await expectOneCharge(body.id ?? body.payment_intent_id);
  });

  it('a confirmation that was never carried out: cancelled at Stripe, then the next processor is asked, and there is one charge', async () => {
    const impatient = await openStripeShop(fake, { account: shop, settings: { settle_after_ms: 0, total_timeout_ms: 500, connect_timeout_ms: 500 } });
    const second = await made(shop.admin.post('/payment-processors/', { name: 'Second', kind: 'stripe', credentials: { secret_key: 'sk_test_fake' }, settings: { api_base: fake.url } }));
    const configuration = { rules: [], default: { strategy: 'priority', processors: [impatient.processor, second], fallback: { on: ['not_sent'], max_attempts: 2 } } };
    const route = await made(shop.admin.post('/payment-routes/', { name: 'both', route_configuration: configuration }));
    const method = await methodOf({ ...impatient, customer: shop.customer });
    const theirs = fake.book.all('payment_method')[0]!.id;
    expect((await shop.admin.post(`/payment-methods/${method}/mappings`, { processor_id: second, their_payment_method_id: theirs })).status).toBe(201);
    fake.plan(confirming, 'error_before');
    const { body } = await sell(shop, 'visa', { method, extra: { payment_route_id: route } });
    await settled(shop, body.id, 'succeeded');
    const outcomes = (await chargesOf(shop, body.id)).map(({ attempt_number: n, outcome_class: outcome }) => [n, outcome]).sort();
    expect(outcomes).toEqual([[1, 'not_sent'], [2, 'approved']]);
    expect(booked(shop, body.id)[0]).toMatchObject({ status: 'canceled', amount_received: 0 });
    expect(takenFor(body.id, 2)).toEqual([4_200]);
  });
});
