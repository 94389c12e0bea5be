import { setMaxListeners } from 'node:events';
import type { DrainInput, DrainOutcome, WebhookEndpointActivities } from '../libs/contracts/webhook-endpoint.contract.js';
import { beating } from './heartbeat.js';
import { drainEndpoint, type DrainDeps } from './webhook-endpoint.drain.js';

export interface WebhookEndpointDeps extends DrainDeps {
  /** Activity slots of the normal queue: a drain waits for more work only while fewer than half of them are used. */
  slots: number;
}

const heartbeatMs = 3_000;

/** One set per process: both queues' workers share it, and with it the count of running drains. */
export function createWebhookEndpointActivities(deps: WebhookEndpointDeps): WebhookEndpointActivities {
  setMaxListeners(0, deps.stopping);
  let running = 0;
  const mayLinger = (): boolean => running < deps.slots / 2;

  return {
    async drainEndpoint(input: DrainInput): Promise<DrainOutcome> {
      running += 1;
      try {
        return await beating(heartbeatMs, ({ cancellationSignal: cancelled, info }) =>
          drainEndpoint(deps, { ...input, brief: info.isLocal, mayLinger, cancelled }));
      } finally {
        running -= 1;
      }
    },
  };
}
