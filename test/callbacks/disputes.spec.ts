import { freshAccount, type TestAccount } from '../support/account.js';
import { eventually } from '../support/stack.js';
import { chargesOf, eventTypes, openShop, pay, type Shop } from '../payments/shop.js';
import { tell, theirId } from './provider.js';

let shop: Shop;
let stranger: TestAccount;
beforeAll(async () => {
  [shop, stranger] = [await openShop(), await freshAccount()];
});

const paid = async (): Promise<{ id: string; theirs: string; charge: string }> => {
  const { body } = await pay(shop);
  return { id: body.id, theirs: await theirId(shop, body.id), charge: body.charge_ids[0] };
};
const linesAbout = async (id: string) =>
  (await shop.admin.get('/attention?limit=100')).body.data.filter((line: { object_id: string }) => line.object_id === id);

describe('a dispute that is reported by hand', () => {
  it('is open, marks its charge, and stands on the attention list', async () => {
    const { id, theirs, charge } = await paid();
    const { status, body } = await shop.operator.post('/dispute/', { payment_intent_id: id, reason: 'fraudulent', their_dispute_id: 'dp-1', meta: { case: 7 } });
    expect(status).toBe(200);
    expect(body).toEqual({
      id: expect.stringMatching(/^dp_stg_/), object: 'dispute', account_id: shop.publicId, payment_intent_id: id, charge_id: charge, customer_id: shop.customer,
      status: 'open', reason: 'fraudulent', amount_atom: null, currency: 'eur', their_dispute_id: 'dp-1', their_payment_intent_id: theirs,
      metadata: { case: 7 }, is_deleted: false, created_at: expect.any(String), updated_at: expect.any(String),
    });
    expect((await shop.readOnly.get(`/dispute/${body.id}`)).body).toEqual(body);
    expect((await shop.admin.get('/dispute?limit=1')).body.data).toEqual([body]);
    expect((await chargesOf(shop, id))[0].disputed).toBe(true);
    expect(await eventTypes(shop, body.id)).toEqual(['dispute.created']);
    expect(await linesAbout(body.id)).toMatchObject([{ type: 'dispute_open', status: 'open' }]);
  });

  it('is found by the processor\'s callback, which fills in and closes it', async () => {
    const { id, theirs } = await paid();
    const { body } = await shop.admin.post('/dispute/', { their_payment_intent_id: theirs, their_dispute_id: 'dp-2' });
    const lost = { id: 'dp-2', reason: 'fraudulent', amount: 1_000, status: 'lost' };
    expect((await tell(shop, `${id}-1`, { paymentId: theirs, disputes: [lost] })).status).toBe(200);
    await eventually(async () => (await shop.admin.get(`/dispute/${body.id}`)).body.status === 'lost');
    expect((await shop.admin.get(`/dispute/${body.id}`)).body).toMatchObject({ reason: 'fraudulent', amount_atom: 1_000 });
    expect((await shop.admin.post('/dispute/list', { payment_intent_id: id })).body.total_objects).toBe(1);
    expect(await linesAbout(body.id)).toMatchObject([{ type: 'dispute_open', status: 'resolved' }]);
  }, 180_000);

  it('again is the same one, with a key or without', async () => {
    const { id } = await paid();
    const report = { payment_intent_id: id, their_dispute_id: 'dp-3' };
    const answers = await Promise.all([1, 2, 3].map(() => shop.admin.post('/dispute/', report)));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    const keyed = await Promise.all([1, 2].map(() => shop.admin.post('/dispute/', { payment_intent_id: id, reason: 'x' }, { key: `dispute-${id}` })));
    expect(new Set(keyed.filter(({ status }) => status === 200).map(({ body }) => body.id)).size).toBe(1);
    expect((await shop.admin.post('/dispute/list', { payment_intent_id: id })).body.total_objects).toBe(2);
    expect((await eventTypes(shop, (await chargesOf(shop, id))[0].id)).filter((type) => type === 'charge.updated')).toHaveLength(1);
  });

  it('of a payment that took no money is 409', async () => {
    const refused = await pay(shop, { simulate: 'do_not_honor' });
    const { status, body } = await shop.admin.post('/dispute/', { payment_intent_id: refused.body.payment_intent_id });
    expect([status, body.code]).toEqual([409, 'conflict']);
  });

  it('names a payment, one that is there, and only one', async () => {
    const { id } = await paid();
    const other = await paid();
    const loc = async (report: object) => {
      const { status, body } = await shop.admin.post('/dispute/', report);
      return [status, body.errors?.[0]?.loc];
    };
    expect(await loc({})).toEqual([422, ['body', 'payment_intent_id']]);
    expect(await loc({ payment_intent_id: 'pi_stg_01h455vb4pex5vsknk084sn02q' })).toEqual([422, ['body', 'payment_intent_id']]);
    expect(await loc({ their_payment_intent_id: 'nobody' })).toEqual([422, ['body', 'their_payment_intent_id']]);
    expect(await loc({ payment_intent_id: id, their_payment_intent_id: other.theirs })).toEqual([422, ['body', 'their_payment_intent_id']]);
    expect(await loc({ payment_intent_id: id, amount_atom: 5 })).toEqual([422, ['body', 'amount_atom']]);
  });
});

describe('who may see and report disputes', () => {
  it('is the account itself: reading for every role, reporting from OPERATOR on', async () => {
    const { id, theirs } = await paid();
    expect((await shop.readOnly.post('/dispute/', { payment_intent_id: id })).status).toBe(403);
    expect((await shop.admin.as(null).post('/dispute/', { payment_intent_id: id })).status).toBe(401);
    const { body } = await shop.operator.post('/dispute/', { payment_intent_id: id });
    expect((await stranger.admin.get(`/dispute/${body.id}`)).status).toBe(404);
    expect((await stranger.admin.post('/dispute/', { payment_intent_id: id })).status).toBe(422);
    expect((await stranger.admin.post('/dispute/', { their_payment_intent_id: theirs })).status).toBe(422);
    expect((await stranger.admin.get('/dispute')).body.data).toEqual([]);
    expect((await stranger.admin.post('/dispute/list', {})).body.total_objects).toBe(0);
  });
});
