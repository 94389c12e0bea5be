import { jest } from '@jest/globals';
import { freshAccount } from '../support/account.js';
import { eventually } from '../support/stack.js';
import { cardOf, chargesOf, eventTypes, intentOf, moneyTaken, openShop, pay, settled, type Shop } from '../payments/shop.js';

jest.setTimeout(180_000);

async function stop(shop: Shop, body: object): Promise<string> {
  const answer = await shop.admin.post('/charge-stops/', { reason: 'Something looks wrong', ...body });
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.id as string;
}

/** A card that may be charged without the customer. */
async function keptCard(shop: Shop): Promise<string> {
  const method = await cardOf(shop);
  for (const simulate of ['approved', { [shop.a]: 'processing_error' }]) await pay(shop, { method, simulate });
  return method;
}

const unattended = { off_session: true };

describe('a stop of the account', () => {
  it('refuses a customer who is there, without an attempt, and the payment can be confirmed when it is lifted', async () => {
    const shop = await openShop();
    const id = await stop(shop, { scope: 'account' });
    const answer = await pay(shop);
    expect([answer.status, answer.body.code]).toEqual([409, 'charging_stopped']);
    const intent = answer.body.payment_intent_id;
    expect(await intentOf(shop, intent)).toMatchObject({ status: 'requires_payment_method', decline_code: 'charging_stopped', charge_ids: [] });
    const { body: decisions } = await shop.admin.get(`/payment-intents/${intent}/decisions`);
    expect(decisions).toMatchObject([{ charge_id: null, reason: expect.stringContaining('new charges are stopped') }]);
    const again = await shop.admin.post(`/payment-intents/${intent}/confirm`);
    expect([again.status, again.body.code]).toEqual([409, 'charging_stopped']);
    expect((await shop.admin.post(`/charge-stops/${id}/lift`)).body).toMatchObject({ status: 'lifted', waiting_payments: 0, drained_at: expect.any(String) });
    const confirmed = await shop.admin.post(`/payment-intents/${intent}/confirm`);
    expect([confirmed.status, confirmed.body.status, confirmed.body.charge_ids.length]).toEqual([200, 'succeeded', 1]);
  });

  it.each(['workflow', 'inline'])('lets an unattended payment wait (%s), told at once, and lets it go when it is lifted', async (execution) => {
    const shop = await openShop();
    const method = await keptCard(shop);
    const id = await stop(shop, { scope: 'account' });
    const asked = performance.now();
    const answer = await pay(shop, { method, extra: { ...unattended, execution } });
    expect([answer.status, answer.body.status]).toEqual([201, 'processing']);
    expect(performance.now() - asked).toBeLessThan(5_000);
    expect(answer.body).toMatchObject({ charging_stopped: { charge_stop_ids: [id], since: expect.any(String) }, charge_ids: [] });
    expect((await shop.admin.get(`/charge-stops/${id}`)).body).toMatchObject({ status: 'stands', waiting_payments: 1 });
    const { body: lines } = await shop.admin.get('/attention?status=open&type=charge_stop');
    expect(lines.data).toMatchObject([{ object_id: id, actions: [expect.stringContaining(`/charge-stops/${id}/lift`)] }]);
    await shop.admin.post(`/charge-stops/${id}/lift`, { restart_per_second: 50 });
    expect(await settled(shop, answer.body.id, 'succeeded')).toMatchObject({ charging_stopped: null });
    expect(await moneyTaken(shop, answer.body.id)).toHaveLength(1);
    await eventually(async () => (await shop.admin.get(`/charge-stops/${id}`)).body.drained_at);
    expect(await eventTypes(shop, id)).toEqual(['charge_stop.started', 'charge_stop.lifted']);
    expect((await shop.admin.get('/attention?status=open&type=charge_stop')).body.data).toEqual([]);
  });

  it('lets a payment that waits be cancelled, and then it is never attempted', async () => {
    const shop = await openShop();
    const method = await keptCard(shop);
    const id = await stop(shop, { scope: 'account' });
    const { body: waiting } = await pay(shop, { method, extra: unattended });
    const canceled = await shop.admin.post(`/payment-intents/${waiting.id}/cancel`);
    expect([canceled.status, canceled.body]).toEqual([200, expect.objectContaining({ status: 'canceled', charging_stopped: null })]);
    expect((await shop.admin.post(`/charge-stops/${id}/lift`)).body.waiting_payments).toBe(0);
    expect((await pay(shop, { method, extra: unattended })).body.status).toBe('succeeded');
    expect(await intentOf(shop, waiting.id)).toMatchObject({ status: 'canceled', charge_ids: [] });
  });

  it('stops nobody else, and no capture, refund or lookup', async () => {
    const [shop, other] = [await openShop(), await openShop()];
    const method = await cardOf(shop);
    const [paid, held] = [await pay(shop, { method }), await pay(shop, { method, extra: { capture_method: 'manual' } })];
    const unknown = await pay(shop, { method, simulate: 'error_after_charge' });
    await stop(shop, { scope: 'account' });
    expect((await pay(other)).status).toBe(201);
    expect((await shop.admin.post(`/payment-intents/${held.body.id}/capture`)).body.status).toBe('succeeded');
    expect((await shop.admin.post('/refunds/', { charge_id: paid.body.charge_ids[0] })).status).toBe(201);
    await settled(shop, unknown.body.id, 'succeeded');
  });

  it('lets no attempt begin after its answer', async () => {
    const shop = await openShop();
    const method = await cardOf(shop);
    const answers = Array.from({ length: 40 }, () => pay(shop, { method, extra: { execution: 'inline' } }));
    await eventually(async () => (await shop.admin.post('/charges/list', { payment_method_id: method })).body.total_objects > 3);
    await stop(shop, { scope: 'account' });
    const { total_objects: begun } = (await shop.admin.post('/charges/list', { payment_method_id: method })).body;
    const statuses = (await Promise.all(answers)).map(({ status }) => status);
    expect((await shop.admin.post('/charges/list', { payment_method_id: method })).body.total_objects).toBe(begun);
    expect(statuses.filter((status) => status === 201)).toHaveLength(begun);
    expect(statuses.filter((status) => status === 409)).toHaveLength(40 - begun);
  }, 180_000);
});

