import { isTemporalOutage, isWorkflowTaskFailed } from './connection.js';

function grpcError(code: number, message: string): Error {
  return Object.assign(new Error(message), { code, metadata: {} });
}

const taskFailed = 'Unable to perform workflow execution update due to Workflow Task in failed state.';

describe('an error of the client', () => {
  it.each([
    [4, 'deadline exceeded'],
    [8, 'resource exhausted'],
    [14, 'unavailable'],
  ])('with status %i is an outage, also as a cause', (code, message) => {
    expect(isTemporalOutage(grpcError(code, message))).toBe(true);
    expect(isTemporalOutage(new Error('outer', { cause: grpcError(code, message) }))).toBe(true);
    expect(isWorkflowTaskFailed(grpcError(code, message))).toBe(false);
  });

  it('is an outage while the workflow waits for a worker that was killed', () => {
    const refused = Object.assign(new Error(taskFailed), { code: 9 });
    expect([isWorkflowTaskFailed(refused), isTemporalOutage(new Error('outer', { cause: refused }))]).toEqual([true, true]);
  });

  it('is ours otherwise', () => {
    expect(isTemporalOutage(grpcError(9, 'another precondition'))).toBe(false);
    expect(isTemporalOutage(grpcError(3, taskFailed))).toBe(false);
    expect(isTemporalOutage(Object.assign(new Error('no metadata'), { code: 14 }))).toBe(false);
    expect(isTemporalOutage(null)).toBe(false);
  });
});
