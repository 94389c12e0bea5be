import { freshAccount, type TestAccount } from '../support/account.js';

const url = 'https://receiver.example/hook';

let account: TestAccount;
let stranger: TestAccount;

beforeAll(async () => {
  [account, stranger] = await Promise.all([freshAccount(), freshAccount()]);
});

async function created(fields: object = {}) {
  const made = await account.admin.post('/webhook-endpoints/', { url, ...fields });
  expect(made.status).toBe(201);
  return made.body;
}

async function eventTypes(objectId: string): Promise<string[]> {
  const found = await account.readOnly.post('/events/search', { object_id: objectId });
  expect(found.status).toBe(200);
  return found.body.data.map((event: { type: string }) => event.type);
}

describe('webhook endpoints', () => {
  it('are created with their secret, read without it, and revealed to ADMIN', async () => {
    const made = await created({ enabled_events: ['charge.*', 'api_token.created'], description: 'Books', metadata: { team: 'a' } });
    expect(made).toMatchObject({
      object: 'webhook_endpoint', account_id: account.publicId, url, enabled_events: ['charge.*', 'api_token.created'], description: 'Books',
      metadata: { team: 'a' }, status: 'enabled', status_reason: null, data_format: 'object', is_deleted: false,
      secret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
    });
    expect(made.id).toMatch(/^webhook_endpoint_stg_[0-9a-z]{26}$/);
    expect(made.secrets).toMatchObject([{ secret: made.secret, expires_at: null }]);
    const { secret, secrets, ...visible } = made;
    const read = await account.readOnly.get(`/webhook-endpoints/${made.id}`);
    expect(read.body).toEqual(visible);
    const revealed = await account.admin.get(`/webhook-endpoints/${made.id}/reveal_secret`);
    expect([revealed.status, revealed.body]).toEqual([200, { ...visible, secret, secrets }]);
  });

  it('take absent, null, "*" and "all" as everything, and refuse unknown types, naming each', async () => {
    expect((await created()).enabled_events).toEqual(['*']);
    expect((await created({ enabled_events: null })).enabled_events).toEqual(['*']);
    expect((await created({ enabled_events: ['all'] })).enabled_events).toEqual(['all']);
    const refused = await account.admin.post('/webhook-endpoints/', { url, enabled_events: ['charge.failed', 'charge.exploded', 'nothing.*'] });
    expect([refused.status, refused.body.errors.map((error: { loc: unknown }) => error.loc)]).toEqual([422, [['body', 'enabled_events', 1], ['body', 'enabled_events', 2]]]);
    expect((await account.admin.post('/webhook-endpoints/', { url, enabled_events: [] })).status).toBe(422);
  });

  it.each([
    'https://10.0.0.1/', 'https://169.254.169.254/latest/meta-data', 'https://[::ffff:10.0.0.1]/', 'https://[64:ff9b::a00:1]/', 'https://[2002:a00:1::]/', 'https://0x0a000001/',
    'https://012.0.0.1/', 'https://167772161/', 'https://user:pass@receiver.example/', 'https://receiver.example:0/', 'http://receiver.example/', 'ftp://receiver.example/',
    'receiver.example', '', 'https://',
  ])('refuse %j as a receiver, on create and on update', async (refusedUrl) => {
    const made = await created();
    for (const answer of [await account.admin.post('/webhook-endpoints/', { url: refusedUrl }), await account.admin.put(`/webhook-endpoints/${made.id}`, { url: refusedUrl })]) {
      expect([answer.status, answer.body.code, answer.body.errors[0].loc]).toEqual([422, 'invalid_request', ['body', 'url']]);
    }
  });

  it('refuse loopback in production', async () => {
    const production = await freshAccount('production');
    const refused = await production.admin.post('/webhook-endpoints/', { url: 'http://127.0.0.1:8080/' });
    expect([refused.status, refused.body.errors[0].loc]).toEqual([422, ['body', 'url']]);
  });

  it.each([{}, { url: 5 }, { url: null }, { url, enabled_events: 'all' }, { url, data_format: 'xml' }, { url, secret: 'mine' }, { url, metadata: { a: [1] } }, { url, description: 5 }])(
    'refuse the body %j',
    async (body) => {
      expect((await account.admin.post('/webhook-endpoints/', body)).status).toBe(422);
    },
  );

  it('are updated in part, with one event per real change', async () => {
    const made = await created({ description: 'old' });
    const updated = await account.admin.put(`/webhook-endpoints/${made.id}`, { description: null, url: 'https://receiver.example/new' });
    expect([updated.status, updated.body]).toMatchObject([200, { description: null, url: 'https://receiver.example/new', enabled_events: ['*'] }]);
    expect((await account.admin.put(`/webhook-endpoints/${made.id}`, { description: null })).status).toBe(200);
    expect(await eventTypes(made.id)).toEqual(['webhook_endpoint.created', 'webhook_endpoint.updated']);
    const { body } = await account.readOnly.post('/events/search', { object_id: made.id, sort_descending: true });
    expect(body.data[0]).toMatchObject({
      object: 'event', type: 'webhook_endpoint.updated', account_id: account.publicId, sequence: 2, clock_time: null, user: expect.stringMatching(/^tok_stg_/),
      request_id: updated.headers.get('x-request-id'), data_previous: { description: 'old', url }, data: { id: made.id, description: null },
    });
    expect(JSON.stringify(body)).not.toContain('whsec_');
  });

  it('rotate: the new secret comes first, the old ones live on for the given time', async () => {
    const made = await created();
    const rotated = await account.admin.post(`/webhook-endpoints/${made.id}/rotate_secret`, { expire_after_seconds: 3600 });
    expect(rotated.status).toBe(200);
    expect(rotated.body.secret).not.toBe(made.secret);
    expect(rotated.body.secrets).toMatchObject([{ secret: rotated.body.secret, expires_at: null }, { secret: made.secret, expires_at: expect.any(String) }]);
    const left = Date.parse(rotated.body.secrets[1].expires_at) - Date.now();
    expect(left).toBeGreaterThan(3_500_000);
    expect(left).toBeLessThanOrEqual(3_600_000);
    const alone = await account.admin.post(`/webhook-endpoints/${made.id}/rotate_secret`, { expire_after_seconds: 0 });
    expect(alone.body.secrets).toMatchObject([{ secret: alone.body.secret, expires_at: null }]);
    const byDefault = await account.admin.post(`/webhook-endpoints/${made.id}/rotate_secret`);
    const day = Date.parse(byDefault.body.secrets[1].expires_at) - Date.parse(byDefault.body.secrets[0].created_at);
    expect(Math.round(day / 60_000)).toBe(24 * 60);
    for (const seconds of [-1, 604_801, 1.5, '5']) {
      expect((await account.admin.post(`/webhook-endpoints/${made.id}/rotate_secret`, { expire_after_seconds: seconds })).status).toBe(422);
    }
  });

  it('pause, resume, disable and enable; what is done already changes nothing', async () => {
    const made = await created();
    const call = (verb: string) => account.admin.post(`/webhook-endpoints/${made.id}/${verb}`);
    expect((await call('pause')).body).toMatchObject({ status: 'paused', status_reason: 'requested' });
    expect((await call('pause')).status).toBe(200);
    expect((await call('resume')).body).toMatchObject({ status: 'enabled', status_reason: null });
    expect((await call('disable')).body).toMatchObject({ status: 'disabled', status_reason: 'requested' });
    for (const verb of ['pause', 'resume', 'test']) {
      const refused = await call(verb);
      expect([refused.status, refused.body.code]).toEqual([409, 'invalid_state_transition']);
    }
    expect((await call('disable')).status).toBe(200);
    expect((await call('enable')).body).toMatchObject({ status: 'enabled', status_reason: null });
    expect(await eventTypes(made.id)).toEqual(['created', 'paused', 'resumed', 'disabled', 'enabled'].map((verb) => `webhook_endpoint.${verb}`));
  });

  it('once deleted are gone', async () => {
    const made = await created();
    const deleted = await account.admin.delete(`/webhook-endpoints/${made.id}`);
    expect([deleted.status, deleted.body]).toMatchObject([200, { webhook_endpoint_id: made.id, is_deleted: true }]);
    for (const path of ['', '/reveal_secret']) expect((await account.admin.get(`/webhook-endpoints/${made.id}${path}`)).status).toBe(404);
    expect((await account.admin.delete(`/webhook-endpoints/${made.id}`)).status).toBe(404);
    expect(await eventTypes(made.id)).toEqual(['webhook_endpoint.created', 'webhook_endpoint.deleted']);
  });

  it('are listed by page and by cursor, by status', async () => {
    const own = await freshAccount();
    const ids: string[] = [];
    for (let index = 0; index < 3; index += 1) ids.push((await own.admin.post('/webhook-endpoints/', { url })).body.id);
    await own.admin.post(`/webhook-endpoints/${ids[1]}/pause`);
    const page = await own.readOnly.post('/webhook-endpoints/list', { page_size: 2 });
    expect([page.status, page.body.total_objects, page.body.data.map(({ id }: { id: string }) => id)]).toEqual([200, 3, ids.slice(0, 2)]);
    expect((await own.readOnly.post('/webhook-endpoints/list', { status: 'paused' })).body.data.map(({ id }: { id: string }) => id)).toEqual([ids[1]]);
    const first = await own.readOnly.get('/webhook-endpoints?limit=2');
    expect([first.body.data.map(({ id }: { id: string }) => id), first.body.has_more]).toEqual([[ids[2], ids[1]], true]);
    const second = await own.readOnly.get(`/webhook-endpoints?limit=2&cursor=${first.body.next_cursor}`);
    expect([second.body.data.map(({ id }: { id: string }) => id), second.body.has_more]).toEqual([[ids[0]], false]);
    for (const query of ['cursor=x', 'limit=0', 'limit=101', 'status=gone', 'other=1']) expect((await own.readOnly.get(`/webhook-endpoints?${query}`)).status).toBe(422);
  });

  it('are created once per idempotency key, with the same secret in both answers', async () => {
    const key = `create-${Date.now()}`;
    const answers = [await account.admin.post('/webhook-endpoints/', { url }, { key }), await account.admin.post('/webhook-endpoints/', { url }, { key })];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers[1]!.text).toBe(answers[0]!.text);
    expect(answers[1]!.headers.get('idempotent-replayed')).toBe('true');
    expect(await eventTypes(answers[0]!.body.id)).toEqual(['webhook_endpoint.created']);
  });
});

