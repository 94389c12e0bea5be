import type { OpenConnection } from './connection-cache.js';

interface Followed {
  running: number;
  /** Monotonic milliseconds; the last turn that was given to a call without a place. */
  lastTurnAt: number;
}

/** So long at least a call without a place waits, and so long at most, in milliseconds. */
const shortestWaitMs = 1_000;
const longestWaitMs = 600_000;

/**
 * How many calls that find out or repeat what began before may be under way at one connection, in this process: one that hangs, with
 * thousands of attempts to be found out, must not take every slot from the payments of others.
 */
export class FollowUpLimit {
  readonly #atOnce: number;
  readonly #followed = new Map<string, Followed>();

  constructor(atOnce: number) {
    this.#atOnce = atOnce;
  }

  /** Takes a place, to be given back by `end`; false if there is none. */
  begin(connectionId: string): boolean {
    const followed = this.#followed.get(connectionId) ?? { running: 0, lastTurnAt: 0 };
    if (followed.running >= this.#atOnce) return false;
    followed.running += 1;
    this.#followed.set(connectionId, followed);
    return true;
  }

  end(connectionId: string): void {
    const followed = this.#followed.get(connectionId)!;
    followed.running -= 1;
    if (followed.running === 0) this.#followed.delete(connectionId);
  }

  /** Milliseconds until a call without a place should ask again. Turns follow each other as fast as places become free while every call takes all its time. */
  turnMs({ id, deadlines }: Pick<OpenConnection, 'id' | 'deadlines'>, now: number): number {
    const followed = this.#followed.get(id);
    if (!followed) return shortestWaitMs;
    const turnAt = Math.max(followed.lastTurnAt, now + shortestWaitMs) + deadlines.totalMs / this.#atOnce;
    followed.lastTurnAt = Math.min(turnAt, now + longestWaitMs);
    return followed.lastTurnAt - now;
  }
}
