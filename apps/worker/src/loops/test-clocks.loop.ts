import { LRUCache } from 'lru-cache';
import { testClockWorkflowId } from '../../../../libs/contracts/test-clock.contract.js';
import type { TestClockRow } from '../../../../libs/db/schema/index.js';
import { idleTestClocks } from '../../../../libs/db/test-clock.queries.js';
import { endStuckWorkflow } from '../../../../libs/temporal/stuck-workflow.js';
import { wakeTestClockWorkflow } from '../../../../libs/temporal/test-clock.client.js';
import { publicId } from '../../../../libs/views/ids.js';
import type { Composition } from '../activities.js';
import { startPeriodic } from './periodic.js';

const everyMs = 2_000;
/** Longer than a clock that waits for a payment rests. */
const idleSeconds = 8;
const limit = 50;

/** Wakes or starts again the workflow of every test clock that should move and does not, or was deleted and is not cleared. */
export function startClockReconciler({ config, db, client, log }: Composition): () => Promise<void> {
  /** Those that may have been woken in vain. */
  const before = new LRUCache<string, number>({ max: 10_000 });

  const wake = async (row: TestClockRow): Promise<void> => {
    const clock = publicId('clock', config.environment, row.id);
    if (before.get(row.id) === row.updatedAt.getTime() && (await endStuckWorkflow(client, testClockWorkflowId(clock), 3))) {
      log.warn({ test_clock_id: clock }, 'a test clock\'s workflow that failed again and again was ended');
    }
    await wakeTestClockWorkflow(client, { clockId: row.id, clock, account: publicId('acct', config.environment, row.accountId) });
    before.set(row.id, row.updatedAt.getTime());
    log.info({ test_clock_id: clock }, 'test clock goes on');
  };

  const round = async (isStopped: () => boolean): Promise<void> => {
    for (const row of await idleTestClocks(db, { idleSeconds, limit })) if (!isStopped()) await wake(row);
  };

  return startPeriodic({ everyMs, trouble: 'cannot reconcile test clocks', round }, log);
}
