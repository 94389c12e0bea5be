import { setTimeout as delay } from 'node:timers/promises';
import { pruneCallbacks } from '../../../../libs/db/processor-callback.writes.js';
import { pruneAttempts, pruneDeliveries, pruneEmails, pruneJobs, prunePayloads, type Batch, type Pruned } from '../../../../libs/db/retention.writes.js';
import { payloadsKeptMs } from '../../../../libs/domain/webhook/retention.js';
import type { Composition } from '../activities.js';
import { startPeriodic } from './periodic.js';

const everyMs = 10 * 60_000;
/** Small, so that nobody waits for a lock or the log behind it. */
const limit = 500;
/** Between two batches: about 8,000 rows a second at most, however much is old. */
const pauseMs = 50;
const longestTurnMs = 60_000;
const day = 86_400_000;
/** A processor's dispute comes within its own limit; the payment itself keeps what was told. */
const callbacksKeptMs = 90 * day;
const emailsKeptMs = 90 * day;

interface Kind {
  what: string;
  olderThanMs: number;
  prune(batch: Batch): Promise<Pruned>;
}

/** Removes what is kept for a time only, in small batches; several workers at once take different rows. */
export function startPruner({ db, config, log }: Composition): () => Promise<void> {
  const kinds: Kind[] = [
    { what: 'callbacks of processors', olderThanMs: callbacksKeptMs, prune: async (batch) => whole(await pruneCallbacks(db, batch), batch) },
    { what: 'webhook attempts', olderThanMs: config.webhookAttemptDays * day, prune: (batch) => pruneAttempts(db, batch) },
    { what: 'webhook deliveries', olderThanMs: payloadsKeptMs, prune: (batch) => pruneDeliveries(db, config.environment, batch) },
    { what: 'bodies of events', olderThanMs: payloadsKeptMs, prune: (batch) => prunePayloads(db, batch) },
    { what: 'webhook jobs', olderThanMs: payloadsKeptMs, prune: (batch) => pruneJobs(db, batch) },
    { what: 'e-mails', olderThanMs: emailsKeptMs, prune: (batch) => pruneEmails(db, batch) },
  ];
  const round = async (isStopped: () => boolean): Promise<void> => {
    for (const kind of kinds) {
      const count = await turn(kind, isStopped);
      if (count > 0) log.info({ count }, `old ${kind.what} removed`);
    }
  };
  return startPeriodic({ everyMs, trouble: 'cannot prune', round }, log);
}

async function turn({ olderThanMs, prune }: Kind, isStopped: () => boolean): Promise<number> {
  const end = performance.now() + longestTurnMs;
  let total = 0;
  for (let after: string | null = null; !isStopped() && performance.now() < end; await delay(pauseMs)) {
    const pruned = await prune({ olderThanMs, limit, after });
    total += pruned.count;
    after = pruned.after;
    if (after === null) break;
  }
  return total;
}

/** For batches that find their own beginning. */
function whole(count: number, batch: Batch): Pruned {
  return { count, after: count < batch.limit ? null : '' };
}
