import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { freshAccount, type TestAccount } from '../support/account.js';
import { openReceiver, type Receiver } from '../support/receiver.js';
import { eventually } from '../support/stack.js';

const url = 'https://receiver.example/hook';

let account: TestAccount;
let receiver: Receiver;

beforeAll(async () => { account = await freshAccount(); });
beforeEach(async () => { receiver = await openReceiver(); });
afterEach(() => receiver.close());

const path = (id: string, verb = '') => `/webhook-endpoints/${id}${verb}`;

async function created(fields: object = {}, of: TestAccount = account) {
  const made = await of.admin.post('/webhook-endpoints/', { url, ...fields });
  expect([made.status, made.body.detail]).toEqual([201, undefined]);
  return made.body;
}

const locations = (body: { errors: { loc: string[] }[] }) => body.errors.map(({ loc }) => loc.join('.'));

const audit = async (id: string) => (await account.admin.get(`/audit-log?object_id=${id}`)).body.data as { action: string; details: Record<string, unknown> | null; actor: string; ip_address: string; created_at: string }[];

describe('an endpoint\'s settings', () => {
  const everything = {
    description: 'Books', metadata: { team: 'a' }, enabled_events: ['customer.subscription.*'], data_format: 'string', ordered: true, rate_per_second: 5, max_in_flight: 2,
    filter: { metadata: { shop: 'north' } },
  };

  it('are complete on create, on GET and on update, where null clears', async () => {
    const made = await created({ ...everything, headers: { 'X-Api-Key': 'hidden value' } });
    const shown = { ...everything, headers: { 'x-api-key': '[masked]' }, is_failing: false, failing_since: null, held_until: null };
    expect(made).toMatchObject(shown);
    expect((await account.readOnly.get(path(made.id))).body).toMatchObject(shown);
    const cleared = { description: null, metadata: null, ordered: false, rate_per_second: null, max_in_flight: null, filter: null, headers: null, data_format: 'object' };
    expect((await account.admin.put(path(made.id), cleared)).body).toMatchObject({ ...cleared, enabled_events: everything.enabled_events });
    const { body } = await account.readOnly.post('/events/search', { object_id: made.id, sort_descending: true });
    expect(body.data[0]).toMatchObject({ type: 'webhook_endpoint.updated', data_previous: { ordered: true, filter: everything.filter, headers: { 'x-api-key': '[masked]' } } });
    expect(JSON.stringify(body)).not.toContain('hidden value');
  });

  it.each([
    [{ rate_per_second: 0 }, 'body.rate_per_second'], [{ rate_per_second: 1001 }, 'body.rate_per_second'], [{ rate_per_second: 1.5 }, 'body.rate_per_second'], [{ max_in_flight: 11 }, 'body.max_in_flight'],
    [{ ordered: null }, 'body.ordered'], [{ filter: {} }, 'body.filter'], [{ filter: { object_ids: [] } }, 'body.filter.object_ids'], [{ filter: { object_ids: ['x'] } }, 'body.filter.object_ids.0'],
    [{ filter: { object_ids: ['cus_prod_01h455vb4pex5vsknk084sn02q'] } }, 'body.filter.object_ids.0'], [{ filter: { metadata: {} } }, 'body.filter.metadata'],
    [{ filter: { metadata: { a: { b: 1 } } } }, 'body.filter.metadata.a'], [{ filter: { metadata: { a: 'b' }, other: 1 } }, 'body.filter.other'], [{ enabled_events: ['customer.subscriptions.*'] }, 'body.enabled_events.0'],
    [{ headers: { 'Content-Length': '5' } }, 'body.headers.Content-Length'], [{ headers: { Host: 'x' } }, 'body.headers.Host'], [{ headers: { 'webhook-id': 'x' } }, 'body.headers.webhook-id'],
    [{ headers: { 'signature-digest': 'x' } }, 'body.headers.signature-digest'], [{ headers: { 'Transfer-Encoding': 'chunked' } }, 'body.headers.Transfer-Encoding'],
    [{ headers: { 'x-a': 'two\r\nlines: 1' } }, 'body.headers.x-a'], [{ headers: { 'x-a': '1', 'X-A': '2' } }, 'body.headers.X-A'], [{ headers: { 'x-a': '[masked]' } }, 'body.headers.x-a'],
    [{ headers: Object.fromEntries(Array.from({ length: 21 }, (_, index) => [`x-${index}`, '1'])) }, 'body.headers'],
    [{ headers: Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`x-${index}`, 'v'.repeat(2000)])) }, 'body.headers'],
    [{ secret: 'whsec_short' }, 'body.secret'], [{ secret: `whsec_${randomBytes(23).toString('base64')}` }, 'body.secret'], [{ secret: `whsec_${randomBytes(65).toString('base64')}` }, 'body.secret'],
    [{ secret: randomBytes(32).toString('base64') }, 'body.secret'], [{ secret: `whsec_${Buffer.alloc(32).toString('base64')}` }, 'body.secret'],
  ])('%j are refused, naming %s', async (fields, place) => {
    const refused = await account.admin.post('/webhook-endpoints/', { url, ...fields });
    expect([refused.status, locations(refused.body)]).toEqual([422, [place]]);
  });
});

