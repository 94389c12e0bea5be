import type { Client } from '@temporalio/client';
import { testClockQueue, testClockWorkflow, testClockWorkflowId, wakeTestClock, type TestClockInput } from '../contracts/test-clock.contract.js';
import { oneRun, searchable } from './workflow-options.js';

const deadlineMs = 3_000;

/** Wakes the clock's workflow, or starts it. Throws what the client throws when Temporal is away: the wake is repeated. */
export async function wakeTestClockWorkflow(client: Client, input: TestClockInput): Promise<void> {
  await client.withDeadline(Date.now() + deadlineMs, () =>
    client.workflow.signalWithStart(testClockWorkflow, {
      workflowId: testClockWorkflowId(input.clock),
      ...oneRun,
      taskQueue: testClockQueue,
      args: [input],
      signal: wakeTestClock,
      staticSummary: `Moves ${input.clock}`,
      typedSearchAttributes: searchable({ status: 'advancing', account: input.account, customer: null }),
    }));
}
