import { claimReconciliation, openNightly } from '../../../../libs/db/reconciliation.writes.js';
import { listingKinds, reconcile } from '../../../../libs/payments/reconcile.js';
import { publicId } from '../../../../libs/views/ids.js';
import type { Composition } from '../activities.js';
import { startPeriodic } from './periodic.js';

const everyMs = 2_000;
const hour = 3_600_000;
/** From this hour, UTC, each connection is compared once a night. */
const nightlyHour = 2;
const nightlyEvery = 30;
const rangeMs = 72 * hour;
/** What is younger is still finding out by itself. */
const youngMs = 15 * 60_000;

/** Compares connections with their processors: nightly, and when asked. A run that a crash interrupted goes on at its page. */
export function startReconciliations({ config, db, payments, log }: Composition): () => Promise<void> {
  let rounds = 0;

  const round = async (isStopped: () => boolean): Promise<void> => {
    rounds += 1;
    const now = new Date();
    if (rounds % nightlyEvery === 1 && now.getUTCHours() >= nightlyHour) {
      const until = new Date(now.getTime() - youngMs);
      await openNightly(db, listingKinds(payments), { night: now.toISOString().slice(0, 10), since: new Date(until.getTime() - rangeMs), until });
    }
    const claimed = await claimReconciliation(db);
    if (!claimed || isStopped()) return;
    const run = await reconcile(payments, claimed, { isStopped });
    if (!run || run.status === 'running') return;
    const { compared, differences, status } = run;
    log.info({ reconciliation_id: publicId('recon', config.environment, run.id), status, compared, differences }, 'reconciliation ended');
  };

  return startPeriodic({ everyMs, trouble: 'cannot reconcile with processors', round }, log);
}
