import { freshAccount } from '../support/account.js';
import { cardOf, chargesOf, eventTypes, intentOf, ledgerOf, made, moneyTaken, openShop, pay, settled, type Shop } from './shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});

const authorized = async (amount = 5_000): Promise<string> => {
  const { status, body } = await pay(shop, { amount, extra: { capture_method: 'manual' } });
  expect([status, body.status, body.amount_atom_capturable]).toEqual([201, 'requires_capture', amount]);
  return body.id;
};
const paid = async (amount = 5_000, extra: object = {}): Promise<{ id: string; charge: string }> => {
  const { body } = await pay(shop, { amount, ...extra });
  expect(body.status).toBe('succeeded');
  return { id: body.id, charge: body.charge_ids[0] };
};
const refund = (body: object, key?: string) => shop.admin.post('/refunds/', body, key ? { key } : {});

describe('a capture', () => {
  it('takes all of the authorised amount', async () => {
    const id = await authorized();
    const { status, body } = await shop.admin.post(`/payment-intents/${id}/capture`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'succeeded', amount_atom_received: 5_000, amount_atom_capturable: 0 });
    expect(await eventTypes(shop, id)).toEqual(['payment_intent.created', 'payment_intent.requires_capture', 'payment_intent.succeeded']);
    expect((await ledgerOf(shop, id)).map((payment) => payment.amount_captured)).toEqual([5_000]);
  });

  it('of a part releases the rest, and happens once', async () => {
    const id = await authorized();
    const more = await shop.admin.post(`/payment-intents/${id}/capture`, { amount_atom: 5_001 });
    expect([more.status, more.body.errors[0].loc]).toEqual([422, ['body', 'amount_atom']]);
    const { body } = await shop.admin.post(`/payment-intents/${id}/capture`, { amount_atom: 2_000 });
    expect(body).toMatchObject({ status: 'succeeded', amount_atom_received: 2_000 });
    const again = await shop.admin.post(`/payment-intents/${id}/capture`);
    expect([again.status, again.body.code]).toEqual([409, 'invalid_state_transition']);
    const tooMuch = await refund({ payment_intent_id: id, amount_atom: 2_001 });
    expect([tooMuch.status, tooMuch.body.code]).toEqual([422, 'refund_exceeds_captured']);
  });

  it('of two at once only one is made', async () => {
    const id = await authorized();
    const answers = await Promise.all([1, 2, 3].map(() => shop.admin.post(`/payment-intents/${id}/capture`, { amount_atom: 1_000 })));
    expect(answers.map((answer) => answer.status).sort()).toEqual([200, 409, 409]);
    expect((await ledgerOf(shop, id)).map((payment) => payment.amount_captured)).toEqual([1_000]);
  });

  it('that is not needed any more is cancelled at the processor', async () => {
    const id = await authorized();
    const { status, body } = await shop.admin.post(`/payment-intents/${id}/cancel`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'canceled', amount_atom_capturable: 0 });
    expect((await ledgerOf(shop, id)).map((payment) => payment.status)).toEqual(['voided']);
    expect(await eventTypes(shop, (await intentOf(shop, id)).charge_ids[0])).toEqual(['charge.created', 'charge.succeeded', 'charge.voided']);
  });
});

