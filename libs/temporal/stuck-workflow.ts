import { WorkflowNotFoundError, type Client, type WorkflowHandle } from '@temporalio/client';

const deadlineMs = 3_000;

/**
 * Ends a workflow whose task fails again and again, because its history cannot be replayed: everything it knows stands in
 * rows, so the next wake starts it anew. `attempts`: tries of one task, or failed tasks without one that ended well between them, before
 * its history counts as broken. @returns false where it runs, is gone, or has not failed often enough.
 */
export function endStuckWorkflow(client: Client, workflowId: string, attempts: number): Promise<boolean> {
  return endWhere(client, workflowId, {
    isOver: (described) => isStuck(client, described, attempts),
    reason: 'Its task fails again and again: it starts again from its row.',
  });
}

async function isStuck(client: Client, { pendingWorkflowTask, workflowExecutionInfo }: Described, attempts: number): Promise<boolean> {
  return (pendingWorkflowTask?.attempt ?? 0) >= attempts || (await failedAtLast(client, workflowExecutionInfo!.execution!)) >= attempts;
}

/** Events that are looked at: four to six for each task that failed after a signal. */
const lastEvents = 40;

/** Tasks that failed since the last that ended well. Each signal makes a new task, so its tries alone do not tell. */
async function failedAtLast({ workflowService, options: { namespace } }: Client, execution: Execution): Promise<number> {
  const { history } = await workflowService.getWorkflowExecutionHistoryReverse({ namespace, execution, maximumPageSize: lastEvents });
  const events = history?.events ?? [];
  const well = events.findIndex(({ workflowTaskCompletedEventAttributes: completed }) => completed);
  return events.slice(0, well === -1 ? undefined : well).filter(({ workflowTaskFailedEventAttributes: failed }) => failed).length;
}

/** A task that lasts that long waits for a step that no worker has. */
const longestTaskMs = 30_000;
const startedTask = 2;

/**
 * Ends a workflow that was called and does nothing, though its row says that something is due: it has no activity, and no task that waits
 * for a worker or just began, so what it waits for was lost. To be asked of one that was called in vain. @returns false where it is at work, or gone.
 */
export function endSilentWorkflow(client: Client, workflowId: string): Promise<boolean> {
  return endWhere(client, workflowId, { isOver: isSilent, reason: 'It was called and did not move: it starts again from its row.' });
}

/** Either of both, for one that was called in vain. @returns false where it is at work, or gone. */
export function endBrokenWorkflow(client: Client, workflowId: string, attempts: number): Promise<boolean> {
  return endWhere(client, workflowId, {
    isOver: async (described) => isSilent(described) || (await isStuck(client, described, attempts)),
    reason: 'It was called again and again and did not move: it starts again from its row.',
  });
}

function isSilent({ pendingActivities, pendingWorkflowTask }: Described): boolean {
  if (pendingActivities?.length) return false;
  if (!pendingWorkflowTask) return true;
  const { state, originalScheduledTime } = pendingWorkflowTask;
  return state === startedTask && Date.now() - 1000 * (originalScheduledTime?.seconds?.toNumber() ?? Infinity) > longestTaskMs;
}

type Described = Awaited<ReturnType<WorkflowHandle['describe']>>['raw'];
type Execution = NonNullable<NonNullable<Described['workflowExecutionInfo']>['execution']>;

async function endWhere(client: Client, workflowId: string, { isOver, reason }: { isOver: (raw: Described) => boolean | Promise<boolean>; reason: string }): Promise<boolean> {
  const handle = client.workflow.getHandle(workflowId);
  try {
    return await client.withDeadline(Date.now() + deadlineMs, async () => {
      const { status, raw, runId } = await handle.describe();
      if (status.name !== 'RUNNING' || !(await isOver(raw))) return false;
      await client.workflow.getHandle(workflowId, runId).terminate(reason);
      return true;
    });
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
