import { freshAccount, type TestAccount } from '../support/account.js';
import { untilShown } from '../support/events.js';
import { openReceiver, status, type Receiver } from '../support/receiver.js';
import { eventually } from '../support/stack.js';

let account: TestAccount;
let receiver: Receiver;

beforeEach(async () => {
  [account, receiver] = await Promise.all([freshAccount(), openReceiver()]);
});
afterEach(() => receiver.close());

async function register(fields: object = {}): Promise<string> {
  const made = await account.admin.post('/webhook-endpoints/', { url: receiver.url, enabled_events: ['customer.*'], ...fields });
  expect(made.status).toBe(201);
  return made.body.id;
}

async function customer(): Promise<string> {
  const made = await account.admin.post('/customers/', { email: `who.${Math.random().toString(36).slice(2)}@example.com` });
  expect(made.status).toBe(201);
  return made.body.id;
}

const listed = async (path: string) => {
  await untilShown();
  const answer = await account.readOnly.get(path);
  expect([path, answer.status]).toEqual([path, 200]);
  return answer.body.data;
};

const ended = (id: string) => eventually(async () => {
  const { body } = await account.readOnly.get(`/webhook-jobs/${id}`);
  return body.status !== 'running' && body;
}, { timeoutMs: 90_000 });

describe('"we did not get the webhook"', () => {
  it('is answered from the object: events, deliveries, attempts, and resent', async () => {
    receiver.answer = status(503, { 'content-type': 'text/plain', 'retry-after': '60', 'x-internal': 'no' });
    const endpoint = await register();
    const id = await customer();

    const [event] = await listed(`/events?object_id=${id}`);
    expect(event.type).toBe('customer.created');
    const delivery = await eventually(async () => {
      const [found] = await listed(`/webhook-deliveries?object_id=${id}`);
      return found?.attempts === 1 && found;
    });
    expect(delivery).toMatchObject({
      event_id: event.id, endpoint_id: endpoint, event_type: 'customer.created', object_id: id, status: 'pending', last_response_code: 503,
      waiting_for: 'retry_after', attempts_left: expect.any(Number), url: receiver.url, job_id: null,
    });
    expect(Date.parse(delivery.next_attempt_at)).toBeGreaterThan(Date.now() + 50_000);
    for (const filter of [`customer_id=${id}`, `endpoint_id=${endpoint}&event_type=customer.*&status=pending`, `event_id=${event.id}`]) {
      expect(await listed(`/webhook-deliveries?${filter}`)).toEqual([delivery]);
    }
    expect((await account.readOnly.get(`/webhook-deliveries/${delivery.id}`)).body).toEqual(delivery);
    expect(await listed(`/webhook-deliveries?object_id=${id}&status=delivered`)).toEqual([]);

    const attempts = await listed(`/webhook-attempts?object_id=${id}`);
    expect(attempts).toEqual([{
      id: expect.stringMatching(/^wha_stg_/), object: 'delivery_attempt', delivery_id: delivery.id, endpoint_id: endpoint, event_id: event.id,
      event_type: 'customer.created', number: 1, manual: false, url: receiver.url, attempt_time: expect.any(String), duration_ms: expect.any(Number),
      timings: { resolve_ms: null, connect_ms: expect.any(Number), tls_ms: null, first_byte_ms: expect.any(Number), total_ms: expect.any(Number) },
      resolved_address: new URL(receiver.url).host,
      request_headers: {
        'content-type': 'application/json', 'user-agent': 'Signalbox', 'webhook-id': event.id, 'webhook-timestamp': expect.any(String),
        'signature-digest': expect.stringMatching(/^t=\d+,v1=[0-9a-f]{8}…$/), 'webhook-signature': expect.stringMatching(/^v1,.{8}…$/),
      },
      succeeded: false, response_code: 503,
      response_headers: { 'content-type': 'text/plain', 'retry-after': '60', date: expect.any(String) },
      response_text: '', error: null, error_detail: 'The receiver answered 503.',
    }]);
    expect(await listed(`/webhook-deliveries/${delivery.id}/attempts`)).toEqual(attempts);
    for (const filter of [`endpoint_id=${endpoint}&outcome=failed`, `delivery_id=${delivery.id}`, `customer_id=${id}&response_code=503`, `event_type=customer.created`]) {
      expect(await listed(`/webhook-attempts?${filter}`)).toEqual(attempts);
    }
    expect(await listed(`/webhook-attempts?endpoint_id=${endpoint}&outcome=succeeded`)).toEqual([]);

    receiver.answer = status(200);
    const resent = await account.admin.post(`/webhook-deliveries/${delivery.id}/resend`);
    expect([resent.status, resent.body]).toMatchObject([200, { status: 'delivered', waiting_for: null, attempts_left: 0, result: { response_code: 200 } }]);
    expect(await listed(`/webhook-attempts?object_id=${id}`)).toMatchObject([{ number: 2, manual: true, succeeded: true, error_detail: null }, { number: 1 }]);
  });

  it('names the field of a filter that is wrong', async () => {
    for (const [query, field] of [['object_id=x', 'object_id'], ['customer_id=pi_stg_1', 'customer_id'], ['event_type=nothing.*', 'event_type'], ['since=now', 'since'], ['cursor=x', 'cursor']]) {
      for (const path of ['/webhook-deliveries', '/webhook-attempts']) {
        const { status: code, body } = await account.readOnly.get(`${path}?${query}`);
        expect([path, query, code, body.errors[0].loc.at(-1)]).toEqual([path, query, 422, field]);
      }
    }
  });

  it('pages through deliveries and attempts without skipping or repeating one, by time as well', async () => {
    const endpoints = [await register(), await register()];
    const since = new Date(Date.now() - 1000).toISOString();
    await Promise.all([1, 2, 3].map(customer));
    await eventually(async () => (await listed('/webhook-attempts?limit=100')).length === 6);
    for (const path of ['/webhook-deliveries', '/webhook-attempts']) {
      const all = await listed(`${path}?limit=100&since=${since}`);
      expect(new Set(all.map(({ endpoint_id }: { endpoint_id: string }) => endpoint_id))).toEqual(new Set(endpoints));
      const seen: unknown[] = [];
      let cursor = '';
      do {
        const { body } = await account.readOnly.get(`${path}?limit=2${cursor}`);
        seen.push(...body.data);
        cursor = body.has_more ? `&cursor=${body.next_cursor}` : '';
      } while (cursor);
      expect(seen).toEqual(all);
      expect(await listed(`${path}?until=${since}`)).toEqual([]);
    }
  });
});

