import { refuseHeaderName, refuseHeaderValue } from './header-rules.js';

describe('headers of the receiver\'s own', () => {
  it.each([
    'content-length', 'content-type', 'content-encoding', 'host', 'connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect', 'proxy-authorization',
    'proxy-connection', 'signature', 'signature-digest', 'webhook-id', 'webhook-timestamp', 'webhook-signature', 'webhook-anything', 'user-agent', 'date', 'via', 'forwarded',
    'x-forwarded-for', 'x-real-ip', 'x-signalbox-id', 'accept-encoding', 'sec-fetch-site',
  ])('never are %s', (name) => {
    expect(refuseHeaderName(name)).toBe('this header is reserved');
  });

  it.each(['', ' x', 'x y', 'x:y', 'x\r\ny', 'ü', '_x', '-x', 'x'.repeat(65), '__proto__', ':authority'])('are not named %j', (name) => {
    expect(refuseHeaderName(name)).not.toBeNull();
  });

  it.each(['authorization', 'x-api-key', 'cookie', 'x_tenant', 'x'.repeat(64), 'idempotency-key', 'traceparent'])('may be named %s', (name) => {
    expect(refuseHeaderName(name)).toBeNull();
  });

  it('hold one line of printable ASCII', () => {
    for (const value of ['', ' a', 'a ', 'a\r\nb: c', 'a\nb', 'a\0b', 'a\tb', 'ü', '\x7f', 'x'.repeat(2049)]) expect(refuseHeaderValue(value)).not.toBeNull();
    for (const value of ['a', 'Bearer a.b-c', 'x'.repeat(2048), '"quoted", list']) expect(refuseHeaderValue(value)).toBeNull();
  });
});
