import type { Client } from '@temporalio/client';
import {
  wakeEndpoint,
  webhookEndpointWorkflow,
  webhookEndpointWorkflowId,
  webhookQueue,
  type WebhookEndpointInput,
} from '../contracts/webhook-endpoint.contract.js';
import { oneRun, searchable } from './workflow-options.js';

const callTimeoutMs = 3_000;

export interface EndpointToWake {
  /** UUID. */
  endpointId: string;
  /** Public ids. */
  endpoint: string;
  account: string;
}

/** Wakes the endpoint's dispatcher, or starts it. Throws what the client throws when Temporal is away: the wake is repeated. */
export async function wakeWebhookEndpoint(client: Client, { endpointId, endpoint, account }: EndpointToWake): Promise<void> {
  const input: WebhookEndpointInput = { endpointId, endpoint };
  await client.withDeadline(Date.now() + callTimeoutMs, () =>
    client.workflow.signalWithStart(webhookEndpointWorkflow, {
      workflowId: webhookEndpointWorkflowId(endpoint),
      ...oneRun,
      taskQueue: webhookQueue,
      args: [input],
      signal: wakeEndpoint,
      staticSummary: `Delivers webhooks to ${endpoint}`,
      typedSearchAttributes: searchable({ status: 'delivering', account, customer: null }),
    }));
}
