import { connect } from '../../libs/db/client.js';
import { parsePublicId } from '../../libs/views/ids.js';
import { freshAccount, type TestAccount } from '../support/account.js';
import { untilShown } from '../support/events.js';
import { openReceiver, status, type Receiver } from '../support/receiver.js';
import { eventually, shared } from '../support/stack.js';

let account: TestAccount;
let stranger: TestAccount;
let receiver: Receiver;

beforeEach(async () => {
  [account, stranger, receiver] = await Promise.all([freshAccount(), freshAccount(), openReceiver()]);
});
afterEach(() => receiver.close());

async function endpoint(fields: object = {}): Promise<string> {
  const made = await account.admin.post('/webhook-endpoints/', { url: receiver.url, enabled_events: ['user.created'], ...fields });
  expect(made.status).toBe(201);
  return made.body.id;
}

async function lastEvent(objectId: string): Promise<{ id: string; type: string }> {
  return (await account.readOnly.post('/events/search', { object_id: objectId, sort_descending: true })).body.data[0];
}

const ids = (answer: { body: { data: { id: string }[] } }): string[] => answer.body.data.map(({ id }) => id);

describe('events', () => {
  it('are listed by type, time and delivery, in pages that add up', async () => {
    const id = await endpoint();
    for (const description of ['a', 'b', 'c']) await account.admin.put(`/webhook-endpoints/${id}`, { description });
    const all = await account.readOnly.post('/events/list', { types: ['webhook_endpoint.*'] });
    expect([all.status, all.body.total_objects, all.body.page_number, all.body.page_size]).toEqual([200, 4, 1, 100]);
    expect(all.body.data.map(({ sequence }: { sequence: number }) => sequence)).toEqual([1, 2, 3, 4]);
    const pages = [await account.readOnly.post('/events/list', { types: ['webhook_endpoint.updated'], page_size: 2 }), await account.readOnly.post('/events/list', { types: ['webhook_endpoint.updated'], page_size: 2, page_number: 2 })];
    expect(pages.flatMap(ids)).toEqual(ids(all).slice(1));
    const descending = await account.readOnly.post('/events/list', { sort_descending: true, types: ['webhook_endpoint.*'] });
    expect(ids(descending)).toEqual(ids(all).reverse());
    const future = await account.readOnly.post('/events/list', { created_at: { gt: new Date(Date.now() + 60_000).toISOString() } });
    expect(future.body).toEqual({ data: [], page_number: 1, page_size: 100, total_objects: 0 });
    const both = { created_at: { gte: '2020-01-01T00:00:00Z' }, updated_at: { gte: new Date(Date.now() + 60_000).toISOString() } };
    expect((await account.readOnly.post('/events/list', both)).body.total_objects).toBe(0);
    for (const at of ['9999-12-31T23:59:59-14:00', '0001-01-01T00:00:00+14:00']) {
      expect((await account.readOnly.post('/events/list', { created_at: { lt: at } })).status).toBe(422);
    }
    expect((await account.readOnly.post('/events/list', { delivery_success: true, types: ['webhook_endpoint.*'] })).body.total_objects).toBe(0);
  });

  it('are found by object, and only within the account', async () => {
    const id = await endpoint();
    expect((await account.readOnly.post('/events/search', { object_id: id })).body.data).toMatchObject([{ type: 'webhook_endpoint.created', data_previous: null, data: { id } }]);
    expect((await stranger.readOnly.post('/events/search', { object_id: id })).body.data).toEqual([]);
    const event = await lastEvent(id);
    expect((await account.readOnly.get(`/events/${event.id}`)).body).toEqual(event);
    expect((await stranger.admin.get(`/events/${event.id}`)).status).toBe(404);
    for (const wrong of ['x', id, event.id.replace('stg', 'prod'), `${event.id}0`]) expect((await account.readOnly.get(`/events/${wrong}`)).status).toBe(404);
    for (const objectId of ['x', 5, id.replace('stg', 'prod')]) expect((await account.readOnly.post('/events/search', { object_id: objectId })).status).toBe(422);
  });

  it('are followed by cursor to the last one, once each', async () => {
    const id = await endpoint();
    for (let index = 0; index < 6; index += 1) await account.admin.put(`/webhook-endpoints/${id}`, { description: String(index) });
    await untilShown();
    const seen: string[] = [];
    let cursor = '';
    do {
      const page = await account.readOnly.get(`/events?limit=3&object_id=${id}${cursor && `&cursor=${cursor}`}`);
      expect(page.status).toBe(200);
      seen.push(...ids(page));
      cursor = page.body.next_cursor ?? '';
    } while (cursor);
    const listed = await account.readOnly.post('/events/search', { object_id: id, sort_descending: true });
    expect(seen).toEqual(ids(listed));
    expect(seen).toHaveLength(7);
  });

  it('are not shown by cursor while an older transaction may still commit one', async () => {
    const database = connect(shared.databaseUrlStaging, { max: 1 });
    const holder = await database.pool.connect();
    try {
      await holder.query('begin');
      await holder.query('select pg_current_xact_id()');
      const id = await endpoint();
      expect((await account.readOnly.get(`/events?object_id=${id}`)).body.data).toEqual([]);
      await holder.query('commit');
      await eventually(async () => (await account.readOnly.get(`/events?object_id=${id}`)).body.data.length === 1);
    } finally {
      holder.release();
      await database.close();
    }
  });

  it.each(['type=charge.exploded', 'cursor=x', 'object_id=x', 'since=yesterday', 'limit=0', 'order=asc'])('refuse the query %s', async (query) => {
    expect((await account.readOnly.get(`/events?${query}`)).status).toBe(422);
  });

  it.each([{ types: ['charge.exploded'] }, { types: 'all' }, { page_size: 101 }, { page_number: 0 }, { sort_key: 'type' }, { delivery_success: 'yes' }, { other: 1 }])('refuse the list %j', async (body) => {
    expect((await account.readOnly.post('/events/list', body)).status).toBe(422);
  });
});

