import { maskedHeader, mostHeaderBytes, mostHeaders } from '../domain/webhook/header-rules.js';
import { invalidField } from '../errors/domain-error.js';
import type { SecretBox } from './secret.js';

/** Lower-case name → value; null removes one. */
export type HeaderChanges = Record<string, string | null>;

/** Lower-case name → sealed value, as the row keeps it. */
export type SealedHeaders = Record<string, string>;

/** The headers of an endpoint in clear, for a post. */
export function openHeaders(endpointId: string, sealed: SealedHeaders | null, box: SecretBox): Record<string, string> {
  return Object.fromEntries(Object.entries(sealed ?? {}).map(([name, value]) => [name, box.open(value, headerPlace(endpointId, name))]));
}

/**
 * What is stored after a change: names that are not given stay, as do those whose value is the mask that an answer shows, and a value
 * that is the same keeps its seal. Null: none are left. @throws DomainError 422 naming `headers` when there are too many.
 */
export function changedHeaders(
  endpoint: { id: string; headers: SealedHeaders | null },
  changes: HeaderChanges | null,
  box: SecretBox,
): SealedHeaders | null {
  if (changes === null) return null;
  const values = openHeaders(endpoint.id, endpoint.headers, box);
  const sealed: SealedHeaders = { ...endpoint.headers };
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) {
      delete sealed[name];
      delete values[name];
    } else if (value === maskedHeader) {
      if (values[name] === undefined) throw invalidField(['headers', name], 'There is no such header yet', 'header_refused');
    } else if (values[name] !== value) {
      sealed[name] = box.seal(value, headerPlace(endpoint.id, name));
      values[name] = value;
    }
  }
  const names = Object.keys(values);
  if (names.length > mostHeaders) throw invalidField('headers', `At most ${mostHeaders} headers`, 'too_many');
  const bytes = names.reduce((sum, name) => sum + name.length + values[name]!.length, 0);
  if (bytes > mostHeaderBytes) throw invalidField('headers', `Names and values have at most ${mostHeaderBytes} bytes together`, 'too_large');
  return names.length === 0 ? null : sealed;
}

function headerPlace(endpointId: string, name: string) {
  return { table: 'webhook_endpoints', column: `headers.${name}`, row: endpointId };
}
