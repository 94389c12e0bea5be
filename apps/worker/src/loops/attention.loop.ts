import { watchAttention } from '../../../../libs/db/attention-watch.writes.js';
import type { Composition } from '../activities.js';
import { startPeriodic } from './periodic.js';

const everyMs = 10_000;

/** Puts on the attention list what has waited too long, and takes off what is over. */
export function startWatcher({ db, log }: Composition): () => Promise<void> {
  return startPeriodic({ everyMs, trouble: 'cannot watch what waits', round: (isStopped) => watchAttention(db, { isStopped, upSeconds: process.uptime() }) }, log);
}
