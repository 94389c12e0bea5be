import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Worker, type NativeConnection, type WorkerOptions } from '@temporalio/worker';
import type { Config } from '../../../libs/config/config.js';
import type { QueueName } from '../../../libs/config/variables.js';
import { dropContext } from './activity-context.js';

interface Around {
  connection: NativeConnection;
  activities: Record<QueueName, object>;
}

type Size = Pick<
  WorkerOptions,
  | 'maxConcurrentWorkflowTaskExecutions'
  | 'maxConcurrentActivityTaskExecutions'
  | 'maxConcurrentLocalActivityExecutions'
  | 'maxCachedWorkflows'
  | 'maxConcurrentWorkflowTaskPolls'
  | 'maxConcurrentActivityTaskPolls'
>;

/** One worker per queue, so that no kind of work starves another. */
export async function createWorkers(config: Config, around: Around): Promise<Worker[]> {
  const workers: Worker[] = [];
  for (const queue of servedQueues(config)) workers.push(await createWorker(config, queue, around));
  return workers;
}

/** Time is real in production. */
export function servedQueues({ environment, queues }: Pick<Config, 'environment' | 'queues'>): QueueName[] {
  return queues.filter((queue) => queue !== 'test-clocks' || environment === 'staging');
}

/**
 * How long one activation of a workflow may take. Node ends the whole process when this limit cuts one short (nodejs/node#38503), and
 * a process that stood still, such as a paused machine, has used it up on its return: so it is far above any such pause.
 */
const activationLimit = { isolateExecutionTimeout: '5 minutes' } as Partial<WorkerOptions>;

function createWorker(config: Config, taskQueue: QueueName, { connection, activities }: Around): Promise<Worker> {
  return Worker.create({
    connection,
    namespace: config.temporalNamespace,
    taskQueue,
    ...workflowSource(taskQueue),
    activities: activities[taskQueue],
    shutdownGraceTime: config.shutdownGraceSeconds * 1000,
    reuseV8Context: true,
    interceptors: { activity: [dropContext(connection)] },
    ...activationLimit,
    ...sizeOf(config, taskQueue),
  });
}

function sizeOf(config: Config, queue: QueueName): Size {
  switch (queue) {
    case 'payments':
      return {
        maxConcurrentWorkflowTaskExecutions: config.paymentSlots,
        maxConcurrentActivityTaskExecutions: config.paymentSlots,
        maxConcurrentLocalActivityExecutions: config.paymentSlots,
        maxCachedWorkflows: config.paymentCachedWorkflows,
      };
    case 'subscriptions':
      return { maxConcurrentWorkflowTaskExecutions: config.subscriptionSlots, maxCachedWorkflows: config.subscriptionCachedWorkflows };
    case 'webhooks':
      return {
        maxConcurrentWorkflowTaskExecutions: config.webhookSlots,
        maxConcurrentActivityTaskExecutions: config.webhookSlots,
        maxConcurrentLocalActivityExecutions: config.webhookSlots,
        maxCachedWorkflows: Math.max(300, config.webhookSlots),
      };
    case 'test-clocks':
      return { maxConcurrentActivityTaskExecutions: config.testClockSlots, maxConcurrentWorkflowTaskExecutions: 10, maxCachedWorkflows: 50 };
    case 'webhooks-slow':
      return { maxConcurrentActivityTaskExecutions: config.slowWebhookSlots };
  }
}

/** The queue for failing endpoints runs activities only. The bundle is made by the build; without one it is made here. */
function workflowSource(queue: QueueName): Pick<WorkerOptions, 'workflowBundle' | 'workflowsPath'> {
  if (queue === 'webhooks-slow') return {};
  const codePath = fileURLToPath(new URL('../../../workflow-bundles/workflows.js', import.meta.url));
  if (existsSync(codePath)) return { workflowBundle: { codePath } };
  return { workflowsPath: fileURLToPath(new URL('../../../workflows/index.js', import.meta.url)) };
}
