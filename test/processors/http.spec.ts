import { jest } from '@jest/globals';
import { freshAccount, type Answer } from '../support/account.js';
import { openEngine } from '../support/engine.js';
import { eventually } from '../support/stack.js';
import { made } from '../payments/shop.js';
import { booked, chargesOf, closeHttpShops, methodOf, openHttpShop, sell, tokenised, type HttpShop } from './http-shop.js';

jest.setTimeout(180_000);
afterAll(closeHttpShops);

describe('a connection of kind http', () => {
  const secret = 's'.repeat(40);

  it.each<[what: string, body: object, loc: string[]]>([
    ['no address', { settings: {} }, ['body', 'settings', 'base_url']],
    ['no settings', {}, ['body', 'settings', 'base_url']],
    ['plain http elsewhere', { settings: { base_url: 'http://pay.example' } }, ['body', 'settings', 'base_url']],
    ['another scheme', { settings: { base_url: 'ftp://pay.example' } }, ['body', 'settings', 'base_url']],
    ['a user in the address', { settings: { base_url: 'https://me:word@pay.example' } }, ['body', 'settings', 'base_url']],
    ['port 0', { settings: { base_url: 'https://pay.example:0' } }, ['body', 'settings', 'base_url']],
    ['an unknown setting', { settings: { base_url: 'https://pay.example', outcome: 'approved' } }, ['body', 'settings', 'outcome']],
    ['a look-up of no known kind', { settings: { base_url: 'https://pay.example', lookup: 'weak' } }, ['body', 'settings', 'lookup']],
    ['no secret', { settings: { base_url: 'https://pay.example' }, credentials: null }, ['body', 'credentials', 'secret']],
    ['a short secret', { settings: { base_url: 'https://pay.example' }, credentials: { secret: 'hush' } }, ['body', 'credentials', 'secret']],
    ['an unknown credential', { settings: { base_url: 'https://pay.example' }, credentials: { secret, api_key: 'x' } }, ['body', 'credentials', 'api_key']],
  ])('is refused with %s, at its place', async (_what, body, loc) => {
    const { admin } = await freshAccount();
    const refused = await admin.post('/payment-processors/', { name: 'Our own', kind: 'http', credentials: { secret }, ...body });
    expect([refused.status, refused.body.errors?.[0]?.loc]).toEqual([422, loc]);
    expect(refused.text).not.toContain('hush');
  });

  it('is made in production too, but not on loopback', async () => {
    const { admin } = await freshAccount('production');
    const wish = (base_url: string) => admin.post('/payment-processors/', { name: 'Our own', kind: 'http', credentials: { secret }, settings: { base_url } });
    expect((await wish('https://pay.example/signalbox')).status).toBe(201);
    const refused = await wish('http://127.0.0.1:4900');
    expect([refused.status, refused.body.errors[0].loc]).toEqual([422, ['body', 'settings', 'base_url']]);
  });

  it('can be checked: the right secret, another one, nobody there', async () => {
    const shop = await openHttpShop();
    const check = async (id: string) => (await shop.admin.post(`/payment-processors/${id}/check`)).body;
    expect(await check(shop.processor)).toMatchObject({ ok: true, detail: 'Reference provider answers, signed with our secret.' });
    const settings = { base_url: shop.provider.url };
    const other = await made(shop.admin.post('/payment-processors/', { name: 'Other', kind: 'http', credentials: { secret }, settings }));
    expect(await check(other)).toMatchObject({ ok: false, detail: expect.stringContaining('unknown key') });
    await shop.provider.kill9();
    expect(await check(shop.processor)).toMatchObject({ ok: false, detail: expect.stringContaining('ECONNREFUSED') });
  });
});

describe('a payment method of a browser\'s token', () => {
  it('is described, known to its connection by the true kind, and absent from the published mappings', async () => {
    const shop = await openHttpShop();
    const { status, body } = await tokenised(shop);
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'authorized', card_brand: 'visa', last_four: '4242', expiry_date: '12/2040', display_name: 'Visa ending in 4242', mappings: [] });
    expect(body.connections).toEqual([
      { processor_id: shop.processor, name: 'Our own', kind: 'http', their_payment_method_id: expect.stringMatching(/^payment_method_/), usable_without_customer: true },
    ]);
    expect((await shop.readOnly.get(`/payment-methods/${body.id}`)).body).toEqual(body);
  });

  it('is not made of a token that the provider refuses, nor of a card that it declines', async () => {
    const shop = await openHttpShop();
    const unknown = await tokenised(shop, 'tok_of_nobody');
    expect([unknown.status, unknown.body.errors?.[0]?.loc]).toEqual([422, ['body', 'token']]);
    const refused = await tokenised(shop, 'tok_refused');
    expect([refused.status, refused.body.code]).toEqual([402, 'do_not_honor']);
    expect((await shop.admin.post('/payment-methods/list')).body.total_objects).toBe(0);
  });
});

