/** At most `count` within any `seconds`. */
export interface Limit {
  count: number;
  seconds: number;
}

/** Against card testing: how often a link, a visitor's address and a card may be tried, and when a link pauses itself. */
export interface LinkLimits {
  perLink: Limit;
  perAddress: Limit;
  perMethod: Limit;
  /** Declines after which the link pauses itself. */
  declines: Limit;
}

/** What was counted within a limit's window; `oldest` is the earliest of them, null if there was none. */
export interface Counted {
  count: number;
  oldest: Date | null;
}

/** Seconds until a slot of the limit is free again; null if there is one now. */
export function retryAfter(limit: Limit, counted: Counted, now: Date): number | null {
  if (counted.count < limit.count) return null;
  if (!counted.oldest) return limit.seconds;
  const freeAt = counted.oldest.getTime() + limit.seconds * 1000;
  return Math.min(limit.seconds, Math.max(1, Math.ceil((freeAt - now.getTime()) / 1000)));
}

/** The earliest moment that a limit's window still covers. */
export function windowStart(limit: Limit, now: Date): Date {
  return new Date(now.getTime() - limit.seconds * 1000);
}
