import type { AdvanceState } from '../../libs/contracts/test-clock.contract.js';

const firstWaitMs = 250;
const longestWaitMs = 5_000;

/** What the workflow of a test clock knows between two stretches; the row knows where the clock stands. */
export class TestClockEntity {
  /** Somebody asked since the last stretch began. */
  woken = false;
  private waits = 0;
  private state: AdvanceState = 'more';

  wake(): void {
    this.woken = true;
  }

  begin(): void {
    this.woken = false;
  }

  settle(state: AdvanceState): void {
    this.state = state;
    this.waits = state === 'waiting' ? this.waits + 1 : 0;
  }

  get isOver(): boolean {
    return this.state === 'done' && !this.woken;
  }

  /** Milliseconds until it is worth another look; 0: at once. */
  get restMs(): number {
    return this.waits === 0 ? 0 : Math.min(longestWaitMs, firstWaitMs * 2 ** Math.min(this.waits, 10));
  }

  describe(clock: string): string {
    return `${clock}: ${this.state === 'waiting' ? 'waits for the outcome of a payment' : 'advances'}`;
  }
}
