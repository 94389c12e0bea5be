import { freshAccount, type TestAccount } from '../support/account.js';
import { eventually } from '../support/stack.js';

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

  it('refuses a revoked token within a second, and lists it as revoked', async () => {
    const made = await create({ role: 'ADMIN' });
    expect((await account.admin.get('/api-tokens/', { token: made.token })).status).toBe(200);
    const gone = await account.admin.delete(`/api-tokens/${made.id}`);
    expect([gone.status, gone.text]).toEqual([204, '']);
    const since = performance.now();
    await eventually(async () => (await account.admin.get('/api-tokens/', { token: made.token })).status === 401);
    expect(performance.now() - since).toBeLessThan(1000);
    const list = await account.admin.get('/api-tokens/');
    expect(list.body.data.find((token: { id: string }) => token.id === made.id)).toMatchObject({ is_deleted: true });
    expect((await account.admin.delete(`/api-tokens/${made.id}`)).status).toBe(204);
    expect((await account.admin.put(`/api-tokens/${made.id}`, { name: 'x' })).status).toBe(409);
  });

  it('takes a role change within a second', async () => {
    const made = await create({ role: 'ADMIN' });
    expect((await account.admin.get('/api-tokens/', { token: made.token })).status).toBe(200);
    expect((await account.admin.put(`/api-tokens/${made.id}`, { role: 'READ_ONLY' })).body.role).toBe('READ_ONLY');
    await eventually(async () => (await account.admin.get('/api-tokens/', { token: made.token })).status === 403, { timeoutMs: 1000 });
  });

  it('ends with its expiry', async () => {
    const made = await create({ role: 'ADMIN', expires_at: new Date(Date.now() + 1500).toISOString() });
    expect((await account.admin.get('/api-tokens/', { token: made.token })).status).toBe(200);
    await eventually(async () => (await account.admin.get('/api-tokens/', { token: made.token })).status === 401, { timeoutMs: 3000 });
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
    await eventually(async () => (await account.admin.get('/api-tokens/', { token: old.token })).status === 401, { timeoutMs: 3000 });
    expect((await account.admin.post(`/api-tokens/${old.id}/roll`)).status).toBe(409);
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
