import { defineSignal } from '@temporalio/workflow';

/** As many clocks move at once as this queue has activity slots: time of their own, but not all of the machine. */
export const testClockQueue = 'test-clocks';
export const testClockWorkflow = 'testClock';

export function testClockWorkflowId(clock: string): string {
  return `test-clock/${clock}`;
}

export interface TestClockInput {
  /** UUID of the clock's row. */
  clockId: string;
  /** Public ids, for people who read the workflow. */
  clock: string;
  account: string;
}

/** The clock's row may say something new: an advance began, or it was deleted. */
export const wakeTestClock = defineSignal('wakeTestClock');

/** `waiting`: a payment has no outcome yet. */
export type AdvanceState = 'done' | 'more' | 'waiting';

/** What the workflow may call. */
export interface TestClockActivities {
  advanceTestClock(args: { clockId: string }): Promise<AdvanceState>;
}
