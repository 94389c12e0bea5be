import { WorkflowNotFoundError, type Client } from '@temporalio/client';

const deadlineMs = 3_000;

/**
 * Ends a workflow whose task fails again and again, because its history cannot be replayed: everything it knows stands in
 * rows, so the next wake starts it anew. `attempts`: tries of one task before its history counts as broken; each signal makes a new
 * task, so they stay few. @returns false where it runs, is gone, or has not failed often enough.
 */
export async function endStuckWorkflow(client: Client, workflowId: string, attempts: number): Promise<boolean> {
  const handle = client.workflow.getHandle(workflowId);
  try {
    return await client.withDeadline(Date.now() + deadlineMs, async () => {
      const { status, raw, runId } = await handle.describe();
      if (status.name !== 'RUNNING' || (raw.pendingWorkflowTask?.attempt ?? 0) < attempts) return false;
      await client.workflow.getHandle(workflowId, runId).terminate('Its task fails again and again: it starts again from its row.');
      return true;
    });
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}
