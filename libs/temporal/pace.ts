/** Hands out turns at an even rate, so that a burst of calls to the engine leaves room for others. */
export class Pace {
  private next = 0;
  private readonly gapMs: number;

  constructor(perSecond: number) {
    this.gapMs = 1000 / perSecond;
  }

  /** Milliseconds that the next turn would wait. `now`: of one clock that never goes back. */
  waitMs(now: number): number {
    return Math.max(0, this.next - now);
  }

  /** Milliseconds until the turn that is taken with this call. */
  take(now: number): number {
    const waitMs = this.waitMs(now);
    this.next = now + waitMs + this.gapMs;
    return waitMs;
  }

  async turn(): Promise<void> {
    const waitMs = this.take(performance.now());
    if (waitMs > 0) await new Promise((resolve) => setTimeout(resolve, waitMs));
  }
}