describe('sending again', () => {
  it('posts an event now to the chosen endpoints and answers with each result', async () => {
    const changed = await endpoint();
    const event = await lastEvent(changed);
    const other = await openReceiver(status(500));
    const good = await endpoint();
    const bad = await endpoint({ url: other.url });
    const answer = await account.admin.post('/events/trigger-webhook', { event_id: event.id, selected_webhooks: [good, bad] });
    await other.close();
    expect(answer.status).toBe(200);
    expect(answer.body.webhook_delivery_results).toEqual({
      [good]: { event_id: event.id, webhook_id: good, response_code: 200, response_text: 'ok', attempt_time: expect.any(String) },
      [bad]: { event_id: event.id, webhook_id: bad, response_code: 500, response_text: '', attempt_time: expect.any(String) },
    });
    await untilShown();
    const { body } = await account.readOnly.get(`/webhook-deliveries?event_id=${event.id}`);
    expect(Object.fromEntries(body.data.map((row: { endpoint_id: string; status: string }) => [row.endpoint_id, row.status]))).toEqual({ [good]: 'delivered', [bad]: 'pending' });
  });

  it('goes to every matching endpoint when none is chosen', async () => {
    const changed = await endpoint();
    const event = await lastEvent(changed);
    const heard = await endpoint({ enabled_events: ['webhook_endpoint.created'] });
    const answer = await account.admin.post('/events/trigger-webhook', { event_id: event.id });
    expect(Object.keys(answer.body.webhook_delivery_results)).toEqual([heard]);
  });

  it('of a delivery cancels its planned retry when it succeeds', async () => {
    receiver.answer = status(500);
    const id = await endpoint({ enabled_events: ['webhook_endpoint.test'] });
    const delivery = (await account.admin.post(`/webhook-endpoints/${id}/test`)).body.id;
    await eventually(async () => (await account.readOnly.get(`/webhook-deliveries/${delivery}`)).body.attempts === 1);
    receiver.answer = (response) => response.end('now');
    const resent = await account.admin.post(`/webhook-deliveries/${delivery}/resend`);
    expect([resent.status, resent.body]).toMatchObject([200, { id: delivery, status: 'delivered', next_attempt_at: null, result: { response_code: 200, response_text: 'now' } }]);
    const { body } = await account.readOnly.get(`/webhook-deliveries/${delivery}/attempts`);
    expect(body.data.map(({ manual, response_code }: { manual: boolean; response_code: number }) => [manual, response_code])).toEqual([[false, 500], [true, 200]]);
  });

  it('goes out while the endpoint is paused, keeps to its rate, and is refused as a whole when the rate is used up', async () => {
    const id = await endpoint({ enabled_events: ['webhook_endpoint.test'], rate_per_second: 1 });
    const other = await endpoint();
    const { id: delivery, event_id: event } = (await account.admin.post(`/webhook-endpoints/${id}/test`)).body;
    await eventually(async () => (await account.readOnly.get(`/webhook-deliveries/${delivery}`)).body.status === 'delivered');
    await account.admin.post(`/webhook-endpoints/${id}/pause`);
    const resend = () => account.admin.post(`/webhook-deliveries/${delivery}/resend`);
    const before = Date.now();
    expect([await resend(), await resend()].map((answer) => answer.status)).toEqual([200, 200]);
    expect(Date.now() - before).toBeGreaterThanOrEqual(990);

    const { pool, close } = connect(shared.databaseUrlStaging, { max: 1 });
    await pool.query("update webhook_endpoints set rate_free_at = now() + interval '9 seconds' where id = $1", [parsePublicId('webhook_endpoint', 'staging', id)]);
    await close();
    for (const refused of [await resend(), await account.admin.post('/events/trigger-webhook', { event_id: event, selected_webhooks: [other, id] })]) {
      expect([refused.status, refused.body.code, refused.headers.get('retry-after')]).toEqual([429, 'rate_limited', '2']);
    }
    expect(receiver.ids()).toEqual([event, event, event]);
    expect((await account.readOnly.get(`/webhook-deliveries?endpoint_id=${other}`)).body.data).toEqual([]);
  });

  it('can be given up', async () => {
    receiver.answer = status(500);
    const id = await endpoint({ enabled_events: ['webhook_endpoint.test'] });
    const delivery = (await account.admin.post(`/webhook-endpoints/${id}/test`)).body.id;
    await eventually(async () => (await account.readOnly.get(`/webhook-deliveries/${delivery}`)).body.attempts === 1);
    const cancelled = await account.admin.post(`/webhook-deliveries/${delivery}/cancel`);
    expect([cancelled.status, cancelled.body]).toMatchObject([200, { status: 'cancelled', next_attempt_at: null }]);
    expect((await account.admin.post(`/webhook-deliveries/${delivery}/cancel`)).status).toBe(409);
  });

  it('is refused for what is not there, not mine, or disabled', async () => {
    const changed = await endpoint();
    const event = await lastEvent(changed);
    const trigger = (body: object, by = account.admin) => by.post('/events/trigger-webhook', body);
    expect((await trigger({ event_id: 'x' })).status).toBe(422);
    expect((await trigger({ event_id: event.id }, stranger.admin)).status).toBe(422);
    expect((await trigger({ event_id: event.id, selected_webhooks: ['x'] })).status).toBe(422);
    expect((await trigger({ event_id: event.id, selected_webhooks: [] })).status).toBe(422);
    expect((await trigger({})).status).toBe(422);
    await account.admin.post(`/webhook-endpoints/${changed}/disable`);
    expect((await trigger({ event_id: event.id, selected_webhooks: [changed] })).status).toBe(409);
    for (const role of ['operator', 'readOnly'] as const) expect((await trigger({ event_id: event.id }, account[role])).status).toBe(403);
  });
});

