import { randomBytes } from 'node:crypto';
import { createSecretBox } from '../../libs/db/secret.js';
import { freshAccount } from '../support/account.js';
import { shared } from '../support/stack.js';
import { chargesOf, eventTypes, intentOf, openShop, pay, settled, type Shop } from '../payments/shop.js';
import { applied, bodyOf, signed, storedAt, tell, unresolved, uuid } from './provider.js';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});

const now = () => Math.floor(Date.now() / 1_000);

describe('a callback that does not prove where it comes from', () => {
  it.each([
    ['without a signature', { headers: { 'simulator-signature': '' } }],
    ['with a malformed one', { headers: { 'simulator-signature': 't=1,v1=zz' } }],
    ['signed with another secret', { secret: randomBytes(32) }],
    ['signed six minutes ago', { at: now() - 360 }],
    ['signed six minutes ahead', { at: now() + 360 }],
  ])('%s is 401, and nothing is stored', async (_what, sending) => {
    const before = (await storedAt(shop.a)).length;
    const { status, body, headers } = await tell(shop, 'forged-1', {}, sending);
    expect([status, body.code, headers.get('content-type')]).toEqual([401, 'callback_refused', 'application/problem+json']);
    expect(await storedAt(shop.a)).toHaveLength(before);
  });

  it('signed for another body or another connection is 401', async () => {
    const body = bodyOf('forged-2');
    const elsewhere = signed(body, uuid('processor', shop.b));
    expect((await tell(shop, '', {}, { body, headers: { 'simulator-signature': elsewhere } })).status).toBe(401);
    const changed = await tell(shop, '', {}, { body: body.replace('"amount":1000', '"amount":1001'), headers: { 'simulator-signature': signed(body, uuid('processor', shop.a)) } });
    expect(changed.status).toBe(401);
  });

  it('with a good signature and a body in no known format is 401, and nothing is stored', async () => {
    const before = (await storedAt(shop.a)).length;
    for (const body of ['', '[]', '{"id":"x"}', '\u0000\uffff']) {
      expect([body, (await tell(shop, '', {}, { body })).body.code]).toEqual([body, 'callback_refused']);
    }
    expect(await storedAt(shop.a)).toHaveLength(before);
  });
});

describe('the address of callbacks', () => {
  it('is 404 for connections that are not here', async () => {
    const malformed = await fetch(`${shared.stagingUrl}/callbacks/x`, { method: 'POST', body: '{}' });
    expect(malformed.status).toBe(404);
    const gone = 'processor_stg_01h455vb4pex5vsknk084sn02q';
    expect((await tell(shop, 'r', {}, { connection: gone })).body.code).toBe('not_found');
    const foreign = await fetch(`${shared.productionUrl}/callbacks/${shop.a}`, { method: 'POST', body: '{}' });
    expect(foreign.status).toBe(404);
    const otherKind = await fetch(`${shared.stagingUrl}/callbacks/${shop.customer}`, { method: 'POST', body: '{}' });
    expect(otherKind.status).toBe(404);
  });

  it('takes any content type and no token, up to 1 MiB', async () => {
    for (const type of ['application/json', 'application/json; charset=utf-8', 'text/plain', 'application/x-www-form-urlencoded', 'application/octet-stream']) {
      const { status, body } = await tell(shop, 'nobody-1', {}, { headers: { 'content-type': type } });
      expect([type, status, body]).toEqual([type, 200, { received: true }]);
    }
    const padded = (size: number) => {
      const body = bodyOf('nobody-1');
      return body.slice(0, -1) + ' '.repeat(size - body.length) + '}';
    };
    expect((await tell(shop, '', {}, { body: padded(1024 * 1024) })).status).toBe(200);
    const tooLarge = await tell(shop, '', {}, { body: padded(1024 * 1024 + 1) });
    expect([tooLarge.status, tooLarge.body.code]).toEqual([413, 'payload_too_large']);
  });

  it('takes only POST, and other routes still refuse other content types', async () => {
    expect((await fetch(`${shared.stagingUrl}/callbacks/${shop.a}`)).status).toBe(405);
    expect((await shop.admin.post('/customers/', {}, { headers: { 'content-type': 'text/plain' } })).status).toBe(415);
  });

  it('has nothing to do with idempotency keys', async () => {
    const headers = { 'idempotency-key': 'k'.repeat(300) };
    expect((await tell(shop, 'nobody-2', {}, { headers })).status).toBe(200);
  });
});

