import { onceWoken, wakesHeard } from '../libs/db/wake.js';
import { pause } from './webhook-endpoint.pace.js';

export interface LingerOptions {
  stopping: AbortSignal;
  /** Whether the drain takes rows at all. */
  goesOn: () => boolean;
  /** Whether posts are under way or not recorded yet. */
  isBusy: () => boolean;
  /** Whether rows may come due that nobody is woken for: retries, followers of what was just delivered. */
  comesUnannounced: () => boolean;
  mayLinger: () => boolean;
}

const lingersForMs = 1_000;
const afterFindMs = 20;
const firstGapMs = 50;
/** Each look that finds nothing is followed by a longer wait: four of them in the whole second. */
const gapGrowth = 2;
const longestGapMs = 400;
/** Between two looks at the time and at what the drain's own posts have changed. */
const restMs = 100;

/**
 * When a drain looks again after a page that was not full: soon, but only once a wake was heard, so that a thousand drains that linger
 * cost nothing. One that cannot rely on wakes looks by itself.
 */
export class Linger {
  private heard: number | null = null;
  private idleSince: number | null = null;
  private gapMs = firstGapMs;

  constructor(private readonly options: LingerOptions) {}

  /** Whoever looks says so before. */
  looks(): void {
    this.heard = wakesHeard();
  }

  /** Whether only a look of its own finds what comes. */
  get isDeaf(): boolean {
    return this.heard === null || this.options.comesUnannounced();
  }

  /** Waits until another look may find rows; false when the drain had better end. `found`: the last look did. */
  async again(found: boolean): Promise<boolean> {
    const { goesOn, stopping } = this.options;
    if (found) {
      this.idleSince = null;
      this.gapMs = firstGapMs;
      await pause(afterFindMs, stopping);
    } else {
      if (!this.stays()) return false;
      await pause(this.gapMs, stopping);
      this.gapMs = Math.min(longestGapMs, this.gapMs * gapGrowth);
    }
    while (goesOn() && !this.isDeaf && wakesHeard() === this.heard) {
      if (!this.stays()) return false;
      await pause(restMs, stopping, onceWoken);
    }
    return true;
  }

  private stays(): boolean {
    if (this.options.isBusy()) {
      this.idleSince = null;
      return true;
    }
    this.idleSince ??= performance.now();
    return this.options.mayLinger() && performance.now() - this.idleSince < lingersForMs;
  }
}
