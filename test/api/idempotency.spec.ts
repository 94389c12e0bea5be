import { randomUUID } from 'node:crypto';
import { connect, type Database } from '../../libs/db/client.js';
import { freshAccount, type Answer, type TestAccount } from '../support/account.js';
import { eventually, shared, startStack, type PrivateStack } from '../support/stack.js';

let account: TestAccount;
let database: Database;
beforeAll(async () => {
  account = await freshAccount();
  database = connect(shared.databaseUrlStaging, { max: 2 });
});
afterAll(() => database.close());

const body = { email: 'once@example.com', custom_fields: { b: 1, a: 2 } };
const send = (key: string, options: { path?: string; token?: string | null; body?: unknown; method?: string } = {}): Promise<Answer> =>
  account.operator.send(options.method ?? 'POST', options.path ?? '/customers/', 'body' in options ? options.body : body, { key, ...(options.token ? { token: options.token } : {}) });
const records = async (key: string) =>
  (await database.pool.query('select * from idempotency_keys where account_id = $1 and key = $2', [account.id, key])).rows as Record<string, unknown>[];
const count = async (): Promise<number> => (await account.admin.post('/customers/list', { page_size: 1 })).body.total_objects;

describe('idempotency key', () => {
  it('answers the same status and bytes again, with one effect', async () => {
    const key = randomUUID();
    const before = await count();
    const first = await send(key);
    expect([first.status, first.headers.get('idempotent-replayed')]).toEqual([201, null]);
    const again = await send(key);
    expect([again.status, again.headers.get('idempotent-replayed'), again.text]).toEqual([201, 'true', first.text]);
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(again.headers.get('x-request-id')).not.toBe(first.headers.get('x-request-id'));
    expect(await count()).toBe(before + 1);
  });

  it('has one effect for 20 callers at once', async () => {
    const key = randomUUID();
    const before = await count();
    const answers = await Promise.all(Array.from({ length: 20 }, () => send(key)));
    const made = answers.filter((answer) => answer.status === 201);
    const busy = answers.filter((answer) => answer.status === 409);
    expect(made.length).toBeGreaterThan(0);
    expect(made.length + busy.length).toBe(20);
    expect(new Set(made.map((answer) => answer.text)).size).toBe(1);
    for (const answer of busy) {
      expect(answer.body.code).toBe('idempotency_key_in_use');
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    expect(await count()).toBe(before + 1);
    expect((await send(key)).text).toBe(made[0]!.text);
  });

  it('knows the same parameters spelt otherwise', async () => {
    const key = randomUUID();
    const first = await send(key);
    const other = await account.operator.post('/customers', undefined, { key, raw: '{ "custom_fields": {"a": 2.0, "b": 1}, "email": "once@example.com" }' });
    expect([other.status, other.text]).toEqual([201, first.text]);
  });

  it('is refused with other parameters, on another path or method, and for another token', async () => {
    const key = randomUUID();
    await send(key);
    for (const answer of [
      await send(key, { body: { email: 'other@example.com' } }),
      await send(key, { path: '/products/', body: { name: 'x', description: '' } }),
      await send(key, { path: '/customers/?x=1' }),
      await send(key, { token: account.admin.token }),
    ]) expect([answer.status, answer.body.code]).toEqual([422, 'idempotency_key_reused']);
    const denied = await send(key, { token: account.readOnly.token });
    expect(denied.status).toBe(403);
    const elsewhere = await (await freshAccount()).operator.post('/customers/', body, { key });
    expect([elsewhere.status, elsewhere.headers.get('idempotent-replayed')]).toEqual([201, null]);
  });

  it.each(['', 'x'.repeat(256)])('is refused when it is %j', async (key) => {
    const answer = await send(key);
    expect([answer.status, answer.body.code]).toEqual([422, 'idempotency_key_invalid']);
  });

  it('is not spent by a refusal', async () => {
    const key = randomUUID();
    expect((await send(key, { body: { email: 'nonsense' } })).status).toBe(422);
    expect((await send(key, { token: 'nonsense' })).status).toBe(401);
    expect((await send(key, { method: 'PUT', path: '/customers/cus_stg_01h455vb4pex5vsknk084sn02q', body: {} })).status).toBe(404);
    expect(await records(key)).toEqual([]);
    expect((await send(key)).status).toBe(201);
  });

  it('keeps its answer encrypted', async () => {
    const key = randomUUID();
    const { body: made } = await send(key);
    const [record] = await records(key);
    expect(record!['response_status']).toBe(201);
    expect(String(record!['response_sealed'])).toMatch(/^v1\./);
    expect(JSON.stringify(record)).not.toContain(made.id);
    expect(JSON.stringify(record)).not.toContain('once@example.com');
  });

  it('shows a new token again, byte for byte', async () => {
    const key = randomUUID();
    const first = await account.admin.post('/api-tokens/', { name: 'n', role: 'READ_ONLY' }, { key });
    const again = await account.admin.post('/api-tokens/', { name: 'n', role: 'READ_ONLY' }, { key });
    expect(again.text).toBe(first.text);
  });

  it('covers PUT and DELETE', async () => {
    const { id } = (await send(randomUUID())).body;
    const put = randomUUID();
    const first = await send(put, { method: 'PUT', path: `/customers/${id}`, body: { notes: 'a' } });
    await send(randomUUID(), { method: 'PUT', path: `/customers/${id}`, body: { notes: 'b' } });
    const again = await send(put, { method: 'PUT', path: `/customers/${id}/`, body: { notes: 'a' } });
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect((await account.operator.get(`/customers/${id}`)).body.notes).toBe('b');
    const gone = randomUUID();
    const deleted = await send(gone, { method: 'DELETE', path: `/customers/${id}`, body: undefined });
    const repeated = await send(gone, { method: 'DELETE', path: `/customers/${id}`, body: undefined });
    expect([deleted.status, repeated.status, repeated.headers.get('idempotent-replayed')]).toEqual([200, 200, 'true']);
  });
});

describe('an open record', () => {
  const leaveOpen = (key: string, silentSeconds: number) =>
    database.pool.query(
      `update idempotency_keys set completed_at = null, response_status = null, response_sealed = null,
              heartbeat_at = clock_timestamp() - make_interval(secs => $3)
        where account_id = $1 and key = $2`,
      [account.id, key, silentSeconds],
    );

  it('is busy while its owner is heard of', async () => {
    const key = randomUUID();
    await send(key);
    await leaveOpen(key, 5);
    const answer = await send(key);
    expect([answer.status, answer.body.code, answer.headers.get('retry-after')]).toEqual([409, 'idempotency_key_in_use', '1']);
  });

  it('is continued with the same object when its owner is silent, and adds no second effect', async () => {
    const key = randomUUID();
    const first = await send(key);
    const before = await count();
    await leaveOpen(key, 31);
    const answers = await Promise.all(Array.from({ length: 10 }, () => send(key)));
    const made = answers.filter((answer) => answer.status === 201);
    expect(made.length).toBeGreaterThan(0);
    for (const answer of made) expect(answer.body.id).toBe(first.body.id);
    expect(answers.every((answer) => answer.status === 201 || answer.body.code === 'idempotency_key_in_use')).toBe(true);
    expect(await count()).toBe(before);
    const { body: events } = await account.admin.post('/events/search', { object_id: first.body.id });
    expect(events.data.map((event: { type: string }) => event.type)).toEqual(['customer.created']);
  });

  it('is continued for a change and a deletion that were committed but not answered', async () => {
    const { id } = (await send(randomUUID())).body;
    const put = randomUUID();
    await send(put, { method: 'PUT', path: `/customers/${id}`, body: { notes: 'a' } });
    await account.operator.put(`/customers/${id}`, { notes: 'b' });
    await leaveOpen(put, 31);
    expect((await send(put, { method: 'PUT', path: `/customers/${id}`, body: { notes: 'a' } })).status).toBe(201);
    expect((await account.operator.get(`/customers/${id}`)).body.notes).toBe('b');
    const gone = randomUUID();
    await send(gone, { method: 'DELETE', path: `/customers/${id}`, body: undefined });
    await leaveOpen(gone, 31);
    expect((await send(gone, { method: 'DELETE', path: `/customers/${id}`, body: undefined })).status).toBe(200);
  });

  it('draws a new token text when the first was never answered', async () => {
    const key = randomUUID();
    const ask = () => account.admin.post('/api-tokens/', { name: 'n', role: 'READ_ONLY' }, { key });
    const first = (await ask()).body;
    await leaveOpen(key, 31);
    const second = (await ask()).body;
    expect(second.id).toBe(first.id);
    expect((await account.admin.get('/customers', { token: second.token })).status).toBe(200);
    await eventually(async () => (await account.admin.get('/customers', { token: first.token })).status === 401);
  });
});

describe('while Postgres is away', () => {
  let stack: PrivateStack;
  beforeAll(async () => {
    stack = await startStack({ withoutWorker: true });
  }, 180_000);
  afterAll(() => stack.stop());

  it('answers 503 with Retry-After and nothing of the driver, and goes on afterwards with the same key', async () => {
    const own = await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
    const key = randomUUID();
    await stack.postgres.stop();
    for (const answer of [await own.operator.post('/customers/', body, { key }), await own.operator.get('/customers'), await own.operator.get('/readyz')]) {
      expect([answer.status, answer.body.code]).toEqual([503, 'service_unavailable']);
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(answer.headers.get('content-type')).toBe('application/problem+json');
      expect(answer.text).not.toMatch(/ECONN|postgres|select|127\.0\.0\.1:\d+\/?"?,"code/i);
    }
    expect((await own.operator.get('/healthz')).status).toBe(200);
    await stack.postgres.restart();
    const made = await eventually(async () => {
      const answer = await own.operator.post('/customers/', body, { key });
      return answer.status === 201 ? answer : null;
    });
    expect((await own.operator.post('/customers/', body, { key })).text).toBe(made.text);
    expect((await own.operator.post('/customers/list')).body.total_objects).toBe(1);
  }, 180_000);
});
