/** Seconds before each attempt: the first at once, each later one counted from the failure before it. */
export const defaultSchedule: readonly number[] = [
  0, 5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600,
];

const jitter = 0.2;
const longestRetryAfterMs = 24 * 3600 * 1000;
const retryAfterStatuses = new Set([429, 503]);

export interface FailedAttempt {
  /** 1 for the first. */
  number: number;
  status: number | null;
  /** The answer's `Retry-After`, as received. */
  retryAfter: string | null;
  /** Wall clock of the failure, milliseconds. */
  nowMs: number;
}

/**
 * Milliseconds until the next attempt, or null when the schedule is exhausted. A 429 or 503 with `Retry-After` is never
 * tried sooner than it asks (at most 24 h). `random` is in [0, 1).
 */
export function nextAttemptDelay(failed: FailedAttempt, schedule: readonly number[], random: number): number | null {
  const seconds = schedule[failed.number];
  if (seconds === undefined) return null;
  const scheduled = seconds * 1000 * (1 - jitter + 2 * jitter * random);
  return Math.round(Math.max(scheduled, askedSilenceMs(failed)));
}

/** Milliseconds for which a 429 or 503 asks to be left alone; 0 for any other answer. */
export function askedSilenceMs({ status, retryAfter, nowMs }: Omit<FailedAttempt, 'number'>): number {
  return status !== null && retryAfterStatuses.has(status) ? (retryAfterMs(retryAfter, nowMs) ?? 0) : 0;
}

/** `Retry-After` as milliseconds from now, at most 24 h; null if absent or unreadable. Fractions of a second, which some send, count. */
export function retryAfterMs(value: string | null, nowMs: number): number | null {
  if (value === null) return null;
  const text = value.trim();
  const wanted = /^\d+(?:\.\d+)?$/.test(text) ? Math.ceil(Number(text) * 1000) : httpDate(text) - nowMs;
  return Number.isNaN(wanted) ? null : Math.min(Math.max(wanted, 0), longestRetryAfterMs);
}

function httpDate(text: string): number {
  return /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text) ? Date.parse(text) : Number.NaN;
}