describe('deliveries', () => {
  it('belong to their account; only ADMIN sends again or cancels', async () => {
    receiver.answer = status(500);
    const id = await endpoint({ enabled_events: ['webhook_endpoint.test'] });
    const delivery = (await account.admin.post(`/webhook-endpoints/${id}/test`)).body.id;
    for (const [method, path] of [['GET', ''], ['GET', '/attempts'], ['POST', '/resend'], ['POST', '/cancel']] as const) {
      const target = `/webhook-deliveries/${delivery}${path}`;
      expect((await account.admin.send(method, target, undefined, { token: null })).status).toBe(401);
      expect((await stranger.admin.send(method, target)).status).toBe(404);
      expect((await account.admin.send(method, `/webhook-deliveries/${id}${path}`)).status).toBe(404);
      expect((await account.operator.send(method, target)).status).toBe(method === 'GET' ? 200 : 403);
    }
    await untilShown();
    expect((await stranger.readOnly.get('/webhook-deliveries')).body.data).toEqual([]);
    expect((await account.readOnly.get('/webhook-deliveries?status=pending')).body.data).toMatchObject([{ id: delivery }]);
    for (const query of ['endpoint_id=x', 'event_id=x', 'status=lost', 'since=x', 'limit=x', 'other=1']) expect((await account.readOnly.get(`/webhook-deliveries?${query}`)).status).toBe(422);
  });
});
