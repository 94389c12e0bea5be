import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy, type Client } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import {
  wakeEndpoint,
  webhookEndpointWorkflow,
  webhookEndpointWorkflowId,
  webhookQueue,
  type WebhookEndpointInput,
} from '../contracts/webhook-endpoint.contract.js';

const status = defineSearchAttributeKey('SignalboxStatus', SearchAttributeType.KEYWORD);
const account = defineSearchAttributeKey('SignalboxAccount', SearchAttributeType.KEYWORD);
const callTimeoutMs = 3_000;

export interface EndpointToWake {
  /** UUID. */
  endpointId: string;
  /** Public ids. */
  endpoint: string;
  account: string;
}

/** Wakes the endpoint's dispatcher, or starts it. Throws what the client throws when Temporal is away: the wake is repeated. */
export async function wakeWebhookEndpoint(client: Client, { endpointId, endpoint, account: accountId }: EndpointToWake): Promise<void> {
  const input: WebhookEndpointInput = { endpointId, endpoint };
  await client.withDeadline(Date.now() + callTimeoutMs, () =>
    client.workflow.signalWithStart(webhookEndpointWorkflow, {
      workflowId: webhookEndpointWorkflowId(endpoint),
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
      taskQueue: webhookQueue,
      args: [input],
      signal: wakeEndpoint,
      staticSummary: `Delivers webhooks to ${endpoint}`,
      typedSearchAttributes: new TypedSearchAttributes([
        { key: status, value: 'delivering' },
        { key: account, value: accountId },
      ]),
    }));
}
