import { randomBytes } from 'node:crypto';
import { jest } from '@jest/globals';
import { sign, signatureHeader } from '../../libs/processors/http/http.signature.js';
import { eventually } from '../support/stack.js';
import { made } from '../payments/shop.js';
import { booked, chargesOf, closeHttpShops, connect, methodOf, openHttpShop, route, sell, settled, startProvider, unknownCharge } from './http-shop.js';

jest.setTimeout(180_000);
afterAll(closeHttpShops);

describe('a provider that is killed in the middle of a payment', () => {
  it.each([
    ['after it charged', 'slow-answer', 1],
    ['before it charged', 'slow-start', 0],
  ])('%s: the outcome is unknown, then exactly one charge', async (_when, broken, chargesAtDeath) => {
    const shop = await openHttpShop({ broken });
    const method = await methodOf(shop);
    const answer = sell(shop, { method });
    const intent = await eventually(async () => {
      const charge = (await shop.admin.post('/charges/list', { payment_method_id: method })).body.data[0];
      return charge && (await booked(shop, charge.payment_intent_id)).length === chargesAtDeath ? charge.payment_intent_id : null;
    });
    await shop.provider.kill9();
    expect(await booked(shop, intent)).toHaveLength(chargesAtDeath);
    const unknown = await unknownCharge(shop, intent);
    await shop.provider.restart();
    expect((await answer).body).toMatchObject({ id: intent });
    expect(await settled(shop, intent, 'succeeded', 'requires_payment_method', 'exception')).toMatchObject({ status: 'succeeded', charge_ids: [unknown.id] });
    expect(await booked(shop, intent)).toMatchObject([{ status: 'captured', amount_captured: 4_200 }]);
  });

  it('is passed over while it is away: the next connection takes the payment', async () => {
    const shop = await openHttpShop();
    const second = await startProvider();
    const b = await connect(shop, second);
    const payment_route_id = await route(shop, [shop.processor, b]);
    const method = await methodOf(shop);
    const theirs = await made(shop.admin.post('/payment-methods/', { processor_id: b, token: 'tok_approved' }));
    const { their_payment_method_id } = (await shop.admin.get(`/payment-methods/${theirs}`)).body.connections[0];
    await made(shop.admin.post(`/payment-methods/${method}/mappings`, { processor_id: b, their_payment_method_id }));
    await shop.provider.kill9();
    const { status, body } = await sell(shop, { method, extra: { payment_route_id } });
    expect([status, body.status]).toEqual([201, 'succeeded']);
    const outcomes = (await chargesOf(shop, body.id)).sort((x, y) => x.attempt_number - y.attempt_number).map((charge) => charge.outcome_class);
    expect(outcomes).toEqual(['not_sent', 'approved']);
    expect(await second.paymentsOf(`${body.id}-2`)).toHaveLength(1);
  });
});

describe('a provider that answers 500 to everything after it charged', () => {
  it('is believed when it tells by a signed callback', async () => {
    const shop = await openHttpShop({ broken: 'mute' });
    const { status, body } = await sell(shop);
    expect(status).toBe(201);
    expect(await settled(shop, body.id, 'succeeded', 'exception')).toMatchObject({ status: 'succeeded', amount_atom_received: 4_200 });
    expect(await booked(shop, body.id)).toHaveLength(1);
  });

  it('is not believed without a signature, nor with another secret\'s', async () => {
    const shop = await openHttpShop();
    const body = JSON.stringify({ id: 'ev_1', type: 'payment.updated', created_at: new Date().toISOString(), payment: null });
    const post = (headers: Record<string, string>) => shop.admin.as(null).send('POST', `/callbacks/${shop.processor}`, undefined, { raw: body, headers });
    const signed = (secret: string) => ({ [signatureHeader]: sign(secret, { kind: 'callback', body }, Math.floor(Date.now() / 1000)) });
    expect([(await post({})).status, (await post(signed('x'.repeat(40)))).status, (await post(signed(shop.provider.secret))).status]).toEqual([401, 401, 200]);
  });
});

describe('the secret', () => {
  const fresh = () => randomBytes(24).toString('hex');

  it('is replaced without a payment lost: both count while one replaces the other', async () => {
    const shop = await openHttpShop();
    const [old, next] = [shop.provider.secret, fresh()];
    const paid = async () => (await sell(shop)).body.status;
    shop.provider.secrets = `${next},${old}`;
    await shop.provider.restart();
    expect(await paid()).toBe('succeeded');
    const rotated = await shop.admin.post(`/payment-processors/${shop.processor}/rotate-credentials`, { credentials: { secret: next }, overlap_seconds: 600 });
    expect([rotated.status, rotated.text.includes(next)]).toEqual([200, false]);
    expect(await paid()).toBe('succeeded');
    shop.provider.secrets = next;
    await shop.provider.restart();
    expect(await paid()).toBe('succeeded');
  });

  it('that the provider no longer knows leaves a payment unknown, never refused; with the right one it is found out', async () => {
    const shop = await openHttpShop();
    const method = await methodOf(shop);
    const next = fresh();
    shop.provider.secrets = next;
    await shop.provider.restart();
    const answer = sell(shop, { method });
    const charge = await eventually(async () => (await shop.admin.post('/charges/list', { payment_method_id: method })).body.data[0]);
    const intent = charge.payment_intent_id;
    expect(await unknownCharge(shop, intent)).toMatchObject({ processor_message: expect.stringContaining('not to be believed') });
    expect(await booked(shop, intent)).toEqual([]);
    expect((await shop.admin.put(`/payment-processors/${shop.processor}`, { credentials: { secret: next } })).status).toBe(200);
    await settled(shop, intent, 'succeeded');
    expect((await answer).body.id).toBe(intent);
    expect(await booked(shop, intent)).toHaveLength(1);
  });
});
