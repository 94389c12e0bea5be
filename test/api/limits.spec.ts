import { freshAccount, type TestAccount } from '../support/account.js';
import { eventually, startStack, type PrivateStack } from '../support/stack.js';

let stack: PrivateStack;
let account: TestAccount;
beforeAll(async () => {
  stack = await startStack({ extra: { RATE_LIMIT_PER_SECOND: '20' }, withoutWorker: true });
  account = await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
}, 180_000);
afterAll(() => stack.stop());

describe('rate limit', () => {
  it('answers 429 with the time to wait, per token, and lets go afterwards', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => account.admin.get('/customers')));
    const refused = answers.filter((answer) => answer.status === 429);
    expect(answers.filter((answer) => answer.status === 200).length).toBeGreaterThanOrEqual(20);
    expect(refused.length).toBeGreaterThan(0);
    for (const answer of refused) {
      expect(answer.body).toMatchObject({ code: 'rate_limited', status: 429 });
      expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(answer.headers.get('ratelimit-policy')).toBe('"token";q=20;w=1');
      expect(answer.headers.get('ratelimit')).toMatch(/^"token";r=0;t=\d+$/);
    }
    expect((await account.operator.get('/customers')).status).toBe(200);
    await eventually(async () => (await account.admin.get('/customers')).status === 200);
  });

  it('limits guesses without a token, too', async () => {
    const answers = await Promise.all(Array.from({ length: 60 }, () => account.admin.get('/customers', { token: 'guess' })));
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([401, 429]));
  });
});

describe('the rate limit of callbacks', () => {
  it('counts per address and connection, whatever token or query is sent', async () => {
    const { body } = await account.admin.post('/payment-processors/', { name: 'A', kind: 'simulator' });
    const statuses = await Promise.all(Array.from({ length: 60 }, async (_, index) =>
      (await fetch(`${stack.api.url}/callbacks/${body.id}?n=${index}`, { method: 'POST', body: '{}', headers: { authorization: `Bearer guess${index}` } })).status));
    expect(statuses.filter((status) => status === 401).length).toBeGreaterThanOrEqual(20);
    expect(new Set(statuses)).toEqual(new Set([401, 429]));
  });
});

describe('a stopping API', () => {
  it('answers what it has begun and leaves', async () => {
    const fresh = await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
    const begun = Array.from({ length: 18 }, () => fresh.admin.post('/customers/', { email: 'late@example.com' }));
    await Promise.race(begun);
    const [answers] = await Promise.all([Promise.allSettled(begun), stack.api.stop()]);
    const answered = answers.filter((answer) => answer.status === 'fulfilled').map(({ value }) => value.status);
    expect(answered.length).toBeGreaterThan(0);
    expect(answered.filter((status) => status !== 201)).toEqual([]);
    await expect(fetch(`${stack.api.url}/healthz`)).rejects.toThrow();
    await stack.api.restart();
    expect((await fresh.admin.post('/customers/list')).body.total_objects).toBeGreaterThanOrEqual(answered.length);
  }, 180_000);
});
