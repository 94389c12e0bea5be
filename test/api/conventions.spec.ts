import { connect } from 'node:net';
import { freshAccount, type TestAccount } from '../support/account.js';
import { shared } from '../support/stack.js';

let account: TestAccount;
beforeAll(async () => {
  account = await freshAccount();
});

const place = '/api-tokens/';
const token = { name: 'n', role: 'READ_ONLY' };

describe('problems', () => {
  it('answers an unknown path with 404, also without a token', async () => {
    for (const path of ['/nowhere', '/api-tokens/x/y/z', '/%ff', '/api-tokens/%zz']) {
      const answer = await account.admin.get(path, { token: null });
      expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 404, 'application/problem+json']);
      expect(answer.body).toMatchObject({ status: 404, code: 'not_found', title: 'Not found' });
      expect(answer.body.request_id).toBe(answer.headers.get('x-request-id'));
    }
  });

  it('answers another method on a known path with 405 and says which it takes', async () => {
    const answer = await account.admin.send('PATCH', '/api-tokens/', {}, { token: null });
    expect([answer.status, answer.body.code]).toEqual([405, 'method_not_allowed']);
    expect(answer.headers.get('allow')!.split(', ').sort()).toEqual(['GET', 'HEAD', 'POST']);
  });

  it('has a type that explains its code', async () => {
    const { body } = await account.admin.get('/api-tokens/', { token: null });
    expect(body.type).toBe(`${shared.stagingUrl}/errors/token_missing`);
    const page = await fetch(body.type);
    expect(await page.json()).toMatchObject({ code: 'token_missing', http: 401 });
    expect((await account.admin.get('/errors/nonsense', { token: null })).status).toBe(404);
    expect((await account.admin.get('/errors/', { token: null })).body.data.length).toBeGreaterThan(30);
  });

  it('carries an id of our own on every answer', async () => {
    const answer = await account.admin.get('/healthz', { token: null, headers: { 'x-request-id': 'mine' } });
    expect(answer.headers.get('x-request-id')).toMatch(/^req_stg_[0-9a-z]{26}$/);
    expect((await account.admin.get('/healthz')).headers.get('x-request-id')).not.toBe(answer.headers.get('x-request-id'));
  });

  it('answers what is not HTTP with a problem, too', async () => {
    const text = await new Promise<string>((resolve, reject) => {
      const { port, hostname } = new URL(shared.stagingUrl);
      const socket = connect(Number(port), hostname, () => socket.write('rubbish\r\n\r\n'));
      let read = '';
      socket.on('data', (chunk) => (read += String(chunk))).on('end', () => resolve(read)).on('error', reject);
    });
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
    expect(text).toContain('application/problem+json');
  });
});

describe('paths', () => {
  it('are the same with and without a trailing slash', async () => {
    for (const path of ['/api-tokens', '/api-tokens/', '/healthz/', '/readyz']) expect((await account.admin.get(path)).status).toBe(200);
    expect((await account.admin.post('/api-tokens', token)).status).toBe(201);
  });

  it('answer 404 for ids that are malformed, of another kind or of the other environment', async () => {
    const { id } = (await account.admin.post(place, token)).body;
    const suffix = id.slice('tok_stg_'.length);
    for (const wrong of ['x', `tok_prod_${suffix}`, `cus_stg_${suffix}`, suffix, id.toUpperCase(), `${id}0`, '%00', '..%2f', 'a'.repeat(600)]) {
      const answer = await account.admin.get(`/api-tokens/${wrong}`);
      expect([wrong, answer.status, answer.body?.code]).toEqual([wrong, 404, 'not_found']);
    }
  });
});

