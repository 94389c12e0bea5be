import fc from 'fast-check';
import { mark, spanAround } from '../subscription/model/model.calendar.js';
import { addSeconds, boundary, intervalUnits, periodAt, startOfSecond, type Interval } from './period.js';

const monthly: Interval = { unit: 'month', count: 1 };
const days = (anchor: string, interval: Interval, n: number) =>
  Array.from({ length: n }, (_, i) => boundary(new Date(anchor), interval, i + 1).toISOString().slice(0, 10));
/** Over 2038, 2100 (not a leap year), 2000 and 2400 (leap years). */
const dates = fc.date({ min: new Date('1995-01-01T00:00:00Z'), max: new Date('2405-01-01T00:00:00Z'), noInvalidDate: true });
const intervals = fc.record({ unit: fc.constantFrom(...intervalUnits), count: fc.integer({ min: 1, max: 36 }) });

describe('the calendar', () => {
  it.each([
    ['29', '2027-01-29T00:00:00Z', ['2027-02-28', '2027-03-29', '2027-04-29']],
    ['30', '2028-01-30T23:59:59Z', ['2028-02-29', '2028-03-30', '2028-04-30']],
    ['31', '2027-12-31T12:00:00Z', ['2028-01-31', '2028-02-29', '2028-03-31', '2028-04-30']],
  ])('keeps an anchor on day %s over shorter months, whatever came between', (_, anchor, expected) => {
    expect(days(anchor, monthly, expected.length)).toEqual(expected);
  });

  it('gives a leap day back every fourth year, and not in 2100', () => {
    const yearly = days('2092-02-29T00:00:00Z', { unit: 'year', count: 1 }, 12);
    expect(yearly.filter((day) => day.endsWith('02-29'))).toEqual(['2096-02-29', '2104-02-29']);
    expect(days('2100-01-31T00:00:00Z', monthly, 2)).toEqual(['2100-02-28', '2100-03-31']);
    expect(days('2099-02-28T00:00:00Z', { unit: 'day', count: 366 }, 1)).toEqual(['2100-03-01']);
  });

  it('does not end in 2038', () => {
    const last = new Date(2 ** 31 * 1000 - 1000);
    expect(boundary(last, monthly, 1).toISOString()).toBe('2038-02-19T03:14:07.000Z');
    expect(periodAt(last, { unit: 'week', count: 1 }, addSeconds(last, 1)).start).toEqual(last);
  });

  it('agrees with an independent calendar in each period of four centuries', () => {
    fc.assert(
      fc.property(dates, dates, intervals, (anchor, at, interval) => {
        const { start, end, index } = periodAt(anchor, interval, at);
        expect(start.getTime()).toBe(mark(anchor.getTime(), interval, index));
        expect(end.getTime()).toBe(mark(anchor.getTime(), interval, index + 1));
        if (index >= 0 && index < 400) expect({ start: start.getTime(), end: end.getTime() }).toEqual(spanAround(anchor.getTime(), interval, at.getTime()));
      }),
      { numRuns: 600 },
    );
  });

  it('is longest in its own unit: days and weeks never vary by a second, months by three days, years by one', () => {
    const range = { day: [1, 1], week: [7, 7], month: [28, 31], year: [365, 366] } as const;
    fc.assert(
      fc.property(dates, fc.constantFrom(...intervalUnits), fc.integer({ min: -300, max: 300 }), (anchor, unit, n) => {
        const [from, to] = [boundary(anchor, { unit, count: 1 }, n), boundary(anchor, { unit, count: 1 }, n + 1)];
        const length = (to.getTime() - from.getTime()) / 86_400_000;
        expect(Number.isInteger(length)).toBe(true);
        expect(length).toBeGreaterThanOrEqual(range[unit][0]);
        expect(length).toBeLessThanOrEqual(range[unit][1]);
      }),
    );
  });

  it('keeps the milliseconds of its anchor, and starts now at the second that has begun', () => {
    fc.assert(
      fc.property(dates, intervals, fc.integer({ min: -50, max: 50 }), (anchor, interval, n) => {
        expect(Math.abs(boundary(anchor, interval, n).getTime() - anchor.getTime()) % 1000).toBe(0);
        const begun = startOfSecond(anchor);
        expect(begun.getTime() % 1000).toBe(0);
        expect(anchor.getTime() - begun.getTime()).toBeLessThan(1000);
      }),
    );
  });
});
