import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy, WorkflowNotFoundError, WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure, defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
import { DomainError } from '../errors/domain-error.js';

const status = defineSearchAttributeKey('SignalboxStatus', SearchAttributeType.KEYWORD);
const customer = defineSearchAttributeKey('SignalboxCustomer', SearchAttributeType.KEYWORD);
const account = defineSearchAttributeKey('SignalboxAccount', SearchAttributeType.KEYWORD);

/** How often a call is repeated when the workflow ended between our look and the call. */
const closingRetries = 3;

/** One run per object at a time; a new one where the last has ended. */
export const oneRun = {
  workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
  workflowIdConflictPolicy: WorkflowIdConflictPolicy.USE_EXISTING,
} as const;

/** What operators search by; ids are public. */
export function searchable(of: { status: string; account: string; customer: string | null }): TypedSearchAttributes {
  return new TypedSearchAttributes([
    { key: status, value: of.status },
    { key: account, value: of.account },
    ...(of.customer ? [{ key: customer, value: of.customer }] : []),
  ]);
}

/**
 * Calls again where the workflow ended under the call, or its worker lost it: the next one finds its next task, or starts a new run.
 * What is called must find out by itself whether it already ran.
 * @throws DomainError 503 `service_unavailable` where that happens again and again, for example by kills
 */
export async function untilAnswered<T>(call: () => Promise<T>): Promise<T> {
  for (let left = closingRetries; ; left -= 1) {
    try {
      return await call();
    } catch (error) {
      if (!isLost(error)) throw error;
      if (left === 0) throw new DomainError('service_unavailable', undefined, { retryAfterSeconds: 2 });
    }
  }
}

/**
 * Failures of an update that are the engine's own: its run ended after it was accepted; the worker completed the task without it, as an
 * overloaded one does ("unprocessed protocol messages"). Source: the server's `service/history/workflow/update/errors_failures.go`.
 */
const lostUpdates = new Set(['AcceptedUpdateCompletedWorkflow', 'UnprocessedUpdate']);

/** The workflow ended while it was called, a signal overtook its end, or its worker lost the call. */
function isLost(error: unknown): boolean {
  if (error instanceof DomainError) return false;
  if (error instanceof WorkflowNotFoundError) return true;
  if (!(error instanceof Error)) return false;
  const { cause } = error;
  if (error instanceof WorkflowUpdateFailedError) return cause instanceof ApplicationFailure && lostUpdates.has(cause.type ?? '');
  const text = `${error.message} ${cause instanceof Error ? cause.message : ''}`;
  return /workflow execution already completed|update.*aborted|unexpected workflow task failure/i.test(text);
}
