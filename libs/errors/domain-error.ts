import { catalogue, type ErrorCode } from './catalogue.js';

/** One problem in the input: where it is (path from the body's root), what is wrong, and a stable kind. */
export interface FieldProblem {
  loc: (string | number)[];
  msg: string;
  type: string;
}

export interface ErrorDetails {
  /** For 422: one entry per offending field. */
  errors?: FieldProblem[];
  /** Seconds after which the caller may try again; becomes `Retry-After`. */
  retryAfterSeconds?: number;
  /** Extra members of the problem document, for example `payment_intent_id`. */
  extra?: Record<string, unknown>;
}

/** The only error that crosses rooms. `code` is one of the catalogue; `message` is safe to show to the caller. */
export class DomainError extends Error {
  override readonly name = 'DomainError';

  constructor(
    readonly code: ErrorCode,
    message?: string,
    readonly details: ErrorDetails = {},
  ) {
    super(message ?? catalogue[code].title);
  }

  get http(): number {
    return catalogue[this.code].http;
  }
}

/** 422 on one field of the body. */
export function invalidField(loc: string | (string | number)[], msg: string, type = 'value_error'): DomainError {
  const path = Array.isArray(loc) ? loc : loc.split('.');
  return new DomainError('invalid_request', `${path.join('.')}: ${msg}`, {
    errors: [{ loc: ['body', ...path], msg, type }],
  });
}

export function notFound(what: string): DomainError {
  return new DomainError('not_found', `No such ${what}.`);
}