describe('a payment', () => {
  it('is charged once, at the provider and here', async () => {
    const shop = await openHttpShop();
    const { status, body } = await sell(shop);
    expect([status, body.status, body.amount_atom_received]).toEqual([201, 'succeeded', 4_200]);
    const [charge, ...more] = await chargesOf(shop, body.id);
    expect(more).toEqual([]);
    const [payment, ...others] = await booked(shop, body.id);
    expect(others).toEqual([]);
    expect(payment).toMatchObject({ status: 'captured', amount_captured: 4_200 });
    expect(charge).toMatchObject({ outcome_class: 'approved', payment_processor_id: shop.processor, payment_processor_name: 'http', processor_payment_id: payment!.id });
  });

  it('runs inline as well', async () => {
    const shop = await openHttpShop();
    const { status, body } = await sell(shop, { extra: { execution: 'inline' } });
    expect([status, body.status]).toEqual([201, 'succeeded']);
    expect(await booked(shop, body.id)).toHaveLength(1);
  });

  it.each([
    ['do_not_honor', 'soft_decline', null],
    ['insufficient_funds', 'insufficient_funds', null],
    ['lost_card', 'hard_decline', null],
    ['authentication_required', 'authentication_required', null],
    ['suspected_fraud', 'risk_refused', null],
    ['do_not_try_again', 'hard_decline', 'never'],
  ])('is declined with %s', async (code, outcomeClass, advice) => {
    const shop = await openHttpShop();
    const { status, body } = await sell(shop, { method: await methodOf(shop, `tok_${code}`) });
    expect([status, body.code]).toEqual([402, code]);
    const [charge] = await chargesOf(shop, body.payment_intent_id);
    expect(charge).toMatchObject({ status: 'failed', outcome_class: outcomeClass, failure_code: code, retry_advice: advice });
    expect(await booked(shop, body.payment_intent_id)).toMatchObject([{ status: 'declined', amount_captured: 0 }]);
  });

  it('is held, captured in part and given back in parts', async () => {
    const shop = await openHttpShop();
    const { body } = await sell(shop, { extra: { capture_method: 'manual' } });
    expect(body.status).toBe('requires_capture');
    expect((await shop.admin.post(`/payment-intents/${body.id}/capture`, { amount_atom: 4_000 })).body.status).toBe('succeeded');
    const charge_id = body.charge_ids[0];
    for (const amount_atom of [1_000, 500]) {
      const refund = await shop.admin.post('/refunds/', { charge_id, amount_atom });
      expect([refund.status, refund.body.status]).toEqual([201, 'succeeded']);
    }
    expect((await shop.admin.post('/refunds/', { charge_id, amount_atom: 2_501 })).status).toBe(422);
    expect(await booked(shop, body.id)).toMatchObject([{ status: 'captured', amount_captured: 4_000, amount_refunded: 1_500 }]);
  });

  it('is held and cancelled', async () => {
    const shop = await openHttpShop();
    const { body } = await sell(shop, { extra: { capture_method: 'manual' } });
    expect((await shop.admin.post(`/payment-intents/${body.id}/cancel`)).body.status).toBe('canceled');
    expect(await booked(shop, body.id)).toMatchObject([{ status: 'voided', amount_captured: 0 }]);
  });
});

describe('a reconciliation', () => {
  async function reconciled({ admin, processor }: HttpShop): Promise<Answer['body']> {
    const { id } = (await admin.post(`/payment-processors/${processor}/reconcile`)).body;
    return eventually(async () => {
      const run = (await admin.get(`/payment-processors/${processor}/reconciliations`)).body.data.find((each: Answer['body']) => each.id === id);
      return run.status === 'running' ? null : run;
    }, { timeoutMs: 90_000 });
  }

  it('reads the provider\'s list and finds that both sides agree', async () => {
    const shop = await openHttpShop({ settings: { list: true } });
    const paid = await sell(shop);
    expect((await shop.admin.post('/refunds/', { charge_id: paid.body.charge_ids[0], amount_atom: 300 })).status).toBe(201);
    await sell(shop, { method: await methodOf(shop, 'tok_do_not_honor') });
    const held = await sell(shop, { extra: { capture_method: 'manual' } });
    expect((await shop.admin.post(`/payment-intents/${held.body.id}/cancel`)).body.status).toBe('canceled');
    expect(await reconciled(shop)).toMatchObject({ status: 'done', compared: 3, differences: 0 });
  });

  it('is not made where the connection does not promise a list', async () => {
    expect(await reconciled(await openHttpShop())).toMatchObject({ status: 'not_supported' });
  });
});

describe('a call that may take a minute', () => {
  it('is a normal activity: it outlives what a workflow task may take, and the caller waits for it', async () => {
    const shop = await openHttpShop({ broken: 'very-slow' });
    const { status, body } = await sell(shop);
    expect([status, body.status]).toEqual([201, 'succeeded']);
    expect(await booked(shop, body.id)).toHaveLength(1);
    const engine = await openEngine();
    const { events } = await engine.client.workflow.getHandle(`payment/${body.id}`).fetchHistory();
    const scheduled = events!.map((event) => event.activityTaskScheduledEventAttributes?.activityType?.name).filter(Boolean);
    const local = events!.filter((event) => event.markerRecordedEventAttributes?.markerName === 'core_local_activity');
    expect([[...new Set(scheduled)], local]).toEqual([['advancePayment'], []]);
    await engine.close();
  });
});
