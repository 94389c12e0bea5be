import { UTCDate } from '@date-fns/utc';
import { add } from 'date-fns';

export const intervalUnits = ['day', 'week', 'month', 'year'] as const;
export type IntervalUnit = (typeof intervalUnits)[number];

/** A calendar interval in UTC: `count` days, weeks, months or years. */
export interface Interval {
  unit: IntervalUnit;
  count: number;
}

/** `[start, end)`; `index` is n of the boundary `anchor + n intervals` at or before `start`. */
export interface Period {
  start: Date;
  end: Date;
  index: number;
}

const unitKey = { day: 'days', week: 'weeks', month: 'months', year: 'years' } as const;
const shortestUnitMs = { day: 86_400_000, week: 604_800_000, month: 2_419_200_000, year: 31_536_000_000 } as const;

/** `anchor + n intervals`, always from the anchor: the 31st gives 28, 29 or 30 where the month is shorter, then 31 again. */
export function boundary(anchor: Date, interval: Interval, n: number): Date {
  const date = add(new UTCDate(anchor.getTime()), { [unitKey[interval.unit]]: interval.count * n });
  return new Date(date.getTime());
}

/** The period of the anchor's grid that holds `at`: it starts at the last boundary that is not after `at`. */
export function periodAt(anchor: Date, interval: Interval, at: Date): Period {
  const longest = shortestUnitMs[interval.unit] * interval.count * 1.12;
  let index = Math.floor((at.getTime() - anchor.getTime()) / longest);
  while (boundary(anchor, interval, index) > at) index -= 1;
  while (boundary(anchor, interval, index + 1) <= at) index += 1;
  return { start: boundary(anchor, interval, index), end: boundary(anchor, interval, index + 1), index };
}

/** Whole seconds from `from` to `to`, never negative. */
export function secondsBetween(from: Date, to: Date): number {
  return Math.max(0, Math.floor((to.getTime() - from.getTime()) / 1000));
}

export function addSeconds(at: Date, seconds: number): Date {
  return new Date(at.getTime() + seconds * 1000);
}

/** Billing is to the second: what starts now starts at the second that has begun. */
export function startOfSecond(at: Date): Date {
  return new Date(Math.floor(at.getTime() / 1000) * 1000);
}
