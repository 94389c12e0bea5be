import { condition, continueAsNew, proxyActivities, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import { webhookQueue } from '../../libs/contracts/webhook-endpoint.contract.js';
import { wakeWebhookJob, type WebhookJobActivities, type WebhookJobInput } from '../../libs/contracts/webhook-job.contract.js';
import { WebhookJobEntity } from './webhook-job.entity.js';

/** Every stretch begins where the row says, so it is tried until the rows can be read; a dead worker is noticed by the missing heartbeat. */
const { advanceWebhookJob } = proxyActivities<WebhookJobActivities>({
  taskQueue: webhookQueue,
  startToCloseTimeout: '60s',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s' },
});

/** Works on many deliveries of one endpoint, stretch by stretch, at the pace at which the endpoint takes them. */
export async function webhookJob(input: WebhookJobInput): Promise<void> {
  const entity = new WebhookJobEntity();
  setHandler(wakeWebhookJob, () => entity.wake());

  for (;;) {
    entity.begin();
    entity.settle(await advanceWebhookJob({ jobId: input.jobId }));
    setCurrentDetails(entity.describe(input.job));
    if (entity.isOver) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof webhookJob>(input);
    if (entity.restMs > 0) await condition(() => entity.woken, entity.restMs);
  }
}
