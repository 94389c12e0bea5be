import { jest } from '@jest/globals';
import { made } from '../payments/shop.js';
import { freshAccount } from '../support/account.js';
import { eventually } from '../support/stack.js';
import { fakeKey, fakeWebhookSecret, StripeFake } from './stripe-fake.js';
import { booked, chargesOf, methodOf, openStripeShop, post, sell, settled, tokenised, type StripeShop } from './stripe-shop.js';

jest.setTimeout(180_000);

let fake: StripeFake;
let shop: StripeShop;

beforeAll(async () => {
  fake = await StripeFake.open();
  shop = await openStripeShop(fake);
});

afterAll(() => fake?.close());

describe('a connection to Stripe', () => {
  const wanted = { name: 'Stripe', kind: 'stripe', credentials: { secret_key: fakeKey, webhook_secret: fakeWebhookSecret } };

  it.each<[string, object, string[]]>([
    ['a live key in staging', { credentials: { secret_key: 'sk_live_51' } }, ['credentials', 'secret_key']],
    ['a key that is none', { credentials: { secret_key: 'hello' } }, ['credentials', 'secret_key']],
    ['a webhook secret that is none', { credentials: { secret_key: fakeKey, webhook_secret: 'abc' } }, ['credentials', 'webhook_secret']],
    ['a credential that is unknown', { credentials: { secret_key: fakeKey, publishable_key: 'pk_test_1' } }, ['credentials', 'publishable_key']],
    ['a host that is not this machine', { settings: { api_base: 'https://api.stripe.example' } }, ['settings', 'api_base']],
    ['too long a deadline', { settings: { total_timeout_ms: 60_001 } }, ['settings', 'total_timeout_ms']],
  ])('is refused with %s', async (_what, change, loc) => {
    const refused = await shop.admin.post('/payment-processors/', { ...wanted, ...change });
    expect(refused.status).toBe(422);
    expect(refused.body.errors[0].loc).toEqual(['body', ...loc]);
    expect(refused.text).not.toContain('sk_live_51');
  });

  it('in production takes live keys only, and no other host than Stripe\'s', async () => {
    const { admin } = await freshAccount('production');
    const test = await admin.post('/payment-processors/', wanted);
    expect([test.status, test.body.errors[0].loc]).toEqual([422, ['body', 'credentials', 'secret_key']]);
    const live = { ...wanted, credentials: { secret_key: 'sk_live_51abc' } };
    expect((await admin.post('/payment-processors/', live)).status).toBe(201);
    const elsewhere = await admin.post('/payment-processors/', { ...live, settings: { api_base: fake.url } });
    expect([elsewhere.status, elsewhere.body.errors[0].loc]).toEqual([422, ['body', 'settings', 'api_base']]);
  });
});

describe('a token of Stripe\'s browser library', () => {
  it('becomes a payment method that can be charged later without the customer', async () => {
    const { status, body } = await tokenised(shop, 'tok_visa');
    expect(status).toBe(201);
    expect(body).toMatchObject({ card_brand: 'visa', last_four: '4242', connections: [{ processor_id: shop.processor, usable_without_customer: true }] });
    const browser = await tokenised(shop, fake.book.method('tok_mastercard').id);
    expect(browser.body).toMatchObject({ card_brand: 'mastercard' });
  });

  it('that the issuer refuses, or that Stripe does not know, makes none', async () => {
    const stolen = await tokenised(shop, 'tok_refused_at_setup');
    expect([stolen.status, stolen.body.code]).toEqual([402, 'stolen_card']);
    const unknown = await tokenised(shop, 'tok_never_heard_of');
    expect(unknown.status).toBeGreaterThanOrEqual(400);
  });
});

