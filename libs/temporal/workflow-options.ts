import { WorkflowIdConflictPolicy, WorkflowIdReusePolicy, WorkflowNotFoundError } from '@temporalio/client';
import { defineSearchAttributeKey, SearchAttributeType, TypedSearchAttributes } from '@temporalio/common';
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
 * Calls again where the workflow ended under the call: the next one finds its next task, or starts a new run.
 * @throws DomainError 503 `service_unavailable` where its runs end again and again, for example by kills
 */
export async function throughItsEnd<T>(call: () => Promise<T>): Promise<T> {
  for (let left = closingRetries; ; left -= 1) {
    try {
      return await call();
    } catch (error) {
      if (!isClosing(error)) throw error;
      if (left === 0) throw new DomainError('service_unavailable', undefined, { retryAfterSeconds: 2 });
    }
  }
}

/** The workflow ended while it was called, or a signal overtook its end. */
function isClosing(error: unknown): boolean {
  if (error instanceof DomainError) return false;
  if (error instanceof WorkflowNotFoundError) return true;
  const text = error instanceof Error ? `${error.message} ${error.cause instanceof Error ? error.cause.message : ''}` : '';
  return /workflow execution already completed|completed before|update.*aborted|unexpected workflow task failure/i.test(text);
}
