import { WorkflowNotFoundError, type Client } from '@temporalio/client';

/** Tasks that fail or time out in a row before a workflow's history counts as broken. */
const failedTasks = 3;
const deadlineMs = 3_000;

/**
 * Ends a workflow whose task fails again and again, because its history cannot be replayed: everything it knows stands in
 * rows, so the next wake starts it anew. @returns false where it runs, is gone, or has not failed often enough.
 */
export async function endStuckWorkflow(client: Client, workflowId: string): Promise<boolean> {
  const handle = client.workflow.getHandle(workflowId);
  try {
    return await client.withDeadline(Date.now() + deadlineMs, async () => {
      const { status, raw, runId } = await handle.describe();
      if (status.name !== 'RUNNING' || (raw.pendingWorkflowTask?.attempt ?? 0) < failedTasks) return false;
      await client.workflow.getHandle(workflowId, runId).terminate('Its task fails again and again: it starts again from its row.');
      return true;
    });
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
