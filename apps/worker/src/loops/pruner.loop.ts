import { pruneCallbacks } from '../../../../libs/db/processor-callback.writes.js';
import type { Composition } from '../activities.js';
import { startPeriodic } from './periodic.js';

const everyMs = 10 * 60_000;
/** Small, so that nobody waits for a lock or the log behind it. */
const batch = 500;
const mostBatches = 200;
/** A processor's dispute comes within its own limit; the payment itself keeps what was told. */
const callbacksKeptMs = 90 * 86_400_000;

/** Removes what is kept for a time only, in small batches; several workers at once take different rows. */
export function startPruner({ db, log }: Composition): () => Promise<void> {
  const round = async (isStopped: () => boolean): Promise<void> => {
    for (let batches = 0; batches < mostBatches && !isStopped(); batches += 1) {
      const gone = await pruneCallbacks(db, { olderThanMs: callbacksKeptMs, limit: batch });
      if (gone > 0) log.info({ count: gone }, 'old callbacks of processors removed');
      if (gone < batch) return;
    }
  };
  return startPeriodic({ everyMs, trouble: 'cannot prune', round }, log);
}
