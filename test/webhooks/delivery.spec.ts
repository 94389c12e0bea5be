import { spawnSync } from 'node:child_process';
import { Webhook } from 'standardwebhooks';
import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { connect } from '../../libs/db/client.js';
import { appendEvents } from '../../libs/db/event.writes.js';
import { newId } from '../../libs/db/mint.js';
import { verifyWebhook } from '../../libs/webhooks/verify.js';
import { freshAccount, type TestAccount } from '../support/account.js';
import { untilUndrained } from '../support/drain.js';
import { openEngine } from '../support/engine.js';
import { untilShown } from '../support/events.js';
import { clearTextOf } from '../support/history.js';
import { openReceiver, status, type Received, type Receiver } from '../support/receiver.js';
import { eventually, shared } from '../support/stack.js';

let account: TestAccount;
let receiver: Receiver;

beforeEach(async () => {
  [account, receiver] = await Promise.all([freshAccount(), openReceiver()]);
});
afterEach(() => receiver.close());

interface Endpoint {
  id: string;
  secret: string;
}

async function register(fields: object = {}, of: TestAccount = account): Promise<Endpoint> {
  const made = await of.admin.post('/webhook-endpoints/', { url: receiver.url, ...fields });
  expect(made.status).toBe(201);
  return made.body;
}

/** A change elsewhere in the account: the update of an endpoint that hears nothing of it. */
async function change(of: TestAccount = account, times = 1): Promise<string> {
  const made = await of.admin.post('/webhook-endpoints/', { url: receiver.url, enabled_events: ['user.created'] });
  for (let index = 0; index < times; index += 1) await of.admin.put(`/webhook-endpoints/${made.body.id}`, { description: `change ${index}` });
  return made.body.id;
}

/** Events of one transaction. */
async function burst(count: number): Promise<void> {
  const { db, close } = connect(shared.databaseUrlStaging, { max: 1 });
  const by = systemChange('staging', account.id);
  const drafts = Array.from({ length: count }, () => ({ type: 'customer.created', kind: 'cus' as const, objectId: newId(), data: {}, previous: null }));
  await transact(db, by, (tx) => appendEvents(tx, by, drafts));
  await close();
}

async function first(type: string): Promise<Received> {
  return eventually(() => receiver.received.find(({ event }) => event.type === type));
}

async function deliveries(query = ''): Promise<{ id: string; status: string; event_id: string; endpoint_id: string }[]> {
  await untilShown();
  const listed = await account.readOnly.get(`/webhook-deliveries?limit=100${query}`);
  expect(listed.status).toBe(200);
  return listed.body.data;
}

const python = `
import sys, json, hmac, hashlib
job = json.load(sys.stdin)
body = job["body"].encode("utf-8")
head, rest = job["header"].split(",", 1)
data = body[body.index(b',"data":') + 8:body.rindex(b"}")]
expected = "v1=" + hmac.new(job["secret"].encode("utf-8"), head[2:].encode() + b"." + data, hashlib.sha256).hexdigest()
print("valid" if any(hmac.compare_digest(expected, pair) for pair in rest.split(",")) else "invalid")
`;