describe('a refund', () => {
  it('in parts ends with the whole, and never goes above it', async () => {
    const { id, charge } = await paid();
    const first = await refund({ charge_id: charge, amount_atom: 2_000, reason: 'requested_by_customer' });
    expect(first.status).toBe(201);
    expect(first.body).toMatchObject({ object: 'refund', status: 'succeeded', amount_atom: 2_000, invoice_id: '', charge_id: charge });
    expect(await eventTypes(shop, first.body.id)).toEqual(['refund.created', 'refund.updated']);
    const tooMuch = await refund({ charge_id: charge, amount_atom: 3_001 });
    expect([tooMuch.status, tooMuch.body.code]).toEqual([422, 'refund_exceeds_captured']);
    const rest = await refund({ payment_intent_id: id });
    expect(rest.body).toMatchObject({ status: 'succeeded', amount_atom: 3_000 });
    expect((await chargesOf(shop, id))[0]).toMatchObject({ refunded: true, refunded_amount_atom: 5_000 });
    const intent = await intentOf(shop, id);
    expect(intent).toMatchObject({ status: 'succeeded', amount_atom_refunded: 5_000, refund_ids: [first.body.id, rest.body.id] });
    expect(intent.last_refund_date).toEqual(expect.any(String));
    const none = await refund({ payment_intent_id: id });
    expect([none.status, none.body.code]).toEqual([422, 'refund_exceeds_captured']);
    expect(await moneyTaken(shop, id)).toEqual([]);
    expect((await eventTypes(shop, charge)).filter((type) => type === 'charge.refunded')).toHaveLength(2);
  });

  it('beside a concurrent one is 409, and the sum holds', async () => {
    const { id, charge } = await paid();
    const answers = await Promise.all([1_001, 1_002, 1_003, 1_004].map((amount) => refund({ charge_id: charge, amount_atom: amount })));
    const made201 = answers.filter((answer) => answer.status === 201);
    expect(made201.length).toBeGreaterThan(0);
    expect(answers.every((answer) => answer.status === 201 || answer.body.code === 'conflict')).toBe(true);
    const [payment] = await ledgerOf(shop, id);
    expect(payment?.amount_refunded).toBe(made201.reduce((sum, answer) => sum + answer.body.amount_atom, 0));
  });

  it('equal to one of the last minute is refused without a key, and made with one', async () => {
    const { charge } = await paid();
    expect((await refund({ charge_id: charge, amount_atom: 100 })).status).toBe(201);
    const twin = await refund({ charge_id: charge, amount_atom: 100 });
    expect([twin.status, twin.body.code]).toEqual([409, 'possible_duplicate']);
    expect((await refund({ charge_id: charge, amount_atom: 100 }, `twin-${charge}`)).status).toBe(201);
  });

  it('of a payment that took nothing is 409', async () => {
    const refused = await pay(shop, { simulate: 'do_not_honor' });
    const answer = await refund({ payment_intent_id: refused.body.payment_intent_id });
    expect([answer.status, answer.body.code]).toEqual([409, 'conflict']);
  });

  it('that the provider refuses is failed and gives its reservation back', async () => {
    const { id, charge } = await paid(3_000, { simulate: { [shop.b]: 'approved' } });
    await shop.admin.put(`/payment-intents/${id}`, { custom_fields: { simulate: 'do_not_honor' } });
    const answer = await refund({ charge_id: charge, amount_atom: 1_000 });
    expect([answer.status, answer.body.status]).toEqual([201, 'failed']);
    expect(answer.body.attempt_error_message).toEqual(expect.any(String));
    expect((await chargesOf(shop, id))[0]).toMatchObject({ refunded_amount_atom: 0 });
  });

  it('without an answer stays pending until it is known, and is made once', async () => {
    const { id, charge } = await paid();
    await shop.admin.put(`/payment-intents/${id}`, { custom_fields: { simulate: 'error_after_charge' } });
    const answer = await refund({ charge_id: charge, amount_atom: 700 });
    expect([answer.status, answer.body.status]).toEqual([201, 'pending']);
    const beside = await refund({ charge_id: charge, amount_atom: 1 });
    expect([beside.status, beside.body.code]).toEqual([409, 'conflict']);
    for (let status = 'pending'; status === 'pending'; status = (await shop.admin.get(`/refunds/${answer.body.id}`)).body.status) {
      await settled(shop, id, 'succeeded');
    }
    expect((await shop.admin.get(`/refunds/${answer.body.id}`)).body.status).toBe('succeeded');
    expect((await ledgerOf(shop, id))[0]?.amount_refunded).toBe(700);
  }, 180_000);

  it('out of band changes our books only', async () => {
    const { id, charge } = await paid();
    const { status, body } = await refund({ charge_id: charge, refunded_out_of_band: true });
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'succeeded', reason: 'manual_out_of_band' });
    expect((await intentOf(shop, id)).amount_atom_refunded).toBe(5_000);
    expect((await ledgerOf(shop, id))[0]?.amount_refunded).toBe(0);
  });
});

describe('two confirms at once', () => {
  it('make one charge', async () => {
    const method = await cardOf(shop);
    const id = await made(shop.admin.post('/payment-intents/', { amount_atom: 900, currency: 'eur', customer_id: shop.customer, payment_method_id: method }));
    const answers = await Promise.all([1, 2, 3, 4].map(() => shop.admin.post(`/payment-intents/${id}/confirm`)));
    expect(answers.filter((answer) => answer.status === 200)).toHaveLength(1);
    expect(answers.filter((answer) => answer.status === 409)).toHaveLength(3);
    expect(await ledgerOf(shop, id)).toHaveLength(1);
  });

  it('with the same idempotency key answer the same, with one charge', async () => {
    const method = await cardOf(shop);
    const answers = await Promise.all(Array.from({ length: 6 }, () => pay(shop, { method, key: `same-${method}` })));
    const done = answers.filter((answer) => answer.status === 201);
    expect(done.length).toBeGreaterThan(0);
    expect(new Set(done.map((answer) => answer.text)).size).toBe(1);
    expect(answers.every((answer) => answer.status === 201 || answer.body.code === 'idempotency_key_in_use')).toBe(true);
    expect(await ledgerOf(shop, done[0]!.body.id)).toHaveLength(1);
  });
});

