import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { connect } from '../../libs/db/client.js';
import { newId } from '../../libs/db/mint.js';
import { rollToken } from '../../libs/db/token.writes.js';
import { parsePublicId } from '../../libs/views/ids.js';
import { freshAccount, type TestAccount } from '../support/account.js';
import { eventually, shared } from '../support/stack.js';

let account: TestAccount;
beforeAll(async () => {
  account = await freshAccount();
});

const create = async (fields: object) => (await account.admin.post('/api-tokens/', { name: 'n', role: 'OPERATOR', ...fields })).body;

describe('authentication', () => {
  it('answers 401 with a challenge without a token, with a mistyped one and with one that is unknown', async () => {
    const none = await account.admin.get('/api-tokens/', { token: null });
    expect([none.status, none.body.code, none.headers.get('www-authenticate')]).toEqual([401, 'token_missing', 'Bearer']);
    const other = await freshAccount();
    const typo = other.admin.token!.replace(/.$/, (last) => (last === 'a' ? 'b' : 'a'));
    for (const token of ['x', typo, `st_stg_${'a'.repeat(49)}`]) {
      const answer = await account.admin.get('/api-tokens/', { token });
      expect([answer.status, answer.body.code]).toEqual([401, 'token_invalid']);
      expect(answer.headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
    expect((await account.admin.get('/api-tokens/', { token: null, headers: { authorization: 'Basic eDp5' } })).body.code).toBe('token_invalid');
  });

  it('refuses a token of the other environment by name', async () => {
    const production = await freshAccount('production');
    const answer = await account.admin.get('/api-tokens/', { token: production.admin.token });
    expect([answer.status, answer.body.code]).toEqual([401, 'token_wrong_environment']);
    const back = await production.admin.get('/api-tokens/', { token: account.admin.token });
    expect([back.status, back.body.code]).toEqual([401, 'token_wrong_environment']);
  });
});

describe('api tokens', () => {
  it('shows a token once, and it works with its role', async () => {
    const made = await account.admin.post('/api-tokens/', { name: 'till', role: 'OPERATOR' });
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ object: 'api_token', name: 'till', role: 'OPERATOR', account_id: account.publicId, is_deleted: false });
    expect(made.body.token).toMatch(/^st_stg_[0-9A-Za-z]{49}$/);
    const read = await account.admin.get(`/api-tokens/${made.body.id}`);
    expect(read.body).not.toHaveProperty('token');
    expect(read.text).not.toContain(made.body.token.slice(12));
    const denied = await account.admin.post('/api-tokens/', { name: 'a', role: 'ADMIN' }, { token: made.body.token });
    expect([denied.status, denied.body.code]).toEqual([403, 'role_too_small']);
  });

  it('refuses a revoked token soon, and lists it as revoked', async () => {
    const made = await create({ role: 'ADMIN' });
    expect((await account.admin.get('/api-tokens/', { token: made.token })).status).toBe(200);
    const gone = await account.admin.delete(`/api-tokens/${made.id}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    await eventually(async () => (await account.admin.get('/api-tokens/', { token: made.token })).status === 401, { timeoutMs: 5_000 });
    const list = await account.admin.get('/api-tokens/');
    expect(list.body.data.find((token: { id: string }) => token.id === made.id)).toMatchObject({ is_deleted: true });
    expect((await account.admin.delete(`/api-tokens/${made.id}`)).status).toBe(204);
    expect((await account.admin.put(`/api-tokens/${made.id}`, { name: 'x' })).status).toBe(409);
  });

  it('takes a role change soon', async () => {
    const made = await create({ role: 'ADMIN' });
    expect((await account.admin.get('/api-tokens/', { token: made.token })).status).toBe(200);
    expect((await account.admin.put(`/api-tokens/${made.id}`, { role: 'READ_ONLY' })).body.role).toBe('READ_ONLY');
    await eventually(async () => (await account.admin.get('/api-tokens/', { token: made.token })).status === 403, { timeoutMs: 5_000 });
  });

  it('ends with its expiry', async () => {
    const made = await create({ role: 'ADMIN', expires_at: new Date(Date.now() + 4_000).toISOString() });
    expect((await account.admin.get('/api-tokens/', { token: made.token })).status).toBe(200);
    await eventually(async () => (await account.admin.get('/api-tokens/', { token: made.token })).status === 401);
    const past = await account.admin.post('/api-tokens/', { name: 'n', role: 'ADMIN', expires_at: '2020-01-01T00:00:00Z' });
    expect(past.body.errors).toMatchObject([{ loc: ['body', 'expires_at'] }]);
  });

  it('works from allowed networks only, and believes no header about the address', async () => {
    const here = await create({ role: 'ADMIN', allowed_networks: ['127.0.0.0/8', '::1'] });
    const elsewhere = await create({ role: 'ADMIN', allowed_networks: ['203.0.113.7'] });
    expect(elsewhere.allowed_networks).toEqual(['203.0.113.7/32']);
    expect((await account.admin.get('/api-tokens/', { token: here.token })).status).toBe(200);
    const refused = await account.admin.get('/api-tokens/', { token: elsewhere.token, headers: { 'x-forwarded-for': '203.0.113.7' } });
    expect([refused.status, refused.body.code]).toEqual([401, 'token_address_refused']);
    const bad = await account.admin.post('/api-tokens/', { name: 'n', role: 'ADMIN', allowed_networks: ['300.1.1.1'] });
    expect([bad.status, bad.body.errors[0].loc]).toEqual([422, ['body', 'allowed_networks', 0]]);
  });

  it('rolls with an overlap', async () => {
    const old = await create({ role: 'ADMIN' });
    const next = await account.admin.post(`/api-tokens/${old.id}/roll`, { overlap_seconds: 1 });
    expect(next.status).toBe(201);
    expect((await account.admin.get('/api-tokens/', { token: next.body.token })).status).toBe(200);
    expect((await account.admin.get(`/api-tokens/${old.id}`)).body).toMatchObject({ rolled_to_id: next.body.id });
    await eventually(async () => (await account.admin.get('/api-tokens/', { token: old.token })).status === 401);
    expect((await account.admin.post(`/api-tokens/${old.id}/roll`)).status).toBe(409);
  });

  it('never shuts its caller out, nor leaves no ADMIN that works from anywhere', async () => {
    const own = await freshAccount();
    const { data } = (await own.admin.get('/api-tokens/')).body;
    const first = `/api-tokens/${data.find((token: { role: string }) => token.role === 'ADMIN').id}`;
    const shut = await own.admin.put(first, { allowed_networks: ['10.0.0.0/8'] });
    expect([shut.status, shut.body.errors?.[0].loc]).toEqual([422, ['body', 'allowed_networks']]);
    const last = await own.admin.put(first, { allowed_networks: ['127.0.0.0/8', '::1'] });
    expect([last.status, last.body.code]).toEqual([409, 'last_admin']);

    const networks = ['127.0.0.0/8', '::1', '10.0.0.0/8'];
    const tied = (await own.admin.post('/api-tokens/', { name: 'tied', role: 'ADMIN', allowed_networks: networks })).body;
    for (const attempt of [
      () => own.admin.delete(first),
      () => own.admin.put(first, { role: 'OPERATOR' }),
      () => own.admin.put(first, { allowed_networks: ['127.0.0.0/8', '::1'] }),
    ]) expect((await attempt()).body.code).toBe('last_admin');
    const narrowed = await own.admin.put(`/api-tokens/${tied.id}`, { allowed_networks: ['10.0.0.0/8'] }, { token: tied.token });
    expect([narrowed.status, narrowed.body.errors?.[0].loc]).toEqual([422, ['body', 'allowed_networks']]);
    expect((await own.admin.put(`/api-tokens/${tied.id}`, { allowed_networks: ['10.0.0.0/8'] })).status).toBe(200);
    expect((await own.admin.get('/api-tokens/')).status).toBe(200);

    expect((await own.admin.post('/api-tokens/', { name: 'second', role: 'ADMIN' })).status).toBe(201);
    const bound = await own.admin.put(first, { allowed_networks: ['127.0.0.0/8', '::1'] });
    expect([bound.status, bound.body.allowed_networks]).toEqual([200, ['127.0.0.0/8', '::1/128']]);
  });

  it('ties only one of the last two ADMINs to networks when both are tied at once', async () => {
    const own = await freshAccount();
    const { data } = (await own.admin.get('/api-tokens/')).body;
    const first = data.find((token: { role: string }) => token.role === 'ADMIN');
    const second = (await own.admin.post('/api-tokens/', { name: 'second', role: 'ADMIN' })).body;
    const allowed_networks = ['127.0.0.0/8', '::1'];
    const both = await Promise.all([first, second].map(({ id }) => own.admin.put(`/api-tokens/${id}`, { allowed_networks })));
    expect(both.map((answer) => answer.status).sort()).toEqual([200, 409]);
  });

  it('are listed by cursor, newest first, and by page number', async () => {
    const own = await freshAccount();
    const all = (await own.admin.get('/api-tokens/')).body.data.map(({ id }: { id: string }) => id);
    expect(all).toHaveLength(3);
    const page = (await own.admin.get('/api-tokens?limit=2')).body;
    expect([page.data.map(({ id }: { id: string }) => id), page.has_more]).toEqual([all.slice(0, 2), true]);
    const rest = (await own.admin.get(`/api-tokens?limit=2&cursor=${page.next_cursor}`)).body;
    expect([rest.data.map(({ id }: { id: string }) => id), rest.has_more, rest.next_cursor]).toEqual([all.slice(2), false, null]);
    for (const query of ['limit=0', 'cursor=x', 'colour=red']) expect((await own.admin.get(`/api-tokens?${query}`)).status).toBe(422);
    const numbered = await own.admin.post('/api-tokens/list', { page_size: 2, sort_key: 'created_at', sort_descending: true });
    expect([numbered.status, numbered.body.page_number, numbered.body.total_objects]).toEqual([200, 1, 3]);
    expect(numbered.body.data.map(({ id }: { id: string }) => id)).toEqual(all.slice(0, 2));
    expect(numbered.text).not.toContain('hash');
    expect((await own.operator.post('/api-tokens/list')).status).toBe(403);
    expect((await own.admin.post('/api-tokens/list', { colour: 'red' })).status).toBe(422);
  });

  it('cannot be rolled after their expiry', async () => {
    const made = await create({ role: 'READ_ONLY', expires_at: new Date(Date.now() + 300).toISOString() });
    const rolled = await eventually(async () => {
      if (Date.parse(made.expires_at) > Date.now()) return null;
      return account.admin.post(`/api-tokens/${made.id}/roll`);
    });
    expect([rolled.status, rolled.body.code]).toEqual([409, 'conflict']);
    expect((await account.admin.get(`/api-tokens/${made.id}`)).body.rolled_to_id).toBeNull();
  });

  it('is found rolled by a retry of the same command, also when the overlap is over', async () => {
    const database = connect(shared.databaseUrlStaging, { max: 1 });
    try {
      const old = parsePublicId('tok', 'staging', (await create({ role: 'READ_ONLY' })).id)!;
      const tokenKey = Buffer.from(shared.tokenKeyStaging, 'base64');
      const wish = { id: old, successorId: newId(), overlapSeconds: 0, tokenKey };
      const change = systemChange('staging', account.id);
      const first = await transact(database.db, change, (tx) => rollToken(tx, change, wish));
      const again = await transact(database.db, change, (tx) => rollToken(tx, change, wish));
      expect([again.row.id, again.row.version]).toEqual([first.row.id, first.row.version]);
      const { body } = await account.admin.get('/api-tokens/', { token: again.token });
      expect(body.code).toBe('role_too_small');
      expect((await account.admin.get('/api-tokens/', { token: first.token })).status).toBe(401);
    } finally {
      await database.close();
    }
  });

  it('has one successor when it is rolled twice at once, also one that is tied to networks', async () => {
    const old = await create({ role: 'ADMIN', allowed_networks: ['127.0.0.0/8', '::1'] });
    const both = await Promise.all([0, 1].map(() => account.admin.post(`/api-tokens/${old.id}/roll`)));
    expect(both.map((answer) => answer.status).sort()).toEqual([201, 409]);
    const next = both.find((answer) => answer.status === 201)!.body;
    expect(next.allowed_networks).toEqual(old.allowed_networks);
    expect((await account.admin.get(`/api-tokens/${old.id}`)).body.rolled_to_id).toBe(next.id);
  });

  it('never loses its last ADMIN, also when two are removed at once', async () => {
    const own = await freshAccount();
    const { data } = (await own.admin.get('/api-tokens/')).body;
    const first = data.find((token: { role: string }) => token.role === 'ADMIN');
    for (const attempt of [
      () => own.admin.delete(`/api-tokens/${first.id}`),
      () => own.admin.put(`/api-tokens/${first.id}`, { role: 'OPERATOR' }),
      () => own.admin.put(`/api-tokens/${first.id}`, { expires_at: new Date(Date.now() + 60_000).toISOString() }),
    ]) {
      const answer = await attempt();
      expect([answer.status, answer.body.code]).toEqual([409, 'last_admin']);
    }
    const second = (await own.admin.post('/api-tokens/', { name: 'second', role: 'ADMIN' })).body;
    const both = await Promise.all([
      own.admin.delete(`/api-tokens/${first.id}`),
      own.admin.delete(`/api-tokens/${second.id}`, undefined, { token: second.token }),
    ]);
    expect(both.map((answer) => answer.status).sort()).toEqual([204, 409]);
  });

  it('records when it was last used', async () => {
    const made = await create({ role: 'ADMIN' });
    expect(made.last_used_at).toBeNull();
    await account.admin.get('/api-tokens/', { token: made.token });
    await eventually(async () => (await account.admin.get(`/api-tokens/${made.id}`)).body.last_used_at);
  });

  it('is not visible to another account', async () => {
    const other = await freshAccount();
    const made = await create({});
    for (const answer of [
      await other.admin.get(`/api-tokens/${made.id}`),
      await other.admin.put(`/api-tokens/${made.id}`, { name: 'x' }),
      await other.admin.delete(`/api-tokens/${made.id}`),
      await other.admin.post(`/api-tokens/${made.id}/roll`),
    ]) expect([answer.status, answer.body.code]).toEqual([404, 'not_found']);
  });
});
