import { DomainError, invalidField } from '../../../../libs/errors/domain-error.js';
import type { Environment } from '../../../../libs/domain/environment.js';
import { kindName, parsePublicId, type IdKind } from '../../../../libs/views/ids.js';

interface Place {
  environment: Environment;
}

/** The UUID of an id in a path. @throws DomainError 404 when it is malformed, of another kind or environment. */
export function pathId(kind: IdKind, id: string, { environment }: Place): string {
  const uuid = parsePublicId(kind, environment, id);
  if (uuid === null) throw new DomainError('not_found', `No such ${kindName(kind)}.`);
  return uuid;
}

/** The UUID of an id in a body. @throws DomainError 422 naming the field when it is malformed, of another kind or environment. */
export function bodyId(field: string, kind: IdKind, id: string, { environment }: Place): string {
  const uuid = parsePublicId(kind, environment, id);
  if (uuid === null) throw unknownReference(field, kind);
  return uuid;
}

/** 422 for a body's id that names nothing in this account. */
export function unknownReference(field: string, kind: IdKind): DomainError {
  return invalidField(field, `No such ${kindName(kind)}`, 'unknown_reference');
}