describe('who may do what with webhook endpoints', () => {
  const routes: [string, string, object | undefined][] = [
    ['GET', '', undefined], ['PUT', '', { description: 'x' }], ['DELETE', '', undefined], ['GET', '/reveal_secret', undefined], ['POST', '/rotate_secret', {}], ['POST', '/revoke_secret', { secret_id: 'x' }], ['POST', '/enable', {}],
    ['POST', '/disable', {}], ['POST', '/pause', {}], ['POST', '/resume', {}], ['POST', '/test', {}],
  ];

  it.each(routes)('%s /webhook-endpoints/{id}%s: not without a token, not for another account, and changes only by ADMIN', async (method, path, body) => {
    const made = await created();
    const target = `/webhook-endpoints/${made.id}${path}`;
    expect((await account.admin.send(method, target, body, { token: null })).status).toBe(401);
    expect((await stranger.admin.send(method, target, body)).status).toBe(404);
    for (const id of ['x', 'webhook_endpoint_stg_0', made.id.replace('stg', 'prod'), account.publicId]) {
      expect((await account.admin.send(method, `/webhook-endpoints/${id}${path}`, body)).status).toBe(404);
    }
    const open = method === 'GET' && path === '';
    for (const role of ['operator', 'readOnly'] as const) {
      const answer = await account[role].send(method, target, body);
      expect([answer.status, answer.body.code]).toEqual(open ? [200, undefined] : [403, 'role_too_small']);
    }
  });

  it('creation is for ADMIN', async () => {
    for (const role of ['operator', 'readOnly'] as const) expect((await account[role].post('/webhook-endpoints/', { url })).status).toBe(403);
    expect((await account.admin.post('/webhook-endpoints/', { url }, { token: null })).status).toBe(401);
  });
});
