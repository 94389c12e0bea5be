import { attemptsLeft, waitingReason, type WaitingDelivery } from './waiting.js';

const now = new Date('2030-01-01T00:00:00Z');
const later = new Date('2030-01-01T00:05:00Z');
const waiting: WaitingDelivery = {
  status: 'pending', attempts: 0, nextAttemptAt: now, heldBack: false, endpoint: { status: 'enabled', consecutiveFailures: 0, rateFreeAt: null, heldUntil: null },
};
const failing = { status: 'enabled', consecutiveFailures: 3, rateFreeAt: null, heldUntil: null } as const;

describe('what a delivery waits for', () => {
  it.each([
    ['its turn', {}, 'queued'],
    ['its turn, a moment from now', { nextAttemptAt: later }, 'queued'],
    ['the end of a pause', { attempts: 2, nextAttemptAt: later, endpoint: { ...failing, status: 'paused' } }, 'endpoint_paused'],
    ['the delay after a failure', { attempts: 2, nextAttemptAt: later, endpoint: failing }, 'back_off'],
    ['another delivery\'s retry', { nextAttemptAt: later, endpoint: failing }, 'endpoint_failing'],
    ['an earlier event of its object', { heldBack: true, nextAttemptAt: later }, 'ordered'],
    ['the endpoint\'s own rate', { endpoint: { ...waiting.endpoint, rateFreeAt: later } }, 'rate_limit'],
    ['the silence that the receiver asked for', { attempts: 1, nextAttemptAt: later, endpoint: { ...waiting.endpoint, heldUntil: later } }, 'retry_after'],
    ['nothing', { status: 'delivered' }, null],
  ] as const)('%s', (_words, fields, reason) => {
    expect(waitingReason({ ...waiting, ...fields }, now)).toBe(reason);
  });

  it('attempts are left only to one that waits', () => {
    const schedule = [0, 5, 300];
    expect([0, 2, 3, 4].map((attempts) => attemptsLeft({ status: 'pending', attempts }, schedule))).toEqual([3, 1, 0, 0]);
    expect(attemptsLeft({ status: 'cancelled', attempts: 1 }, schedule)).toBe(0);
  });
});