describe('filters', () => {
  it('let through by type, by object, by metadata and by custom fields; a test comes whatever they say', async () => {
    const own = await freshAccount();
    const customers = await Promise.all(['north', 'south'].map(async (shop, index) => {
      const made = await own.admin.post('/customers/', { first_name: shop, email: `${shop}@example.com`, metadata: { shop }, custom_fields: { tier: index, vip: true } });
      expect(made.status).toBe(201);
      return made.body.id as string;
    }));
    const [north, south] = customers as [string, string];
    const filters = {
      all: null, one: { object_ids: [south] }, metadata: { metadata: { shop: 'north' } }, both: { metadata: { shop: 'north' }, custom_fields: { tier: 1 } },
      number: { custom_fields: { tier: 1, vip: true } }, text: { custom_fields: { tier: '1' } },
    };
    const endpoints = new Map<string, string>();
    for (const [name, filter] of Object.entries(filters)) {
      endpoints.set(name, (await created({ url: `${receiver.url}?${name}`, enabled_events: ['customer.updated'], filter }, own)).id);
    }
    for (const id of customers) await own.admin.put(`/customers/${id}`, { first_name: 'renamed' });
    const heard = (name: string) => receiver.received.filter((one) => one.path.endsWith(`?${name}`)).map(({ event }) => event.data.id).sort();
    await eventually(() => receiver.received.length >= 5);
    expect(Object.fromEntries(Object.keys(filters).map((name) => [name, heard(name)]))).toEqual({ all: [north, south].sort(), one: [south], metadata: [north], both: [], number: [south], text: [] });
    await own.admin.post(path(endpoints.get('text')!, '/test'));
    await eventually(() => receiver.received.some((one) => one.event.type === 'webhook_endpoint.test' && one.path.endsWith('?text')));
  });
});

describe('headers of the receiver\'s own', () => {
  it('are sent with each webhook, never shown, and changed one by one', async () => {
    const made = await created({ url: receiver.url, enabled_events: ['webhook_endpoint.test'], headers: { Authorization: 'Bearer first-value-1', 'X-Tenant': 'seven', 'x-old': '1' } });
    expect(made.headers).toEqual({ authorization: '[masked]', 'x-tenant': '[masked]', 'x-old': '[masked]' });
    const updated = await account.admin.put(path(made.id), { headers: { ...made.headers, authorization: 'Bearer second-value-2', 'x-old': null } });
    expect([updated.status, updated.body.headers]).toEqual([200, { authorization: '[masked]', 'x-tenant': '[masked]' }]);
    const delivery = (await account.admin.post(path(made.id, '/test'))).body;
    const one = await eventually(() => receiver.received[0]);
    expect(one.headers).toMatchObject({ authorization: 'Bearer second-value-2', 'x-tenant': 'seven', 'content-type': 'application/json' });
    expect(one.headers['x-old']).toBeUndefined();
    const attempts = await eventually(async () => {
      const listed = await account.readOnly.get(`/webhook-deliveries/${delivery.id}/attempts`);
      return listed.body.data.length > 0 ? listed : null;
    });
    expect(attempts.body.data[0].request_headers).toMatchObject({ authorization: '[masked]', 'x-tenant': '[masked]' });
    expect(attempts.text + JSON.stringify(updated.body)).not.toMatch(/second-value|first-value|seven/);
  });
});

