import { tellOfFailingEndpoints } from '../../../../libs/db/webhook-endpoint-status.writes.js';
import type { Composition } from '../activities.js';
import { startPeriodic } from './periodic.js';

const everyMs = 10_000;

/** Tells of webhook endpoints that did nothing but fail for too long. That one works again is told by the drain that finds it out. */
export function startEndpointWatcher({ db, config, log }: Composition): () => Promise<void> {
  const afterMs = config.webhookFailingAfterSeconds * 1000;
  const round = async (): Promise<void> => { await tellOfFailingEndpoints(db, config.environment, { afterMs }); };
  return startPeriodic({ everyMs, trouble: 'cannot tell of failing webhook endpoints', round }, log);
}
