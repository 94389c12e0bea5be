import type { Client } from '@temporalio/client';
import { webhookQueue } from '../contracts/webhook-endpoint.contract.js';
import { wakeWebhookJob, webhookJobWorkflow, webhookJobWorkflowId, type WebhookJobInput } from '../contracts/webhook-job.contract.js';
import { oneRun, searchable } from './workflow-options.js';

const deadlineMs = 3_000;

/** Wakes the job's workflow, or starts it. Throws what the client throws when Temporal is away: the wake is repeated. */
export async function wakeWebhookJobWorkflow(client: Client, input: WebhookJobInput): Promise<void> {
  await client.withDeadline(Date.now() + deadlineMs, () =>
    client.workflow.signalWithStart(webhookJobWorkflow, {
      workflowId: webhookJobWorkflowId(input.job),
      ...oneRun,
      taskQueue: webhookQueue,
      args: [input],
      signal: wakeWebhookJob,
      staticSummary: `Works on ${input.job}`,
      typedSearchAttributes: searchable({ status: 'running', account: input.account, customer: null }),
    }));
}
