import { jest } from '@jest/globals';
import pg from 'pg';
import { cardOf, chargesOf, openShop, pay, settled, type Shop } from '../payments/shop.js';
import { watchAttention } from '../../libs/db/attention-watch.writes.js';
import { connect } from '../../libs/db/client.js';
import { uuidOf } from '../../libs/views/ids.js';
import { openStore, subscribe } from '../subscriptions/store.js';
import type { Answer } from '../support/account.js';
import { eventually, shared } from '../support/stack.js';
import { onClock } from '../test-clocks/hall.js';

jest.setTimeout(180_000);

let database: pg.Client;
let shop: Shop;

beforeAll(async () => {
  database = new pg.Client({ connectionString: shared.databaseUrlStaging });
  await database.connect();
  shop = await openShop({ settings: { a: { idempotency: false } } });
});
afterAll(() => database.end());

function lineAbout(object: string, type: string): Promise<Answer['body']> {
  return eventually(async () => {
    const { body } = await shop.admin.get(`/attention?type=${type}&limit=100`);
    return body.data.find((line: Answer['body']) => line.object_id === object);
  }, { timeoutMs: 90_000 });
}

describe('what waits too long', () => {
  it('is listed when an outcome is unknown for an hour, and leaves the list when it is known', async () => {
    const intent = (await pay(shop, { simulate: { [shop.a]: 'error_before_charge' } })).body.id;
    const [charge] = await chargesOf(shop, intent);
    await database.query("update charges set first_sent_at = first_sent_at - interval '2 hours' where id = $1", [uuidOf(charge.id)]);
    const line = await lineAbout(intent, 'payment_unknown');
    expect(line).toMatchObject({ status: 'open', reason: expect.stringContaining('Nobody knows'), details: { since: expect.any(String) } });
    expect((await shop.admin.post(`/attention/${line.id}/resolve`, { resolution: 'x' })).status).toBe(422);
    await database.query("update attention_items set opened_at = opened_at - interval '90 seconds' where id = $1", [uuidOf(line.id)]);
    expect((await shop.admin.get(`/attention/${line.id}`)).body.age_seconds).toBeGreaterThanOrEqual(90);
    await database.query("update charges set first_sent_at = first_sent_at + interval '2 hours' where id = $1", [uuidOf(charge.id)]);
    const failed = await shop.admin.post(`/attention/${line.id}/resolve`, { action: 'mark_failed', confirm: true });
    expect(failed.body).toMatchObject({ status: 'resolved' });
    expect((await settled(shop, intent, 'succeeded')).charge_ids).toHaveLength(2);
  });

  it('is listed when nobody moves a payment, and leaves the list when it moved', async () => {
    const intent = (await pay(shop, { simulate: 'error_before_charge' })).body.id;
    const park = "update payment_intents set driver = 'workflow', next_action_at = clock_timestamp() - interval '10 minutes', lease_until = null where id = $1";
    const late = await eventually(async () => {
      await database.query(park, [uuidOf(intent)]);
      const { body } = await shop.admin.get('/attention?type=payment_overdue&limit=100');
      return body.data.find((line: Answer['body']) => line.object_id === intent);
    }, { timeoutMs: 90_000, intervalMs: 200 });
    expect(late.actions).toContainEqual(expect.stringContaining('look_again'));
    expect((await shop.admin.post(`/attention/${late.id}/resolve`, { action: 'look_again' })).status).toBe(200);
    await eventually(async () => (await shop.admin.get(`/attention/${late.id}`)).body.status === 'resolved', { timeoutMs: 90_000 });
  });

  it('is listed when a subscription does not do what is due, in real time only, and leaves the list when it moved', async () => {
    const store = await openStore();
    const late = await subscribe(store);
    const hall = await onClock(store, '2024-01-01T00:00:00.000Z');
    const timed = await subscribe(hall);
    const overdue = async (status: string) => (await store.admin.get(`/attention?type=subscription_overdue&status=${status}`)).body.data as Answer['body'][];
    const { db, close } = connect(shared.databaseUrlStaging, { max: 1 });
    try {
      expect((await store.admin.put(`/subscriptions/${late.id}/pause`, {})).status).toBe(200);
      await database.query("update subscriptions set next_action_at = clock_timestamp() - interval '6 minutes' where id = any($1)", [[uuidOf(late.id), uuidOf(timed.id)]]);
      await watchAttention(db);
      const [line, ...others] = await overdue('open');
      expect([line.object_id, others]).toEqual([late.id, []]);
      expect(line).toMatchObject({ reason: expect.stringContaining('has not happened'), actions: expect.arrayContaining([`POST /subscriptions/${late.id}/refresh-status`]) });
      expect((await store.admin.post(`/attention/${line.id}/resolve`, { resolution: 'x' })).status).toBe(409);
      expect((await store.admin.put(`/subscriptions/${late.id}/resume`, {})).status).toBe(200);
      await watchAttention(db);
      expect(await overdue('resolved')).toMatchObject([{ id: line.id, resolved_by: 'system' }]);
    } finally {
      await close();
    }
  });

  it('is listed when a refund failed', async () => {
    const paid = await pay(shop);
    const refund = await shop.admin.post('/refunds/', { charge_id: paid.body.charge_ids[0], amount_atom: 400 });
    expect(refund.status).toBe(201);
    const { processor_payment_id: payment } = (await chargesOf(shop, paid.body.id))[0];
    const told = await (await fetch(`${shared.simulatorUrl}/ledger`)).json() as { data: { type: string; record?: { id: string; kind?: string; payment?: string } }[] };
    const operation = told.data.find((entry) => entry.type === 'operation' && entry.record?.kind === 'refund' && entry.record.payment === payment)!;
    await fetch(`${shared.simulatorUrl}/control/refunds/${operation.record!.id}`, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"status":"failed"}' });
    const line = await lineAbout(refund.body.id, 'refund_failed');
    expect(line).toMatchObject({ status: 'open', reason: expect.stringContaining('does not have the money') });
    expect((await shop.admin.post('/refunds/', { charge_id: paid.body.charge_ids[0], amount_atom: 400 }, { key: 'again' })).status).toBe(201);
    await eventually(async () => (await shop.admin.get(`/attention/${line.id}`)).body.status === 'resolved', { timeoutMs: 90_000 });
  });

  it('tells on the line of a stop how much is parked, and cannot be closed before it is lifted', async () => {
    const other = await openShop();
    const method = await cardOf(other);
    await pay(other, { method });
    const stop = (await other.admin.post('/charge-stops/', { scope: 'account', reason: 'x' })).body.id;
    await pay(other, { method, extra: { off_session: true } });
    const line = await eventually(async () => {
      const { body } = await other.admin.get('/attention?type=charge_stop&status=open');
      return body.data[0]?.details?.waiting_payments === 1 ? body.data[0] : null;
    }, { timeoutMs: 90_000 });
    const closed = await other.admin.post(`/attention/${line.id}/resolve`, { resolution: 'x' });
    expect([closed.status, closed.body.detail]).toEqual([409, expect.stringContaining(`/charge-stops/${stop}/lift`)]);
  });
});
