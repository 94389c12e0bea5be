import { defineSignal } from '@temporalio/workflow';

export const webhookJobWorkflow = 'webhookJob';

export function webhookJobWorkflowId(job: string): string {
  return `webhook-job/${job}`;
}

export interface WebhookJobInput {
  /** UUID of the job's row. */
  jobId: string;
  /** Public ids, for people who read the workflow. */
  job: string;
  account: string;
}

/** The job's row may say something new. */
export const wakeWebhookJob = defineSignal('wakeWebhookJob');

/** `waiting`: the endpoint takes no more now. */
export type WebhookJobState = 'done' | 'more' | 'waiting';

/** What the workflow may call. */
export interface WebhookJobActivities {
  advanceWebhookJob(args: { jobId: string }): Promise<WebhookJobState>;
}
