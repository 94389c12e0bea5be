import { shortLine } from './log-tail.js';

const line = (fields: object) => JSON.stringify({ level: 'info', time: '2026-01-02T03:04:05.678Z', msg: 'request', ...fields });

describe('shortLine', () => {
  it('shows what a person follows, in a terminal only', () => {
    const request = line({ method: 'POST', url: '/customers/', status: 201, duration_ms: 7 });
    expect(shortLine('api-staging', request, true)).toBe('03:04:05 api-staging        request POST /customers/ 201 7');
    expect(shortLine('api-staging', request, false)).toBeNull();
    expect(shortLine('api-staging', line({ level: 'debug' }), true)).toBeNull();
  });

  it('shows warnings and errors always, and what is not JSON as it is', () => {
    const failed = line({ level: 'error', msg: 'failed', err: { message: 'connection refused' } });
    expect(shortLine('worker-staging', failed, false)).toBe('03:04:05 worker-staging     failed connection refused');
    expect(shortLine('worker-staging', '    at file.js:1', false)).toContain('at file.js:1');
  });
});
