import { Pace } from './pace.js';

describe('a pace', () => {
  it('spreads what comes at the same time evenly, and the first has its turn at once', () => {
    const pace = new Pace(25);
    const turns = Array.from({ length: 30 }, () => pace.take(1_000));
    expect(turns).toEqual(Array.from({ length: 30 }, (_, index) => index * 40));
    expect(pace.waitMs(1_000)).toBe(1_200);
    expect(pace.waitMs(1_600)).toBe(600);
  });

  it('does not save up turns that nobody took', () => {
    const pace = new Pace(25);
    pace.take(0);
    expect([pace.take(10_000), pace.take(10_000), pace.take(10_030)]).toEqual([0, 40, 50]);
  });
});
