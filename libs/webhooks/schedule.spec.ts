import fc from 'fast-check';
import { defaultSchedule, nextAttemptDelay, retryAfterMs } from './schedule.js';

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

  it('caps Retry-After at 24 h and drops what it cannot read', () => {
    expect(retryAfterMs('999999999999', nowMs)).toBe(86_400_000);
    expect(retryAfterMs('Sun, 01 Mar 2026 11:00:00 GMT', nowMs)).toBe(0);
    for (const text of ['-5', '1.5', 'soon', '', '2026-03-01', '0x10', '1e3']) expect(retryAfterMs(text, nowMs)).toBeNull();
    expect(retryAfterMs(null, nowMs)).toBeNull();
  });
});
