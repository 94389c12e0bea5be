/** Lateness of a timer that is caught up. */
const catchUpMs = 25;

/**
 * When the next posts to an endpoint with a rate limit may begin. Turns are reserved in the database, so that drains that follow each
 * other, or overlap, share one rate; here they are spaced, so that what stood still does not come in a burst.
 */
export class Pace {
  private gapMs = 0;
  private slots: number[] = [];
  private last = -Infinity;

  /** `firstInMs`: until the first of `count` turns. */
  reserved({ firstInMs, count, ratePerSecond }: { firstInMs: number; count: number; ratePerSecond: number }): void {
    const first = performance.now() + Math.max(0, firstInMs);
    this.gapMs = 1000 / ratePerSecond;
    this.slots = Array.from({ length: count }, (_, index) => first + index * this.gapMs);
  }

  /** Without a limit every post has its turn. */
  free(): void {
    this.slots = [];
  }

  /** Milliseconds until the next post may begin; its turn is used up. */
  next(): number {
    const slot = this.slots.shift();
    if (slot === undefined) return 0;
    const now = performance.now();
    const at = Math.max(slot, this.last + this.gapMs);
    this.last = Math.max(at, now - catchUpMs);
    return Math.max(0, at - now);
  }
}

/** Deliveries per page of an endpoint with a rate limit: half a second's worth, so that few turns are lost when its drain ends. */
export function pageOfRate(ratePerSecond: number, largest: number): number {
  return Math.max(1, Math.min(largest, Math.ceil(ratePerSecond / 2)));
}

/** Resolves after `ms`, as soon as the process is told to stop, or when `sooner` calls back; that one returns how to end its wait. */
export function pause(ms: number, stopping: AbortSignal, sooner?: (end: () => void) => () => void): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      forget?.();
      stopping.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    const forget = sooner?.(end);
    stopping.addEventListener('abort', end, { once: true });
    if (stopping.aborted) end();
  });
}
