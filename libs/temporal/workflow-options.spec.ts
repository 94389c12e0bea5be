import { WorkflowUpdateFailedError } from '@temporalio/client';
import { throughItsEnd } from './workflow-options.js';

/** What the engine answers to an update whose run was ended. */
const ended = () => new WorkflowUpdateFailedError('Workflow Update failed', new Error('Workflow Update failed because the Workflow completed before the Update completed.'));

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
  it('is made again, three times', async () => {
    const { calls, call } = failing(3, ended);
    expect(await throughItsEnd(call)).toBe('answered');
    expect(calls.made).toBe(4);
  });

  it('is unavailable, not refused, where the runs end again and again', async () => {
    const { calls, call } = failing(4, ended);
    await expect(throughItsEnd(call)).rejects.toMatchObject({ code: 'service_unavailable', details: { retryAfterSeconds: 2 } });
    expect(calls.made).toBe(4);
  });

  it('is not repeated where it failed otherwise', async () => {
    const { calls, call } = failing(1, () => new WorkflowUpdateFailedError('Workflow Update failed', new Error('no such item')));
    await expect(throughItsEnd(call)).rejects.toThrow('Workflow Update failed');
    expect(calls.made).toBe(1);
  });
});