describe('a job', () => {
  it('recovers what happened while the endpoint was disabled, and says so by event', async () => {
    const endpoint = await register();
    const since = new Date(Date.now() - 5_000).toISOString();
    await account.admin.post(`/webhook-endpoints/${endpoint}/disable`);
    const ids = await Promise.all([1, 2, 3].map(customer));
    const refused = await account.admin.post(`/webhook-endpoints/${endpoint}/recover`, { since });
    expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
    await account.admin.post(`/webhook-endpoints/${endpoint}/enable`);

    const keyed = { headers: { 'idempotency-key': 'recover-once' } };
    const made = await account.admin.post(`/webhook-endpoints/${endpoint}/recover`, { since }, keyed);
    expect([made.status, made.body]).toMatchObject([201, { object: 'webhook_job', kind: 'recover', endpoint_id: endpoint, status: 'running', total: null, processed: 0 }]);
    const job = await ended(made.body.id);
    expect(job).toMatchObject({ status: 'completed', counted: 3, total: 3, processed: 3, delivered: 3, undelivered: 0, finished_at: expect.any(String) });
    expect(receiver.received.map(({ event }) => event.data.id).sort()).toEqual(ids.sort());
    expect((await account.admin.post(`/webhook-endpoints/${endpoint}/recover`, { since }, keyed)).body.id).toBe(job.id);
    expect((await listed(`/events?object_id=${job.id}`)).map(({ type }: { type: string }) => type)).toEqual(['webhook_job.completed', 'webhook_job.created']);
    expect(await listed(`/webhook-jobs?endpoint_id=${endpoint}&kind=recover&status=completed`)).toEqual([job]);
    expect((await listed(`/webhook-deliveries?endpoint_id=${endpoint}`))[0].job_id).toBe(job.id);
  });

  it('waits while its endpoint is paused, is cancelled, and lets another one cancel what waits', async () => {
    const endpoint = await register();
    await account.admin.post(`/webhook-endpoints/${endpoint}/disable`);
    await customer();
    await account.admin.post(`/webhook-endpoints/${endpoint}/enable`);
    await account.admin.post(`/webhook-endpoints/${endpoint}/pause`);
    const { body: made } = await account.admin.post(`/webhook-endpoints/${endpoint}/recover`, { since: new Date(Date.now() - 60_000).toISOString() });
    await eventually(async () => (await account.readOnly.get(`/webhook-jobs/${made.id}`)).body.processed === 1);
    expect((await account.admin.post(`/webhook-endpoints/${endpoint}/cancel-pending`)).status).toBe(409);
    const cancelled = await account.admin.post(`/webhook-jobs/${made.id}/cancel`);
    expect([cancelled.status, cancelled.body]).toMatchObject([200, { status: 'cancelled', reason: 'requested' }]);
    expect((await account.admin.post(`/webhook-jobs/${made.id}/cancel`)).body.code).toBe('invalid_state_transition');
    expect(await listed(`/webhook-deliveries?endpoint_id=${endpoint}`)).toMatchObject([{ status: 'pending', waiting_for: 'endpoint_paused' }]);
    const { body: second } = await account.admin.post(`/webhook-endpoints/${endpoint}/cancel-pending`);
    expect(await ended(second.id)).toMatchObject({ kind: 'cancel_pending', status: 'completed', total: 1, processed: 1, delivered: null });
    expect(await listed(`/webhook-deliveries?endpoint_id=${endpoint}`)).toMatchObject([{ status: 'cancelled', waiting_for: null }]);
  });

  it('takes no range that is empty, or older than what is kept', async () => {
    const endpoint = await register();
    const days = (count: number) => new Date(Date.now() - count * 86_400_000).toISOString();
    for (const body of [{ since: days(91) }, { since: days(1), until: days(2) }, { since: days(-1) }, {}]) {
      const answer = await account.admin.post(`/webhook-endpoints/${endpoint}/recover`, body);
      expect([answer.status, answer.body.errors[0].loc.at(-1)]).toEqual([422, 'since']);
    }
    expect((await account.operator.post(`/webhook-endpoints/${endpoint}/recover`, { since: days(1) })).status).toBe(403);
    expect(await listed(`/webhook-jobs?endpoint_id=${endpoint}`)).toEqual([]);
    expect((await account.readOnly.get('/webhook-jobs?endpoint_id=x')).status).toBe(422);
  });
});
