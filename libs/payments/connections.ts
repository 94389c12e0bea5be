import type { SecretBox } from '../db/secret.js';
import { DomainError, invalidField } from '../errors/domain-error.js';
import type { ProcessorKind } from '../processors/port.js';
import type { ProcessorRegistry } from '../processors/registry.js';
import type { WantedConnection } from '../processors/settings.js';

/** @throws DomainError 422 when this environment has no such kind, naming `kind`. */
export function requireKind(processors: ProcessorRegistry, kind: ProcessorKind): void {
  if (processors.supports(kind)) return;
  const msg = kind === 'simulator' ? 'The simulator exists in staging only' : `Connections of kind ${kind} cannot be made in this version`;
  throw invalidField('kind', msg, 'unsupported_kind');
}

/** @throws DomainError 422 naming what is wrong with the settings or credentials that a connection is to have. */
export function requireConnection(processors: ProcessorRegistry, kind: ProcessorKind, wanted: WantedConnection): void {
  const errors = processors.problemsOf(kind, wanted);
  if (errors.length === 0) return;
  throw new DomainError('invalid_request', `${errors[0]!.loc.slice(1).join('.')}: ${errors[0]!.msg}`, { errors });
}

/** Credentials as they are stored: sealed for this row, null where there are none. `openConnection` opens them. */
export function sealCredentials(secrets: SecretBox, processorId: string, credentials: Record<string, string> | null): string | null {
  if (credentials === null || Object.keys(credentials).length === 0) return null;
  return secrets.seal(JSON.stringify(credentials), { table: 'payment_processors', column: 'credentials_sealed', row: processorId });
}
