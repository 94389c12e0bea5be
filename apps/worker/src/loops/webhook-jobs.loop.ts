import { LRUCache } from 'lru-cache';
import { webhookJobWorkflowId } from '../../../../libs/contracts/webhook-job.contract.js';
import { idleWebhookJobs } from '../../../../libs/db/webhook-job.queries.js';
import { endStuckWorkflow } from '../../../../libs/temporal/stuck-workflow.js';
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
  /** Those that may have been woken in vain. */
  const before = new LRUCache<string, true>({ max: 10_000 });

  const round = async (isStopped: () => boolean): Promise<void> => {
    for (const { id, accountId } of await idleWebhookJobs(db, { idleSeconds, limit })) {
      if (isStopped()) return;
      const job = publicId('job', config.environment, id);
      if (before.has(id) && (await endStuckWorkflow(client, webhookJobWorkflowId(job), 3))) {
        log.warn({ webhook_job_id: job }, 'a webhook job\'s workflow that failed again and again was ended');
      }
      await wakeWebhookJobWorkflow(client, { jobId: id, job, account: publicId('acct', config.environment, accountId) });
      before.set(id, true);
      log.info({ webhook_job_id: job }, 'webhook job goes on');
    }
  };
  return startPeriodic({ everyMs, trouble: 'cannot reconcile webhook jobs', round }, log);
}
