import { defineSignal } from '@temporalio/workflow';

export const webhookQueue = 'webhooks';
/** Endpoints that fail are drained here, so that they cannot take the slots of those that work. */
export const slowWebhookQueue = 'webhooks-slow';

export const webhookEndpointWorkflow = 'webhookEndpoint';

export interface WebhookEndpointInput {
  /** UUID of the endpoint's row. */
  endpointId: string;
  /** Public ids, for people who read the workflow. */
  endpoint: string;
  /** How the last drain of the run before saw the endpoint. */
  failing?: boolean;
}

/** Something may be due. Only ids pass: the rows say what. */
export const wakeEndpoint = defineSignal('wakeEndpoint');

export function webhookEndpointWorkflowId(endpoint: string): string {
  return `webhook-endpoint/${endpoint}`;
}

export interface DrainInput {
  endpointId: string;
  /** Whether this drain was sent to the queue for failing endpoints. */
  failing: boolean;
}

export interface DrainOutcome {
  /** `closed`: the endpoint is deleted and its workflow ends. */
  state: 'open' | 'closed';
  /** Whether the next drain belongs on the queue for failing endpoints. */
  failing: boolean;
  /** Milliseconds until the next delivery is due; null when none waits. */
  dueInMs: number | null;
  /** Rows kept coming while it drained within a workflow task: a drain of its own goes on. */
  goesOn?: boolean;
}

/** What the workflow may call. */
export interface WebhookEndpointActivities {
  drainEndpoint(input: DrainInput): Promise<DrainOutcome>;
}
