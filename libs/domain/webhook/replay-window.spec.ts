import { ReplayWindow } from './replay-window.js';

/** The window after some seconds of a receiver that takes `perSecond`. */
function after(seconds: number, perSecond: number): number {
  const window = new ReplayWindow();
  for (let ms = 0; ms <= seconds * 1000; ms += 100) window.note(Math.floor((ms * perSecond) / 1000), ms);
  return window.size;
}

describe('the window of a replay', () => {
  it.each([[0, 20], [1, 20], [150, 150], [5000, 500]])('of a receiver that takes %d a second is %d', (perSecond, size) => {
    expect(Math.abs(after(3, perSecond) - size)).toBeLessThanOrEqual(2);
  });

  it('is small before anything is known, and again once the receiver stops', () => {
    const window = new ReplayWindow();
    expect(window.size).toBe(20);
    for (let ms = 0; ms < 1000; ms += 100) window.note(ms, ms);
    expect(window.size).toBe(500);
    for (let ms = 1000; ms < 3000; ms += 100) window.note(1000, ms);
    expect(window.size).toBe(20);
  });
});