describe('a payment over Stripe', () => {
  it('is approved: one PaymentIntent, made, then confirmed', async () => {
    const { status, body } = await sell(shop, 'visa');
    expect([status, body.status]).toEqual([201, 'succeeded']);
    const [intent, ...others] = booked(shop, body.id);
    expect(others).toEqual([]);
    expect(intent).toMatchObject({ status: 'succeeded', amount_received: 4_200, currency: 'eur' });
    expect(body).toMatchObject({ processor_payment_intent_id: intent!.id });
    const keys = fake.asked.filter(({ key }) => key?.startsWith(body.id)).map(({ key }) => key);
    expect(keys).toEqual([`${body.id}-1`, `${body.id}-1-confirm`]);
  });

  it.each<[string, string, string, string | null]>([
    ['do_not_honor', 'soft_decline', 'do_not_honor', 'later'],
    ['insufficient_funds', 'insufficient_funds', 'insufficient_funds', 'later'],
    ['lost_card', 'hard_decline', 'lost_card', 'never'],
    ['fraudulent', 'risk_refused', 'suspected_fraud', null],
    ['processing_error', 'processor_error', 'processing_error', null],
    ['never_again', 'soft_decline', 'do_not_honor', 'never'],
  ])('%s: %s', async (behaviour, outcomeClass, code, advice) => {
    const { status, body } = await sell(shop, behaviour);
    expect([status, body.code]).toEqual([402, code]);
    const [charge] = await chargesOf(shop, body.payment_intent_id);
    expect(charge).toMatchObject({ status: 'failed', outcome_class: outcomeClass });
    if (advice) expect(charge).toMatchObject({ retry_advice: advice });
    expect(booked(shop, body.payment_intent_id).filter((intent) => intent.amount_received > 0)).toEqual([]);
  });

  it('without the customer is told to be so; where the issuer wants the customer it is refused', async () => {
    const method = await methodOf(shop, 'wants_customer');
    const absent = await sell(shop, 'wants_customer', { method, extra: { off_session: true } });
    expect([absent.status, absent.body.code]).toEqual([402, 'authentication_required']);
    const confirms = fake.requests(/confirm$/).filter(({ key }) => key?.startsWith(absent.body.payment_intent_id));
    expect(confirms.map(({ body }) => body.off_session)).toEqual(['true']);
    expect((await sell(shop, 'wants_customer', { method })).body.status).toBe('succeeded');
  });

  it('sends the customer to a challenge; passed it is paid, failed it is refused', async () => {
    const open = async () => {
      const { body } = await sell(shop, 'challenge');
      expect(body).toMatchObject({ status: 'requires_action', next_action: { redirect_url: expect.stringContaining('https://hooks.stripe.example/') } });
      return { id: body.id as string, intent: booked(shop, body.id)[0]! };
    };
    const passed = await open();
    expect(passed.intent.next_action.redirect_to_url.return_url).toBe('https://shop.example/back');
    fake.book.approve(passed.intent);
    expect(await post(shop, fake.event('payment_intent.succeeded', passed.intent))).toMatchObject({ status: 200 });
    expect(await settled(shop, passed.id, 'succeeded')).toMatchObject({ amount_atom_received: 4_200 });

    const failed = await open();
    fake.book.decline(failed.intent, { code: 'payment_intent_authentication_failure' });
    await post(shop, fake.event('payment_intent.payment_failed', failed.intent));
    expect(await settled(shop, failed.id, 'requires_payment_method')).toMatchObject({ status: 'requires_payment_method' });
    expect((await chargesOf(shop, failed.id))[0]).toMatchObject({ status: 'failed', failure_code: 'authentication_failed' });
  });

  it('that takes its time is processing until Stripe tells the end', async () => {
    const { body } = await sell(shop, 'processing');
    expect(body.status).toBe('processing');
    const [intent] = booked(shop, body.id);
    fake.book.approve(intent!);
    await post(shop, fake.event('payment_intent.succeeded', intent!));
    expect(await settled(shop, body.id, 'succeeded')).toMatchObject({ amount_atom_received: 4_200 });
  });

  it('is captured in part by hand, and the rest is let go', async () => {
    const { body } = await sell(shop, 'visa', { extra: { capture_method: 'manual' } });
    expect(body.status).toBe('requires_capture');
    const captured = await shop.admin.post(`/payment-intents/${body.id}/capture`, { amount_atom: 3_000 });
    expect(captured.status).toBe(200);
    expect(await settled(shop, body.id, 'succeeded')).toMatchObject({ amount_atom_received: 3_000 });
    const [intent] = booked(shop, body.id);
    expect(intent).toMatchObject({ status: 'succeeded', amount_received: 3_000 });
    const released = fake.book.all('refund').find((each) => each.payment_intent === intent!.id);
    expect(released).toMatchObject({ amount: 1_200 });
    for (const event of [fake.event('refund.created', released!), fake.event('charge.refunded', fake.book.get('charge', intent!.latest_charge))]) {
      expect((await post(shop, event)).status).toBe(200);
    }
    const [charge] = await chargesOf(shop, body.id);
    expect(charge).toMatchObject({ amount_atom_captured: 3_000, refunded_amount_atom: 0 });
    const refund = await shop.admin.post('/refunds/', { charge_id: charge.id, amount_atom: 3_000 });
    await eventually(async () => (await shop.admin.get(`/refunds/${refund.body.id}`)).body.status === 'succeeded');
  });

  it('is cancelled at Stripe before it counts as cancelled', async () => {
    const { body } = await sell(shop, 'visa', { extra: { capture_method: 'manual' } });
    const cancelled = await shop.admin.post(`/payment-intents/${body.id}/cancel`);
    expect(cancelled.body.status).toBe('canceled');
    expect(booked(shop, body.id)[0]).toMatchObject({ status: 'canceled' });
  });

  it('approved in part is given back and refused', async () => {
    const { body } = await sell(shop, 'partial');
    expect(body.code).toBe('partial_approval');
    const [intent] = booked(shop, body.payment_intent_id);
    const refunds = fake.book.all('refund').filter((each) => each.payment_intent === intent!.id);
    expect(refunds.map(({ amount, status }) => [amount, status])).toEqual([[2_100, 'succeeded']]);
  });
});

