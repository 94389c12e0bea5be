import { setTimeout as delay } from 'node:timers/promises';
import type { WebhookJobActivities, WebhookJobState } from '../libs/contracts/webhook-job.contract.js';
import type { Db } from '../libs/db/client.js';
import type { WebhookJobRow } from '../libs/db/schema/index.js';
import { webhookJobById } from '../libs/db/webhook-job.queries.js';
import { stepWebhookJob } from '../libs/db/webhook-job.steps.js';
import { touchWebhookJob } from '../libs/db/webhook-job.writes.js';
import type { Environment } from '../libs/domain/environment.js';
import { ReplayWindow } from '../libs/domain/webhook/replay-window.js';
import { beating } from './heartbeat.js';

export interface WebhookJobDeps {
  db: Db;
  environment: Environment;
  /** Aborted when the process is told to stop. */
  stopping: AbortSignal;
}

const heartbeatMs = 3_000;
/** A stretch ends after this, so that the workflow says how the job does. */
const stretchMs = 10_000;
/** Without anything to do for this long the workflow waits instead. */
const patienceMs = 2_000;
const lookMs = 100;

/** Safe to run at any time and twice: the job's row says how far it has come, and each page is written together with that. */
export function createWebhookJobActivities(deps: WebhookJobDeps): WebhookJobActivities {
  return {
    advanceWebhookJob: ({ jobId }): Promise<WebhookJobState> =>
      beating(heartbeatMs, async ({ cancellationSignal }) => {
        const job = await webhookJobById(deps.db, jobId);
        return job?.status === 'running' ? workOn(deps, job, cancellationSignal) : 'done';
      }),
  };
}

export async function workOn({ db, environment, stopping }: WebhookJobDeps, job: WebhookJobRow, cancelled: AbortSignal): Promise<WebhookJobState> {
  await touchWebhookJob(db, job.id);
  const window = new ReplayWindow();
  const startedAt = performance.now();
  let movedAt = startedAt;
  while (!stopping.aborted && !cancelled.aborted && performance.now() - startedAt < stretchMs) {
    const { state, finished } = await stepWebhookJob(db, { environment, job, window: window.size });
    if (state === 'done') return 'done';
    window.note(finished, performance.now());
    if (state === 'moved') movedAt = performance.now();
    else if (performance.now() - movedAt > patienceMs) return 'waiting';
    else await delay(lookMs);
  }
  return 'more';
}