describe('a callback that is stored', () => {
  it('keeps the raw body, encrypted', async () => {
    const body = bodyOf('nobody-3', {}, 'evt-raw');
    await tell(shop, '', {}, { body });
    const row = (await storedAt(shop.a)).find(({ eventId }) => eventId === 'evt-raw')!;
    const [id, key] = shared.secretKeysStaging.split(',')[0]!.split(':');
    const box = createSecretBox([{ id: id!, key: Buffer.from(key!, 'base64') }]);
    const opened = box.open(row.bodySealed, { table: 'processor_callbacks', column: 'body_sealed', row: row.id });
    expect(Buffer.from(opened, 'base64').toString()).toBe(body);
  });

  it('may hold text that the database does not', async () => {
    const dispute = { id: 'd\0', reason: '\ud800', amount: 1, status: 'open' };
    expect((await tell(shop, 'nobody\0', { disputes: [dispute] }, { eventId: 'evt\0\udfff' })).status).toBe(200);
  });

  it('names no payment of ours: kept, and never an error', async () => {
    expect((await tell(shop, 'nobody-4', {}, { eventId: 'evt-not-ours' })).status).toBe(200);
    const row = (await storedAt(shop.a)).find(({ eventId }) => eventId === 'evt-not-ours')!;
    expect(row).toMatchObject({ result: 'not_ours', paymentIntentId: null, chargeId: null, appliedAt: expect.any(Date) });
  });

  it('does not reach a payment of another connection or account', async () => {
    const { id, reference } = await unresolved(shop);
    const other = await openShop();
    expect((await tell(other, reference)).status).toBe(200);
    expect((await tell(shop, reference, {}, { connection: shop.b })).status).toBe(200);
    expect((await storedAt(other.a))[0]).toMatchObject({ result: 'not_ours' });
    expect((await intentOf(shop, id)).status).toBe('processing');
  }, 180_000);

  it('a hundred times at once is one row, applied once, with one event', async () => {
    const { id, reference, answer } = await unresolved(shop);
    const body = bodyOf(reference);
    const answers = await Promise.all(Array.from({ length: 100 }, () => tell(shop, '', {}, { body })));
    expect(answers.map(({ status }) => status)).toEqual(Array(100).fill(200));
    expect(await settled(shop, id, 'succeeded')).toMatchObject({ amount_atom_received: 1_000, charge_ids: [expect.any(String)] });
    expect(await applied(shop, id, 1)).toMatchObject([{ result: 'applied' }]);
    expect(await eventTypes(shop, id)).toEqual(['payment_intent.created', 'payment_intent.processing', 'payment_intent.succeeded']);
    const [charge] = await chargesOf(shop, id);
    expect(await eventTypes(shop, charge.id)).toEqual(['charge.created', 'charge.pending', 'charge.succeeded']);
    expect((await answer).body).toMatchObject({ id, status: 'succeeded' });
  }, 180_000);

  it('of a payment at rest that knows all of it wakes nobody', async () => {
    const { body: paid } = await pay(shop);
    const [charge] = await chargesOf(shop, paid.id);
    await tell(shop, `${paid.id}-1`, { paymentId: charge.processor_payment_id });
    expect(await storedAt(shop.a, paid.id)).toMatchObject([{ result: 'nothing_new', appliedAt: expect.any(Date) }]);
    expect(await eventTypes(shop, paid.id)).toEqual(['payment_intent.created', 'payment_intent.succeeded']);
  });

  it('of another amount or currency than asked makes an exception for a person', async () => {
    for (const other of [{ amount: 999 }, { currency: 'usd' }]) {
      const { id, reference } = await unresolved(shop);
      await tell(shop, reference, other);
      const intent = await settled(shop, id, 'exception');
      expect((await chargesOf(shop, id))[0]).toMatchObject({ status: 'pending', outcome_class: 'mismatch' });
      const lines = (await shop.admin.get('/attention?limit=100')).body.data.filter((line: { object_id: string }) => line.object_id === intent.id);
      expect(lines).toMatchObject([{ type: 'payment_exception', status: 'open' }]);
    }
  }, 180_000);

  it('for a connection that was deleted is accepted: its payments are still settled', async () => {
    const leaving = await openShop({ account: await freshAccount() });
    const { id, reference } = await unresolved(leaving);
    expect((await leaving.admin.delete(`/payment-processors/${leaving.a}`)).status).toBeLessThan(300);
    expect((await tell(leaving, reference)).status).toBe(200);
    await settled(leaving, id, 'succeeded');
  }, 180_000);
});
