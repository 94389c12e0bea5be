import { ApplicationFailure } from '@temporalio/common';
import { DomainError, type ErrorDetails } from '../errors/domain-error.js';
import { catalogue, type ErrorCode } from '../errors/catalogue.js';

/** Type of every failure that carries a refusal of the business through Temporal. */
export const domainFailureType = 'DomainError';

interface Carried {
  code: ErrorCode;
  details: ErrorDetails;
}

/** A refusal travels as it is and is never retried; what may pass by itself (`version_conflict`) and unknown errors are retried. */
export function toFailure(error: unknown): unknown {
  if (!(error instanceof DomainError) || error.code === 'version_conflict') return error;
  const carried: Carried = { code: error.code, details: error.details };
  return ApplicationFailure.create({ message: error.message, type: domainFailureType, nonRetryable: true, details: [carried] });
}

/** The refusal inside a failure that a client or a workflow received, however deeply it is wrapped; null if there is none. */
export function fromFailure(error: unknown): DomainError | null {
  for (let current = error, depth = 0; current instanceof Error && depth < 8; current = current.cause, depth += 1) {
    if (!(current instanceof ApplicationFailure) || current.type !== domainFailureType) continue;
    const [carried] = (current.details ?? []) as Carried[];
    if (carried && carried.code in catalogue) return new DomainError(carried.code, current.message, carried.details);
  }
  return null;
}