describe('a refund over Stripe', () => {
  async function paid(behaviour: string) {
    const { body } = await sell(shop, behaviour);
    return { charge: body.charge_ids[0] as string, intent: booked(shop, body.id)[0]! };
  }
  const refundOf = (id: string, status: string) => eventually(async () => {
    const { body } = await shop.admin.get(`/refunds/${id}`);
    return body.status === status ? body : null;
  }, { timeoutMs: 90_000, intervalMs: 100 });
  const theirs = (intent: string) => fake.book.all('refund').find((each) => each.payment_intent === intent)!;

  it('is made', async () => {
    const { charge, intent } = await paid('visa');
    const { body } = await shop.admin.post('/refunds/', { charge_id: charge, amount_atom: 1_200 });
    await refundOf(body.id, 'succeeded');
    expect(theirs(intent.id)).toMatchObject({ amount: 1_200, status: 'succeeded' });
  });

  it.each(['succeeded', 'failed'] as const)('is pending first, then %s by event', async (end) => {
    const { charge, intent } = await paid('refund_pending');
    const { body } = await shop.admin.post('/refunds/', { charge_id: charge, amount_atom: 1_200 });
    const refund = await eventually(() => theirs(intent.id));
    expect((await shop.admin.get(`/refunds/${body.id}`)).body.status).toBe('pending');
    fake.book.settleRefund(refund.id, end);
    expect(await post(shop, fake.event(end === 'failed' ? 'refund.failed' : 'refund.updated', refund))).toMatchObject({ status: 200 });
    await refundOf(body.id, end);
    expect((await shop.admin.get(`/charges/${charge}`)).body).toMatchObject({ refunded_amount_atom: end === 'failed' ? 0 : 1_200 });
    expect(fake.requests(/^POST .*refunds$/).filter((each) => each.body.payment_intent === intent.id)).toHaveLength(1);
  });

  it('that fails at once gives its amount back', async () => {
    const { charge } = await paid('refund_failed');
    const { body } = await shop.admin.post('/refunds/', { charge_id: charge, amount_atom: 1_200 });
    await refundOf(body.id, 'failed');
    expect((await shop.admin.get(`/charges/${charge}`)).body).toMatchObject({ refunded_amount_atom: 0 });
  });

  it('made in Stripe\'s dashboard is known here too, and so is a dispute', async () => {
    const { charge, intent } = await paid('visa');
    const elsewhere = fake.book.refund({ payment_intent: intent.id, amount: 700, metadata: {} } as never);
    await post(shop, fake.event('refund.created', elsewhere));
    await eventually(async () => (await shop.admin.get(`/charges/${charge}`)).body.refunded_amount_atom === 700);
    await post(shop, fake.event('charge.dispute.created', fake.book.dispute(intent.id, 'fraudulent')));
    await eventually(async () => (await shop.admin.get(`/charges/${charge}`)).body.disputed);
  });
});