describe('a webhook', () => {
  it('arrives within a second or so, and verifies three ways', async () => {
    const endpoint = await register({ enabled_events: ['webhook_endpoint.updated'] });
    const changed = await change();
    const { headers, body, event } = await first('webhook_endpoint.updated');
    expect(Object.keys(event)).toEqual([
      'id', 'object', 'type', 'created_at', 'updated_at', 'account_id', 'request_id', 'request_idempotency_key', 'user', 'sequence', 'clock_time', 'pending_webhooks', 'data',
    ]);
    expect(event).toMatchObject({ object: 'event', account_id: account.publicId, sequence: 2, pending_webhooks: 1, data: { id: changed, description: 'change 0' } });
    expect(headers['content-type']).toBe('application/json');
    expect(headers['webhook-id']).toBe(event.id);
    expect(headers['signature-digest']).toMatch(new RegExp(`^t=${Math.floor(Date.parse(event.created_at) / 1000)},v1=[0-9a-f]{64}$`));

    expect(verifyWebhook({ headers, body, secrets: [endpoint.secret] }, { nowSeconds: Date.now() / 1000 })).toEqual({ valid: true });
    expect(new Webhook(endpoint.secret).verify(body, headers as Record<string, string>)).toEqual(event);
    const run = spawnSync('python3', ['-c', python], { input: JSON.stringify({ body, header: headers['signature-digest'], secret: endpoint.secret }), encoding: 'utf8' });
    if (!run.error) expect(run.stdout.trim()).toBe('valid');

    const stored = await eventually(async () => {
      const { body: read } = await account.readOnly.get(`/events/${event.id}`);
      return read.pending_webhooks === 0 ? read : null;
    });
    expect(stored).toEqual({ ...event, pending_webhooks: 0, data_previous: { description: null, updated_at: expect.any(String) } });
  });

  it('goes to matching endpoints only, and never to another account', async () => {
    const stranger = await freshAccount();
    await register({}, stranger);
    const deaf = await register({ enabled_events: ['charge.*'] });
    const heard = await register({ enabled_events: ['webhook_endpoint.*'] });
    const changed = await change();
    await eventually(() => receiver.received.some(({ event }) => event.data.id === changed && event.sequence === 2));
    const made = await eventually(async () => {
      const all = await deliveries();
      return all.every((delivery) => delivery.status === 'delivered') ? all : null;
    });
    expect(new Set(made.map(({ endpoint_id }) => endpoint_id))).toEqual(new Set([heard.id]));
    expect(made.some(({ endpoint_id }) => endpoint_id === deaf.id)).toBe(false);
    expect(receiver.received.every(({ event }) => event.account_id === account.publicId)).toBe(true);
  });

  it('carries a signature for each live secret, newest first, while a rotation lasts', async () => {
    const endpoint = await register({ enabled_events: ['webhook_endpoint.test'] });
    const rotated = (await account.admin.post(`/webhook-endpoints/${endpoint.id}/rotate_secret`, { expire_after_seconds: 600 })).body;
    await account.admin.post(`/webhook-endpoints/${endpoint.id}/test`);
    const { headers, body } = await first('webhook_endpoint.test');
    const pairs = String(headers['signature-digest']).split(',').slice(1);
    expect(pairs).toHaveLength(2);
    const now = { nowSeconds: Date.now() / 1000 };
    for (const secret of [endpoint.secret, rotated.secret]) {
      expect(verifyWebhook({ headers, body, secrets: [secret] }, now)).toEqual({ valid: true });
      new Webhook(secret).verify(body, headers as Record<string, string>);
    }
    const newestOnly = { ...headers, 'signature-digest': String(headers['signature-digest']).split(',').slice(0, 2).join(',') };
    expect(verifyWebhook({ headers: newestOnly, body, secrets: [rotated.secret] }, now)).toEqual({ valid: true });
    expect(verifyWebhook({ headers: newestOnly, body, secrets: [endpoint.secret] }, now).valid).toBe(false);

    await account.admin.post(`/webhook-endpoints/${endpoint.id}/rotate_secret`, { expire_after_seconds: 0 });
    await untilUndrained(endpoint.id);
    receiver.received.length = 0;
    await account.admin.post(`/webhook-endpoints/${endpoint.id}/test`);
    const later = await first('webhook_endpoint.test');
    expect(String(later.headers['signature-digest']).split(',')).toHaveLength(2);
    expect(verifyWebhook({ ...later, secrets: [endpoint.secret, rotated.secret] }, now).valid).toBe(false);
  });

  it('is a test whatever the filter says', async () => {
    const endpoint = await register({ enabled_events: ['charge.failed'] });
    const answer = await account.admin.post(`/webhook-endpoints/${endpoint.id}/test`);
    expect([answer.status, answer.body]).toMatchObject([200, { object: 'webhook_delivery', endpoint_id: endpoint.id, status: 'pending' }]);
    const { event } = await first('webhook_endpoint.test');
    expect(event.id).toBe(answer.body.event_id);
    expect(event.data.id).toBe(endpoint.id);
    expect((await account.readOnly.get(`/events/${event.id}`)).body.type).toBe('webhook_endpoint.test');
  });

  it('waits while its endpoint is paused, and comes when it is resumed', async () => {
    const endpoint = await register({ enabled_events: ['webhook_endpoint.updated'] });
    await account.admin.post(`/webhook-endpoints/${endpoint.id}/pause`);
    await change(account, 3);
    expect(await deliveries(`&endpoint_id=${endpoint.id}`)).toMatchObject([{ status: 'pending' }, { status: 'pending' }, { status: 'pending' }]);
    expect(receiver.received).toEqual([]);
    await account.admin.post(`/webhook-endpoints/${endpoint.id}/resume`);
    await eventually(() => receiver.received.length === 3);
  });

  it('is not made while its endpoint is disabled', async () => {
    const endpoint = await register({ enabled_events: ['webhook_endpoint.updated'] });
    await account.admin.post(`/webhook-endpoints/${endpoint.id}/disable`);
    await change();
    expect(await deliveries()).toEqual([]);
    await account.admin.post(`/webhook-endpoints/${endpoint.id}/enable`);
    await change();
    await first('webhook_endpoint.updated');
    expect(receiver.received).toHaveLength(1);
  });

  it('that is answered with 410 disables the endpoint and says so', async () => {
    receiver.answer = status(410);
    const endpoint = await register({ enabled_events: ['webhook_endpoint.updated'] });
    await change();
    const disabled = await eventually(async () => {
      const { body } = await account.readOnly.get(`/webhook-endpoints/${endpoint.id}`);
      return body.status === 'disabled' && body;
    });
    expect(disabled.status_reason).toBe('gone');
    expect((await account.readOnly.post('/events/search', { object_id: endpoint.id })).body.data.map(({ type }: { type: string }) => type)).toEqual(['webhook_endpoint.created', 'webhook_endpoint.disabled']);
    expect(await deliveries(`&endpoint_id=${endpoint.id}`)).toMatchObject([{ status: 'cancelled' }]);
  });

  it('that is redirected or sent to a refused address fails, and the attempts say why', async () => {
    receiver.answer = status(302, { location: `${receiver.url}/elsewhere` });
    await register({ enabled_events: ['webhook_endpoint.updated'] });
    await register({ enabled_events: ['webhook_endpoint.updated'], url: 'http://127.0.0.1:1/' });
    await change();
    const tried = await eventually(async () => {
      const all = await deliveries('&status=pending');
      const attempts = await Promise.all(all.map(async ({ id }) => (await account.readOnly.get(`/webhook-deliveries/${id}/attempts`)).body.data));
      return attempts.length === 2 && attempts.every((list) => list.length > 0) && attempts.map(([attempt]) => attempt);
    });
    expect(tried).toEqual(expect.arrayContaining([
      expect.objectContaining({ object: 'delivery_attempt', number: 1, manual: false, response_code: 302, error: null, url: receiver.url }),
      expect.objectContaining({ response_code: null, error: 'connection_failed', url: 'http://127.0.0.1:1/' }),
    ]));
    expect(receiver.received.every(({ path }) => path === '/hook')).toBe(true);
  });
});