describe('what is refused', () => {
  it.each([
    ['no amount', { amount_atom: undefined }, 'amount_atom'],
    ['amount 0', { amount_atom: 0 }, 'amount_atom'],
    ['a fraction', { amount_atom: 1.5 }, 'amount_atom'],
    ['an unknown currency', { currency: 'xyz' }, 'currency'],
    ['a customer of another kind', { customer_id: 'pm_stg_01m7yy0fcbfvmvgrw3c8x3mb0m' }, 'customer_id'],
    ['no such method', { payment_method_id: 'pm_stg_01m7yy0fcbfvmvgrw3c8x3mb0m' }, 'payment_method_id'],
    ['an unknown field', { surprise: 1 }, 'surprise'],
    ['a script as return address', { return_url: 'javascript:alert(1)' }, 'return_url'],
  ])('%s is 422 and names the field', async (_what, wrong, field) => {
    const { status, body } = await shop.admin.post('/payment-intents/', { amount_atom: 100, currency: 'eur', customer_id: shop.customer, ...wrong });
    expect(status).toBe(422);
    expect(body.errors[0].loc).toContain(field);
  });

  it('a detached or foreign method is 422, no method at confirm too', async () => {
    const method = await cardOf(shop);
    await shop.admin.post(`/payment-methods/${method}/detach`);
    expect((await pay(shop, { method })).status).toBe(422);
    const other = await made(shop.admin.post('/customers/', { email: 'other@example.com' }));
    expect((await pay(shop, { extra: { customer_id: other } })).status).toBe(422);
    const id = await made(shop.admin.post('/payment-intents/', { amount_atom: 900, currency: 'eur', customer_id: shop.customer }));
    const answer = await shop.admin.post(`/payment-intents/${id}/confirm`);
    expect([answer.status, answer.body.code]).toEqual([422, 'payment_method_required']);
  });

  it('READ_ONLY reads and changes nothing; no token is 401', async () => {
    const { id, charge } = await paid();
    expect((await shop.readOnly.get(`/payment-intents/${id}`)).status).toBe(200);
    expect((await shop.readOnly.post('/refunds/list')).status).toBe(200);
    expect((await pay(shop, { client: shop.readOnly })).status).toBe(403);
    expect((await shop.readOnly.post('/refunds/', { charge_id: charge })).status).toBe(403);
    expect((await shop.readOnly.put(`/charges/${charge}`, { custom_fields: {} })).status).toBe(403);
    expect((await shop.admin.as(null).get(`/payment-intents/${id}`)).status).toBe(401);
    expect((await pay(shop, { client: shop.operator })).status).toBe(201);
  });

  it('another account sees nothing of it', async () => {
    const { id, charge } = await paid();
    const { body: made201 } = await refund({ charge_id: charge, amount_atom: 1 });
    const { admin: stranger } = await freshAccount();
    for (const path of [`/payment-intents/${id}`, `/payment-intents/${id}/decisions`, `/charges/${charge}`, `/refunds/${made201.id}`]) {
      expect((await stranger.get(path)).status).toBe(404);
    }
    for (const action of ['confirm', 'capture', 'cancel']) expect((await stranger.post(`/payment-intents/${id}/${action}`)).status).toBe(404);
    expect((await stranger.put(`/payment-intents/${id}`, { metadata: {} })).status).toBe(404);
    expect((await stranger.post('/refunds/', { charge_id: charge })).status).toBe(422);
    expect((await stranger.post('/payment-intents/list')).body.data).toEqual([]);
    expect((await stranger.get('/charges')).body.data).toEqual([]);
  });

  it('a cancelled intent stays cancelled, a paid one cannot be', async () => {
    const id = await made(shop.admin.post('/payment-intents/', { amount_atom: 900, currency: 'eur', customer_id: shop.customer }));
    expect((await shop.admin.post(`/payment-intents/${id}/cancel`)).body.status).toBe('canceled');
    const late = await shop.admin.post(`/payment-intents/${id}/confirm`, { payment_method_id: await cardOf(shop) });
    expect([late.status, late.body.code]).toEqual([409, 'invalid_state_transition']);
    const done = await paid();
    expect((await shop.admin.post(`/payment-intents/${done.id}/cancel`)).status).toBe(409);
  });
});

describe('lists and updates', () => {
  it('filter, page and keep what was written', async () => {
    const { id, charge } = await paid(1_234);
    const found = await shop.admin.post('/payment-intents/list', { amount_atom: { eq: 1_234 }, status: 'succeeded', customer_id: shop.customer });
    expect(found.body).toMatchObject({ total_objects: 1, page_number: 1 });
    expect(found.body.data[0].id).toBe(id);
    const page = await shop.admin.get('/payment-intents?limit=1&status=succeeded');
    expect(page.body).toMatchObject({ has_more: true, next_cursor: expect.any(String) });
    const changed = await shop.admin.put(`/payment-intents/${id}`, { custom_fields: { order: 'A1' } });
    expect(changed.body.custom_fields).toEqual({ order: 'A1' });
    await shop.admin.put(`/payment-intents/${id}`, { custom_fields: { order: 'A1' } });
    expect((await eventTypes(shop, id)).filter((type) => type === 'payment_intent.updated')).toHaveLength(1);
    expect((await shop.admin.put(`/charges/${charge}`, { custom_fields: { seen: true } })).body.custom_fields).toEqual({ seen: true });
    expect((await shop.admin.post('/charges/list', { payment_intent_id: id, status: 'succeeded', refunded: false })).body.total_objects).toBe(1);
  });
});