describe('bodies', () => {
  const post = (raw: string | Uint8Array, headers: Record<string, string> = {}) => account.admin.post(place, undefined, { raw, headers });

  it.each(['{', '{"name":}', 'nonsense', '{"a":1}x', '\u{feff}'])('answers 400 to %j', async (raw) => {
    const answer = await post(raw);
    expect([answer.status, answer.body.code]).toEqual([400, 'unreadable_json']);
  });

  it('answers 400 to bytes that are not UTF-8', async () => {
    expect((await post(new Uint8Array([0x22, 0xff, 0x22]))).status).toBe(400);
  });

  it.each([
    ['a duplicate key', '{"name":"a","role":"READ_ONLY","name":"b"}', ['body', 'name'], 'duplicate_key'],
    ['a duplicate key spelt otherwise', '{"name":"a","role":"READ_ONLY","n\\u0061me":"b"}', ['body', 'name'], 'duplicate_key'],
    ['a duplicate key deep down', '{"name":"a","x":[{},{"y":{"z":1,"z":2}}]}', ['body', 'x', 1, 'y', 'z'], 'duplicate_key'],
    ['NUL', '{"name":"a\\u0000","role":"READ_ONLY"}', ['body', 'name'], 'nul_character'],
    ['a lone surrogate', '{"name":"\\ud800","role":"READ_ONLY"}', ['body', 'name'], 'lone_surrogate'],
    ['a lone surrogate in a key', '{"\\udc00":1}', ['body', ''], 'lone_surrogate'],
    ['a prototype', '{"__proto__":{"role":"ADMIN"}}', ['body', '__proto__'], 'forbidden_key'],
    ['too many levels', `${'['.repeat(40)}${']'.repeat(40)}`, undefined, 'too_deep'],
  ])('answers 422 to %s', async (_, raw, loc, type) => {
    const answer = await post(raw);
    expect([answer.status, answer.body.code]).toEqual([422, 'invalid_request']);
    expect(answer.body.errors).toMatchObject([{ ...(loc ? { loc } : {}), type }]);
  });

  it('names every unknown, missing and wrong field', async () => {
    const answer = await account.admin.post(place, { name: 3, colour: 'red', other: 1 });
    expect(answer.status).toBe(422);
    expect(answer.body.errors).toEqual(expect.arrayContaining([
      { loc: ['body', 'name'], msg: expect.any(String), type: 'type_error' },
      { loc: ['body', 'role'], msg: expect.any(String), type: expect.any(String) },
      { loc: ['body', 'colour'], msg: 'Unknown field', type: 'extra_forbidden' },
      { loc: ['body', 'other'], msg: 'Unknown field', type: 'extra_forbidden' },
    ]));
  });

  it.each(['[]', '"text"', '1', 'null'])('answers 422 to %s instead of an object', async (raw) => {
    expect((await post(raw)).status).toBe(422);
  });

  it('names every field that is sent to a route without a body', async () => {
    const { id } = (await account.admin.post(place, token)).body;
    const answer = await account.admin.delete(`${place}${id}`, { force: true });
    expect([answer.status, answer.body.errors]).toEqual([422, [{ loc: ['body', 'force'], msg: 'Unknown field', type: 'extra_forbidden' }]]);
    expect((await account.admin.delete(`${place}${id}`, {})).status).toBe(204);
  });

  it('reads a body of exactly 1 MiB and refuses one byte more', async () => {
    const filled = (size: number) => {
      const start = '{"name":"a","role":"READ_ONLY"';
      return `${start}${' '.repeat(size - start.length - 1)}}`;
    };
    expect((await post(filled(1024 * 1024))).status).toBe(201);
    const large = await post(filled(1024 * 1024 + 1));
    expect([large.status, large.body.code]).toEqual([413, 'payload_too_large']);
  });

  it('reads JSON only', async () => {
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x', 'nonsense']) {
      const answer = await post('a=b', { 'content-type': type });
      expect([type, answer.status, answer.body.code]).toEqual([type, 415, 'unsupported_media_type']);
    }
    expect((await post(JSON.stringify(token), { 'content-type': 'application/json; charset=utf-8' })).status).toBe(201);
  });
});

describe('service pages', () => {
  it('are up, ready, described and documented without a token', async () => {
    const client = account.admin.as(null);
    expect((await client.get('/healthz')).body).toEqual({ status: 'up' });
    expect((await client.get('/readyz')).body).toEqual({ status: 'ready', database: 'up', temporal: 'up' });
    expect((await client.get('/openapi.json')).body.openapi).toMatch(/^3\.0/);
    const page = await client.get('/docs/');
    expect(page.headers.get('content-type')).toMatch('text/html');
    const sources = [...page.text.matchAll(/(?:src|href)="([^"]*)"/g)].map(([, source]) => source!);
    expect(sources.filter((source) => /^(https?:)?\/\//.test(source))).toEqual([]);
    expect((await client.get('/docs/js/scalar.js')).status).toBe(200);
  });

  it('send the headers of a careful service', async () => {
    const { headers } = await account.admin.get('/healthz');
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(headers.get('x-powered-by')).toBeNull();
  });

  it('tell the rate limit', async () => {
    const { headers } = await account.admin.get('/api-tokens/');
    expect(headers.get('ratelimit-policy')).toMatch(/^"token";q=\d+;w=1$/);
    expect(headers.get('ratelimit')).toMatch(/^"token";r=\d+;t=\d+$/);
  });
});