describe('signing secrets', () => {
  it('may be brought along, sign beside four others, and are revoked one by one; the audit log tells of all of it', async () => {
    const own = `whsec_${randomBytes(24).toString('base64')}`;
    const made = await created({ url: receiver.url, enabled_events: ['webhook_endpoint.test'], secret: own });
    expect([made.secret, made.secrets]).toEqual([own, [{ id: expect.stringMatching(/^whs_stg_/), secret: own, created_at: expect.any(String), expires_at: null }]]);
    const rotate = (body: object) => account.admin.post(path(made.id, '/rotate_secret'), body);
    expect(locations((await rotate({ secret: own })).body)).toEqual(['body.secret']);
    for (let count = 2; count <= 5; count += 1) expect((await rotate({ expire_after_seconds: 604_800 })).body.secrets).toHaveLength(count);
    const sixth = await rotate({});
    expect([sixth.status, sixth.body.code]).toEqual([409, 'conflict']);

    const revealed = (await account.admin.get(path(made.id, '/reveal_secret'))).body;
    const revoke = (secretId: string) => account.admin.post(path(made.id, '/revoke_secret'), { secret_id: secretId });
    expect((await revoke(revealed.secrets[0].id)).status).toBe(409);
    const left = await revoke(made.secrets[0].id);
    expect([left.status, left.body.secrets.map(({ secret }: { secret: string }) => secret)]).toEqual([200, revealed.secrets.slice(0, 4).map(({ secret }: { secret: string }) => secret)]);
    for (const id of [made.secrets[0].id, 'x', made.id]) expect([(await revoke(id)).status, locations((await revoke(id)).body)]).toEqual([422, ['body.secret_id']]);

    await account.admin.post(path(made.id, '/test'));
    const one = await eventually(() => receiver.received[0]);
    const headers = one.headers as Record<string, string>;
    for (const { secret } of left.body.secrets) new Webhook(secret).verify(one.body, headers);
    expect(() => new Webhook(own).verify(one.body, headers)).toThrow();
    expect(String(headers['signature-digest']).split(',')).toHaveLength(5);
    expect((await rotate({ expire_after_seconds: 0 })).body.secrets).toHaveLength(1);

    const entries = await audit(made.id);
    expect(entries.map(({ action }) => action.replace('webhook_secret.', '')).reverse()).toEqual(['created', 'rotated', 'rotated', 'rotated', 'rotated', 'revealed', 'revoked', 'rotated']);
    expect(entries[entries.length - 1]).toMatchObject({ details: { imported: true }, actor: expect.stringMatching(/^tok_stg_/), ip_address: '127.0.0.1' });
    expect(entries[1]).toMatchObject({ details: { secret_id: made.secrets[0].id } });
    expect(JSON.stringify(entries)).not.toContain('whsec_');
  });

  it('revealed again and again leave a line each; the log is by page, by action, by actor, by time, and the account\'s own', async () => {
    const made = await created();
    for (let index = 0; index < 3; index += 1) await account.admin.get(path(made.id, '/reveal_secret'));
    const of = (query: string) => account.admin.get(`/audit-log?object_id=${made.id}&${query}`);
    expect((await of('action=webhook_secret.revealed')).body.data).toHaveLength(3);
    const first = await of('limit=3');
    expect([first.body.data.length, first.body.has_more]).toEqual([3, true]);
    expect((await of(`limit=3&cursor=${first.body.next_cursor}`)).body.data.map(({ action }: { action: string }) => action)).toEqual(['webhook_secret.created']);
    expect((await of(`until=${encodeURIComponent(made.created_at)}`)).body.data).toEqual([]);
    expect((await of(`actor=${first.body.data[0].actor}`)).body.data).toHaveLength(4);
    for (const query of ['limit=0', 'cursor=x', 'since=yesterday', 'other=1']) expect((await of(query)).status).toBe(422);
    expect((await account.admin.get('/audit-log?object_id=x')).status).toBe(422);
    const stranger = await freshAccount();
    expect((await stranger.admin.get('/audit-log')).body.data).toEqual([]);
    for (const role of ['operator', 'readOnly'] as const) {
      for (const answer of [await account[role].get('/audit-log'), await account[role].get(path(made.id, '/reveal_secret')), await account[role].post(path(made.id, '/revoke_secret'), { secret_id: 'x' })]) {
        expect(answer.status).toBe(403);
      }
    }
    expect((await of('limit=100')).body.data).toHaveLength(4);
  });
});
