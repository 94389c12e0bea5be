import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { untilAnswered } from './workflow-options.js';

/** What the engine answers to an update that ended with its run, or that the worker's task did not mention. */
const lost = (type: string) => () => new WorkflowUpdateFailedError('Workflow Update failed', ApplicationFailure.create({ message: 'Lost.', type, nonRetryable: true }));
const ended = lost('AcceptedUpdateCompletedWorkflow');

function failing(times: number, error: () => Error) {
  const calls = { made: 0 };
  const call = async () => {
    calls.made += 1;
    if (calls.made <= times) throw error();
    return 'answered';
  };
  return { calls, call };
}

describe('a call to a workflow that ends under it', () => {
  it.each(['AcceptedUpdateCompletedWorkflow', 'UnprocessedUpdate'])('is made again, three times: %s', async (type) => {
    const { calls, call } = failing(3, lost(type));
    expect(await untilAnswered(call)).toBe('answered');
    expect(calls.made).toBe(4);
  });

  it('is unavailable, not refused, where the runs end again and again', async () => {
    const { calls, call } = failing(4, ended);
    await expect(untilAnswered(call)).rejects.toMatchObject({ code: 'service_unavailable', details: { retryAfterSeconds: 2 } });
    expect(calls.made).toBe(4);
  });

  it('is not repeated where it failed otherwise', async () => {
    const { calls, call } = failing(1, () => new WorkflowUpdateFailedError('Workflow Update failed', ApplicationFailure.create({ message: 'no such item' })));
    await expect(untilAnswered(call)).rejects.toThrow('Workflow Update failed');
    expect(calls.made).toBe(1);
  });
});