describe('the dispatcher', () => {
  it('is one workflow per endpoint, readable by status and account, that knows ids only, takes a burst in a few steps, and ends when the endpoint is deleted', async () => {
    const engine = await openEngine();
    try {
      const endpoint = await register({ enabled_events: ['customer.created'] });
      await account.admin.post(`/webhook-endpoints/${endpoint.id}/test`);
      await first('webhook_endpoint.test');
      const handle = engine.client.workflow.getHandle(`webhook-endpoint/${endpoint.id}`);
      const described = await handle.describe();
      expect([described.status.name, described.searchAttributes]).toMatchObject(['RUNNING', { SignalboxAccount: [account.publicId], SignalboxStatus: ['delivering'] }]);
      await burst(250);
      await eventually(() => new Set(receiver.ids()).size === 251);
      const history = clearTextOf(await handle.fetchHistory());
      expect(history.match(/"eventId"/g)!.length).toBeLessThan(100);
      for (const known of [endpoint.id, account.publicId]) expect(history).toContain(known);
      for (const hidden of [receiver.url, endpoint.secret, receiver.ids()[1]!, 'customer.created']) expect(history).not.toContain(hidden);
      await account.admin.delete(`/webhook-endpoints/${endpoint.id}`);
      await eventually(async () => (await handle.describe()).status.name === 'COMPLETED');
    } finally {
      await engine.close();
    }
  });
});

describe('ten endpoints', () => {
  it('one that never answers and one that fails all keep nothing from the other eight', async () => {
    const hanging = await openReceiver(() => undefined);
    const failing = await openReceiver(status(500));
    try {
      const enabled_events = ['webhook_endpoint.updated'];
      const healthy = await Promise.all(Array.from({ length: 8 }, () => register({ enabled_events })));
      await Promise.all([hanging, failing].map(({ url }) => register({ enabled_events, url })));
      await change(account, 12);
      await eventually(() => hanging.mostOpen > 0 && failing.received.length > 0);
      const settled = await Promise.all(healthy.map(({ id }) =>
        eventually(async () => {
          const done = (await deliveries(`&endpoint_id=${id}&status=delivered`)).length;
          return done === 12 && done;
        })));
      expect(settled).toEqual(healthy.map(() => 12));
      expect(hanging.mostOpen).toBeLessThanOrEqual(10);
      expect(await deliveries('&status=pending')).toHaveLength(24);
    } finally {
      await Promise.all([hanging.close(), failing.close()]);
    }
  }, 180_000);
});
