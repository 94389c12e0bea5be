import type { Change } from '../domain/change/change.js';
import { DomainError } from '../errors/domain-error.js';
import type { Tx } from './client.js';
import type { Clockwork } from './subscription.queries.js';
import { holdTestClock } from './test-clock.writes.js';

/** Whose time a change of a subscription happens on. */
export interface OwnTime {
  change: Change;
  clock: Clockwork;
}

interface Asked {
  testClockId: string | null;
  clock: Clockwork;
  /** A command of a person, which waits until the clock stands still. */
  commanded?: boolean;
}

/**
 * The time of the subscription's test clock where it has one, else the one that was asked for. Without jitter on a clock. Holds
 * the clock until the transaction ends.
 * @throws DomainError 409 `test_clock_advancing`
 */
export async function ownTime(tx: Tx, change: Change, { testClockId, clock, commanded = false }: Asked): Promise<OwnTime> {
  if (testClockId === null) return { change, clock };
  const row = await holdTestClock(tx, testClockId);
  if (commanded && row.status === 'advancing' && row.deletedAt === null) throw new DomainError('test_clock_advancing', undefined, { retryAfterSeconds: 1 });
  return { change: { ...change, clockTime: row.frozenTime.toISOString() }, clock: { now: row.frozenTime, jitterSeconds: 0 } };
}
