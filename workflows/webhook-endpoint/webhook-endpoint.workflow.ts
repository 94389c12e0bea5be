import {
  condition, continueAsNew, log, patched, proxyActivities, proxyLocalActivities, setCurrentDetails, setHandler, upsertSearchAttributes, workflowInfo,
} from '@temporalio/workflow';
import {
  slowWebhookQueue,
  wakeEndpoint,
  webhookQueue,
  type DrainOutcome,
  type WebhookEndpointActivities,
  type WebhookEndpointInput,
} from '../../libs/contracts/webhook-endpoint.contract.js';
import { WebhookEndpointEntity } from './webhook-endpoint.entity.js';

/** A drain ends within 25 s; one whose process died is noticed after 10 s and begins again under a new epoch. */
const drainOptions = {
  startToCloseTimeout: '60s',
  heartbeatTimeout: '10s',
  retry: { initialInterval: '1s', backoffCoefficient: 2, maximumInterval: '10s' },
} as const;

const normal = proxyActivities<WebhookEndpointActivities>({ ...drainOptions, taskQueue: webhookQueue });
const slow = proxyActivities<WebhookEndpointActivities>({ ...drainOptions, taskQueue: slowWebhookQueue });
/** One workflow task instead of two and an activity. It takes rows for a second only; a dead worker is noticed by the task's time-out. */
const inTask = proxyLocalActivities<WebhookEndpointActivities>({
  startToCloseTimeout: drainOptions.startToCloseTimeout, retry: drainOptions.retry, localRetryThreshold: '500ms',
});

/** The dispatcher of one endpoint: drains, sleeps until the next delivery is due or somebody wakes it, drains again. */
export async function webhookEndpoint(input: WebhookEndpointInput): Promise<void> {
  const entity = new WebhookEndpointEntity(input.failing ?? false);
  setHandler(wakeEndpoint, () => entity.wake());

  for (;;) {
    setCurrentDetails(`${input.endpoint}: ${entity.describe('draining')}`);
    const outcome = await drain(entity, input);
    if (entity.settle(outcome)) upsertSearchAttributes({ SignalboxStatus: [entity.failing ? 'failing' : 'delivering'] });
    if (outcome.state === 'closed') {
      log.info('webhook endpoint closed', { endpoint_id: input.endpoint });
      return;
    }
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof webhookEndpoint>({ ...input, failing: entity.failing });
    if (entity.goesOn) continue;
    setCurrentDetails(`${input.endpoint}: ${entity.describe('waiting')}`);
    await sleepUntilDue(entity, outcome.dueInMs);
  }
}

function drain(entity: WebhookEndpointEntity, { endpointId }: WebhookEndpointInput): Promise<DrainOutcome> {
  entity.begin();
  return drainsOf(entity).drainEndpoint({ endpointId, failing: entity.failing });
}

function drainsOf(entity: WebhookEndpointEntity): typeof normal {
  if (entity.failing) return slow;
  return entity.goesOn || !drainsInTask() ? normal : inTask;
}

/** The first drain after a rest is a local activity; before: an activity like all others. */
function drainsInTask(): boolean {
  return patched('drains-in-task');
}

async function sleepUntilDue(entity: WebhookEndpointEntity, dueInMs: number | null): Promise<void> {
  if (dueInMs === null) await condition(() => entity.woken);
  else if (dueInMs > 0) await condition(() => entity.woken, dueInMs);
}
