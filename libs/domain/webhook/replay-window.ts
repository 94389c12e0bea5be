const smallest = 20;
const largest = 500;
const memoryMs = 1_000;

/**
 * How many deliveries a job may have in its endpoint's queue at once: what the endpoint took in the last second, so that a fresh event
 * waits for about a second at most behind what is replayed.
 */
export class ReplayWindow {
  private readonly samples: { atMs: number; finished: number }[] = [];

  /** `finished`: deliveries of this job that have had their attempt, up to now. */
  note(finished: number, nowMs: number): void {
    this.samples.push({ atMs: nowMs, finished });
    while (this.samples.length > 2 && this.samples[1]!.atMs <= nowMs - memoryMs) this.samples.shift();
  }

  get size(): number {
    const [first, last] = [this.samples[0], this.samples.at(-1)];
    if (!first || !last || first === last) return smallest;
    const perSecond = ((last.finished - first.finished) * 1000) / Math.max(memoryMs / 4, last.atMs - first.atMs);
    return Math.round(Math.min(largest, Math.max(smallest, perSecond)));
  }
}
