import { idleWebhookJobs } from '../../../../libs/db/webhook-job.queries.js';
import { wakeWebhookJobWorkflow } from '../../../../libs/temporal/webhook-job.client.js';
import { publicId } from '../../../../libs/views/ids.js';
import type { Composition } from '../activities.js';
import { startPeriodic } from './periodic.js';

const everyMs = 3_000;
/** Longer than a job's workflow rests. */
const idleSeconds = 60;
const limit = 50;

/** Starts the workflow of every job that should run and does not: Temporal was away when it was made, or lost it. */
export function startJobReconciler({ config, db, client, log }: Composition): () => Promise<void> {
  const round = async (isStopped: () => boolean): Promise<void> => {
    for (const { id, accountId } of await idleWebhookJobs(db, { idleSeconds, limit })) {
      if (isStopped()) return;
      const job = publicId('job', config.environment, id);
      await wakeWebhookJobWorkflow(client, { jobId: id, job, account: publicId('acct', config.environment, accountId) });
      log.info({ webhook_job_id: job }, 'webhook job goes on');
    }
  };
  return startPeriodic({ everyMs, trouble: 'cannot reconcile webhook jobs', round }, log);
}
