import { addressProblem, httpCredentials, httpSettings } from './http.settings.js';

const local = { allowLoopback: true };
const elsewhere = { allowLoopback: false };

describe('the address of a provider', () => {
  it.each(['https://pay.example', 'https://pay.example:8443/signalbox/', 'https://10.0.0.7/x'])('%s is taken everywhere', (url) => {
    expect(addressProblem(url, elsewhere)).toBeNull();
  });

  it.each(['http://127.0.0.1:4900', 'http://127.9.9.9/', 'http://localhost:4900/x', 'http://[::1]:4900'])('%s is taken on one machine only', (url) => {
    expect(addressProblem(url, local)).toBeNull();
    expect(addressProblem(url, elsewhere)).toContain('this machine only');
  });

  it.each([
    'http://pay.example', 'http://10.0.0.7', 'http://127.0.0.1.example.com', 'http://localhost.example.com', 'http://0.0.0.0', 'http://[::ffff:10.0.0.1]',
    'ftp://pay.example', 'file:///etc/passwd', 'javascript:1', 'pay.example', '', 'https://', 'https://user@pay.example', 'https://user:word@pay.example',
    'https://pay.example:0', 'https://pay.example:99999', 'https://pay.example/?a=1', 'https://pay.example/#a', 'https://pay.example/?',
  ])('%s is refused', (url) => {
    expect(addressProblem(url, local)).toEqual(expect.any(String));
  });
});

describe('settings and credentials', () => {
  it('need the address, and take what the contract lets a provider weaken', () => {
    const schema = httpSettings(elsewhere);
    expect(schema.safeParse({}).error?.issues[0]?.path).toEqual(['base_url']);
    const whole = { base_url: 'https://pay.example', idempotency_window_ms: null, settle_after_ms: 0, lookup: 'none', list: true, total_timeout_ms: 60_000 };
    expect(schema.parse(whole)).toEqual(whole);
    for (const wrong of [{ lookup: 'weak' }, { list: 'yes' }, { total_timeout_ms: 60_001 }, { settle_after_ms: -1 }, { colour: 'red' }]) {
      expect(schema.safeParse({ ...whole, ...wrong }).success).toBe(false);
    }
  });

  it('need a secret of 32 characters and nothing else', () => {
    expect(httpCredentials.safeParse({ secret: 's'.repeat(32) }).success).toBe(true);
    for (const wrong of [{}, { secret: 's'.repeat(31) }, { secret: 's'.repeat(32), user: 'x' }]) expect(httpCredentials.safeParse(wrong).success).toBe(false);
  });
});
