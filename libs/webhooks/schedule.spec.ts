import fc from 'fast-check';
import { askedSilenceMs, defaultSchedule, nextAttemptDelay, retryAfterMs } from './schedule.js';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const failed = (number: number, status: number | null = 500, retryAfter: string | null = null) => ({ number, status, retryAfter, nowMs });

describe('the retry schedule', () => {
  it('has eleven attempts, the later ones 5 s, 5 min, 30 min, 2 h, 5 h, 10 h, 10 h, 14 h, 20 h and 24 h after a failure', () => {
    const seconds = defaultSchedule.map((_, index) => nextAttemptDelay(failed(index + 1), defaultSchedule, 0.5));
    expect(seconds).toEqual([5, 300, 1800, 7200, 18000, 36000, 36000, 50400, 72000, 86400, null].map((value) => (value === null ? null : value * 1000)));
  });

  it('spreads each delay by at most 20 % either way', () => {
    fc.assert(fc.property(fc.integer({ min: 1, max: 10 }), fc.double({ min: 0, max: 0.999999, noNaN: true }), (number, random) => {
      const exact = defaultSchedule[number]! * 1000;
      const delay = nextAttemptDelay(failed(number), defaultSchedule, random)!;
      expect(delay).toBeGreaterThanOrEqual(exact * 0.8 - 1);
      expect(delay).toBeLessThanOrEqual(exact * 1.2 + 1);
    }));
  });

  it('never comes sooner than a 429 or 503 asks, and ignores Retry-After of others', () => {
    expect(nextAttemptDelay(failed(1, 429, '120'), defaultSchedule, 0.5)).toBe(120_000);
    expect(nextAttemptDelay(failed(1, 503, 'Sun, 01 Mar 2026 13:00:00 GMT'), defaultSchedule, 0.5)).toBe(3_600_000);
    expect(nextAttemptDelay(failed(1, 503, '1'), defaultSchedule, 0.5)).toBe(5_000);
    expect(nextAttemptDelay(failed(1, 500, '120'), defaultSchedule, 0.5)).toBe(5_000);
    expect(nextAttemptDelay(failed(11, 429, '120'), defaultSchedule, 0.5)).toBeNull();
  });

  it.each([
    ['120', 120_000], [' 120 ', 120_000], ['0', 0], ['1.5', 1_500], ['30.0', 30_000], ['0.0001', 1], ['Sun, 01 Mar 2026 12:00:30 GMT', 30_000], ['Sunday, 01-Mar-26 12:00:30 GMT', 30_000],
    ['Sun, 01 Mar 2026 11:00:00 GMT', 0], ['Mon, 01 Jan 1990 00:00:00 GMT', 0], ['Fri, 31 Dec 9999 23:59:59 GMT', 86_400_000], ['86401', 86_400_000], ['999999999999', 86_400_000],
    ['9'.repeat(500), 86_400_000],
  ])('takes Retry-After %j for %i ms: seconds, also with a fraction, or a date, at most 24 h, never the past', (text, ms) => {
    expect(retryAfterMs(text, nowMs)).toBe(ms);
  });

  it('asks the whole endpoint for silence by a 429 or 503 only', () => {
    expect([429, 503, 500, 200, null].map((status) => askedSilenceMs({ status, retryAfter: '60', nowMs }))).toEqual([60_000, 60_000, 0, 0, 0]);
    expect(askedSilenceMs({ status: 429, retryAfter: null, nowMs })).toBe(0);
  });

  it('drops a Retry-After that it cannot read', () => {
    for (const text of ['-5', '1.', '.5', '1,5', 'NaN', 'Infinity', 'Sun, 99 Mar 2026', 'soon', '', '2026-03-01', '0x10', '1e3']) expect(retryAfterMs(text, nowMs)).toBeNull();
    expect(retryAfterMs(null, nowMs)).toBeNull();
  });
});
