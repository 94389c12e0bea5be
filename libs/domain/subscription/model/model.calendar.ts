import type { Rhythm } from './model.act.js';

/** Own arithmetic of the reference model, so that it shares no mistake with the rules it judges. Times are ms since 1970, UTC. */
export const second = 1_000;
export const hour = 3_600_000;
export const day = 24 * hour;

export interface Span {
  start: number;
  end: number;
}

function daysInMonth(year: number, month: number): number {
  const leap = (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0;
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month]!;
}

/** The n-th mark after the anchor; a day that the month has not is its last day. */
export function mark(anchor: number, { unit, count }: Rhythm, n: number): number {
  if (unit === 'day') return anchor + n * count * day;
  if (unit === 'week') return anchor + n * count * 7 * day;
  const from = new Date(anchor);
  const months = from.getUTCFullYear() * 12 + from.getUTCMonth() + n * count * (unit === 'year' ? 12 : 1);
  const year = Math.floor(months / 12);
  const month = months - year * 12;
  const date = Math.min(from.getUTCDate(), daysInMonth(year, month));
  return Date.UTC(year, month, date) + (anchor - Math.floor(anchor / day) * day);
}

/** Between which two marks `at` lies: at the first of them or after it. */
export function spanAround(anchor: number, rhythm: Rhythm, at: number): Span {
  let n = 0;
  while (mark(anchor, rhythm, n) > at) n -= 1;
  while (mark(anchor, rhythm, n + 1) <= at) n += 1;
  return { start: mark(anchor, rhythm, n), end: mark(anchor, rhythm, n + 1) };
}

export function wholeSeconds(from: number, to: number): number {
  return Math.max(0, Math.floor((to - from) / second));
}

/** `amount × part ÷ whole`, a half to the even neighbour. */
export function share(amount: number, part: number, whole: number): number {
  if (part <= 0 || whole <= 0) return 0;
  const twice = 2n * BigInt(amount) * BigInt(Math.min(part, whole));
  const divisor = 2n * BigInt(whole);
  const down = twice / divisor;
  const rest = twice - down * divisor;
  if (rest * 2n === divisor) return Number(down % 2n === 0n ? down : down + 1n);
  return Number(rest * 2n > divisor ? down + 1n : down);
}
