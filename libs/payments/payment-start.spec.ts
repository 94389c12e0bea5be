import { startDelayMs } from './payment-start.js';

const ended = Date.parse('2026-03-01T12:00:00.000Z');
const after = (ms: number) => new Date(ended + ms).toISOString();

describe('a workflow that takes a payment over', () => {
  it('begins with the first lookup, not before', () => {
    expect(startDelayMs({ state: 'waiting', nextAt: after(5_000) }, ended)).toBe(5_000);
  });

  it('begins at once where something is to be done, somebody else is at it, or nothing is planned', () => {
    expect(startDelayMs({ state: 'waiting', nextAt: after(-1) }, ended)).toBe(0);
    expect(startDelayMs({ state: 'busy', nextAt: after(500) }, ended)).toBe(0);
    expect(startDelayMs({ state: 'waiting', nextAt: null }, ended)).toBe(0);
  });

  it('keeps long times itself: the end of a capture window is its own timer', () => {
    expect(startDelayMs({ state: 'waiting', nextAt: after(7 * 86_400_000) }, ended)).toBe(0);
  });
});
