const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** When an attempt without outcome is looked up, counted from when it became unresolved. */
export const lookupOffsets: readonly number[] = [5 * second, 30 * second, 2 * minute, 10 * minute, hour, 6 * hour, 24 * hour];

/** Identical re-sends before an attempt is closed for sending. */
export const resendLimit = 2;

/** How long an authorised amount waits for its capture. */
export const captureWindowMs = 7 * day;

/** How long an accepted debit or review may take. */
export const pendingLimitBusinessDays = 10;

/** Delay from now to lookup number `done` + 1; null when the schedule is used up. */
export function nextLookupDelay(done: number, offsets = lookupOffsets): number | null {
  const offset = offsets[done];
  return offset === undefined ? null : offset - (offsets[done - 1] ?? 0);
}

/** `days` business days (Monday to Friday, UTC) after an instant; both in epoch milliseconds. */
export function addBusinessDays(from: number, days: number): number {
  let at = from;
  for (let left = days; left > 0; ) {
    at += day;
    const weekday = new Date(at).getUTCDay();
    if (weekday !== 0 && weekday !== 6) left -= 1;
  }
  return at;
}

/** The last moment at which the identical request may be sent again: the provider's window less an hour. */
export function resendDeadline(firstSentAt: number, windowMs: number | null): number {
  return windowMs === null ? Number.NEGATIVE_INFINITY : firstSentAt + windowMs - hour;
}