describe('a callback of Stripe', () => {
  it('is refused when it is forged, stale, unsigned, or signed for another endpoint', async () => {
    const { body } = await sell(shop, 'processing');
    const [intent] = booked(shop, body.id);
    const told = { ...intent!, status: 'succeeded', amount_received: 4_200 };
    const genuine = fake.event('payment_intent.succeeded', told);
    const now = Math.floor(Date.now() / 1_000);
    const stale = fake.event('payment_intent.succeeded', told, { at: now - 301 });
    const forged = fake.event('payment_intent.succeeded', told, { secret: 'whsec_guessed' });
    const changed = { ...genuine, body: genuine.body.replace('4200', '4201') };
    const unsigned = { ...genuine, headers: { 'content-type': 'application/json' } };
    for (const wrong of [stale, forged, changed, unsigned]) {
      const refused = await post(shop, wrong);
      expect(refused.status).toBe(401);
      expect(refused.text).not.toContain(fakeWebhookSecret);
    }
    expect((await shop.admin.get(`/payment-intents/${body.id}`)).body.status).toBe('processing');
    fake.book.approve(intent!);
    expect((await post(shop, genuine)).status).toBe(200);
    expect((await post(shop, genuine)).status).toBe(200);
    await settled(shop, body.id, 'succeeded');
  });

  it('of no interest, or about a payment of somebody else, is taken and changes nothing', async () => {
    expect((await post(shop, fake.event('customer.created', { id: 'cus_1', object: 'customer' }))).status).toBe(200);
    const method = fake.book.method('tok_visa');
    const foreign = fake.book.approve(fake.book.intent({ amount: 100, currency: 'eur', payment_method: method.id } as never));
    expect((await post(shop, fake.event('payment_intent.succeeded', foreign))).status).toBe(200);
  });

  it('may be signed with the secret before while it is rotated', async () => {
    const own = await openStripeShop(fake);
    const { body } = await sell(own, 'processing');
    const rotated = await own.admin.post(`/payment-processors/${own.processor}/rotate-credentials`, {
      credentials: { secret_key: fakeKey, webhook_secret: 'whsec_fake_two' }, overlap_seconds: 3_600,
    });
    expect(rotated.status).toBe(200);
    const [intent] = booked(own, body.id);
    fake.book.approve(intent!);
    expect((await post(own, fake.event('payment_intent.succeeded', intent!, { secret: 'whsec_guessed' }))).status).toBe(401);
    expect((await post(own, fake.event('customer.created', { id: 'cus_2', object: 'customer' }, { secret: 'whsec_fake_two' }))).status).toBe(200);
    expect((await post(own, fake.event('payment_intent.succeeded', intent!))).status).toBe(200);
    await settled(own, body.id, 'succeeded');
  });
});

describe('an outcome that nobody knows', () => {
  it('after the confirmation was carried out: the identical request finds it, and there is one charge', async () => {
    const method = await methodOf(shop);
    fake.plan(/^POST .*\/confirm$/, 'drop_after');
    const { body } = await sell(shop, 'visa', { method });
    expect(fake.requests(/confirm$/).filter(({ key }) => key === `${body.id}-1-confirm`)).toHaveLength(2);
    expect(await settled(shop, body.id, 'succeeded')).toMatchObject({ charge_ids: [expect.any(String)] });
    expect(booked(shop, body.id)).toHaveLength(1);
    expect(fake.book.all('charge').filter((each) => each.payment_intent === booked(shop, body.id)[0]!.id)).toHaveLength(1);
  });

  it('with a second processor free: never asked, because the first one charged', async () => {
    const own = await openStripeShop(fake);
    const second = await made(own.admin.post('/payment-processors/', { name: 'Second', kind: 'simulator' }));
    const configuration = { rules: [], default: { strategy: 'priority', processors: [own.processor, second], fallback: { on: ['not_sent', 'processor_error', 'soft_decline'], max_attempts: 2 } } };
    const route = await made(own.admin.post('/payment-routes/', { name: 'both', route_configuration: configuration }));
    const method = await methodOf(own);
    fake.plan(/^POST .*\/confirm$/, 'error_after', 5);
    const { body } = await sell(own, 'visa', { method, extra: { payment_route_id: route } });
    expect(body.status).toBe('processing');
    const [intent] = booked(own, body.id);
    await post(own, fake.event('payment_intent.succeeded', intent!));
    expect(await settled(own, body.id, 'succeeded')).toMatchObject({ charge_ids: [expect.any(String)] });
    expect(await chargesOf(own, body.id)).toHaveLength(1);
  });
});

it('says by a check whether the key is accepted', async () => {
  const good = await shop.admin.post(`/payment-processors/${shop.processor}/check`);
  expect(good.body).toMatchObject({ ok: true });
  const other = await made(shop.admin.post('/payment-processors/', { name: 'Wrong', kind: 'stripe', credentials: { secret_key: 'sk_test_other' }, settings: { api_base: fake.url } }));
  const bad = await shop.admin.post(`/payment-processors/${other}/check`);
  expect(bad.body).toMatchObject({ ok: false, detail: 'Stripe refuses the secret key.' });
});
