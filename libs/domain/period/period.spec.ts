import fc from 'fast-check';
import { addSeconds, boundary, intervalUnits, periodAt, secondsBetween, type Interval } from './period.js';
import { divideHalfEven, prorate } from './proration.js';

const day = (iso: string) => new Date(`${iso}T10:20:30.000Z`);
const monthly: Interval = { unit: 'month', count: 1 };
const dates = fc.date({ min: new Date('2000-01-01T00:00:00Z'), max: new Date('2080-01-01T00:00:00Z'), noInvalidDate: true });
const intervals = fc.record({ unit: fc.constantFrom(...intervalUnits), count: fc.integer({ min: 1, max: 24 }) });

describe('periods', () => {
  it('keeps the day of the anchor over short months', () => {
    const ends = [1, 2, 3, 4, 5].map((n) => boundary(day('2027-01-31'), monthly, n).toISOString().slice(0, 10));
    expect(ends).toEqual(['2027-02-28', '2027-03-31', '2027-04-30', '2027-05-31', '2027-06-30']);
  });

  it('uses the 29th in leap years', () => {
    expect(boundary(day('2028-01-31'), monthly, 1)).toEqual(day('2028-02-29'));
    expect(boundary(day('2028-02-29'), { unit: 'year', count: 1 }, 1)).toEqual(day('2029-02-28'));
    expect(boundary(day('2028-02-29'), { unit: 'year', count: 1 }, 4)).toEqual(day('2032-02-29'));
  });

  it('counts days in UTC, also where local clocks change', () => {
    expect(boundary(day('2027-03-27'), { unit: 'day', count: 2 }, 1)).toEqual(day('2027-03-29'));
  });

  it('finds the only period that holds an instant, and periods leave no gap', () => {
    fc.assert(
      fc.property(dates, dates, intervals, (anchor, at, interval) => {
        const period = periodAt(anchor, interval, at);
        expect(period.start.getTime()).toBeLessThanOrEqual(at.getTime());
        expect(period.end.getTime()).toBeGreaterThan(at.getTime());
        const next = periodAt(anchor, interval, period.end);
        expect(next.start).toEqual(period.end);
        expect(next.index).toBe(period.index + 1);
      }),
    );
  });
});

describe('proration', () => {
  it('rounds a half to the even neighbour', () => {
    expect([1n, 3n, 5n, -1n, -3n].map((n) => divideHalfEven(n, 2n))).toEqual([0n, 2n, 2n, 0n, -2n]);
  });

  it('is exact at both ends, monotonic, and within half an atom of the true value', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 50 }), fc.integer({ min: 1, max: 40_000_000 }), fc.nat(40_000_000), (amount, whole, n) => {
        const part = n % (whole + 1);
        const share = prorate(amount, part, whole);
        expect(prorate(amount, whole, whole)).toBe(amount);
        expect(share).toBeGreaterThanOrEqual(0);
        expect(share).toBeLessThanOrEqual(amount);
        const error = 2n * (BigInt(share) * BigInt(whole) - BigInt(amount) * BigInt(part));
        expect(error <= BigInt(whole) && error >= -BigInt(whole)).toBe(true);
        expect(prorate(amount, Math.min(part + 1, whole), whole)).toBeGreaterThanOrEqual(share);
      }),
    );
  });

  it('measures whole seconds', () => {
    const at = day('2027-01-01');
    expect(secondsBetween(at, addSeconds(at, 90))).toBe(90);
    expect(secondsBetween(addSeconds(at, 90), at)).toBe(0);
  });
});