describe('a stop of a connection', () => {
  it('is left out by the route with the reason, and holds up what no other can take', async () => {
    const shop = await openShop();
    const method = await keptCard(shop);
    const first = await stop(shop, { scope: 'processor', object_id: shop.a });
    const elsewhere = await pay(shop, { method, extra: unattended });
    expect([elsewhere.status, elsewhere.body.status]).toEqual([201, 'succeeded']);
    const { body: [decision] } = await shop.admin.get(`/payment-intents/${elsewhere.body.id}/decisions`);
    expect(decision).toMatchObject({ processor_id: shop.b, skipped: [{ processor_id: shop.a, reason: 'stopped' }] });
    const second = await stop(shop, { scope: 'processor', object_id: shop.b });
    const waiting = await pay(shop, { method, extra: unattended });
    expect(waiting.body).toMatchObject({ status: 'processing', charge_ids: [], charging_stopped: { charge_stop_ids: expect.arrayContaining([first, second]) } });
    expect((await pay(shop, { method })).body.code).toBe('charging_stopped');
    await shop.admin.post(`/charge-stops/${first}/lift`);
    expect((await chargesOf(shop, (await settled(shop, waiting.body.id, 'succeeded')).id))[0]).toMatchObject({ payment_processor_id: shop.a });
    expect((await shop.admin.get(`/charge-stops/${second}`)).body).toMatchObject({ status: 'stands', waiting_payments: 0 });
  });

  it('ends a fallback with the decline that was there already', async () => {
    const shop = await openShop({ fallback: { on: ['processor_error', 'not_sent'], max_attempts: 2 } });
    await stop(shop, { scope: 'processor', object_id: shop.b });
    const answer = await pay(shop, { simulate: { [shop.a]: 'processing_error' } });
    expect([answer.status, answer.body.code]).toEqual([402, 'processing_error']);
  });
});

describe('what may be asked', () => {
  it('needs an ADMIN, names what is wrong, and refuses what is done already', async () => {
    const [shop, other] = [await openShop(), await freshAccount()];
    expect((await shop.operator.post('/charge-stops/', { scope: 'account', reason: 'x' })).status).toBe(403);
    const bad = async (body: object, field: string) => {
      const answer = await shop.admin.post('/charge-stops/', { reason: 'x', ...body });
      expect([answer.status, answer.body.errors?.[0]?.loc]).toEqual([422, ['body', field]]);
    };
    await bad({ scope: 'processor' }, 'object_id');
    await bad({ scope: 'price', object_id: shop.a }, 'object_id');
    await bad({ scope: 'account', object_id: other.publicId }, 'object_id');
    await bad({ scope: 'all' }, 'scope');
    await bad({ scope: 'account', reason: '' }, 'reason');
    const stolen = await other.admin.post('/charge-stops/', { scope: 'processor', object_id: shop.a, reason: 'x' });
    expect([stolen.status, stolen.body.errors[0].type]).toEqual([422, 'unknown_reference']);
    const id = await stop(shop, { scope: 'account', object_id: shop.publicId });
    expect((await shop.admin.post('/charge-stops/', { scope: 'account', reason: 'x' })).status).toBe(409);
    expect((await other.admin.post(`/charge-stops/${id}/lift`)).status).toBe(404);
    expect((await other.admin.get(`/charge-stops/${id}`)).status).toBe(404);
    expect((await shop.operator.post(`/charge-stops/${id}/lift`)).status).toBe(403);
    expect((await shop.readOnly.get('/charge-stops?status=stands')).body.data).toMatchObject([{ id }]);
    expect((await shop.readOnly.post('/charge-stops/list', { scope: 'account', sort_key: 'updated_at' })).body).toMatchObject({ total_objects: 1, data: [{ id }] });
    const key = 'lift-once';
    const lifted = await shop.admin.post(`/charge-stops/${id}/lift`, {}, { key });
    expect([lifted.status, (await shop.admin.post(`/charge-stops/${id}/lift`, {}, { key })).text]).toEqual([200, lifted.text]);
    expect((await shop.admin.post(`/charge-stops/${id}/lift`)).status).toBe(409);
    expect((await shop.admin.get('/charge-stops?status=lifted')).body.data).toMatchObject([{ id, lifted_by: expect.stringMatching(/^tok_/) }]);
  });
});
