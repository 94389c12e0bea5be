import { createHash } from 'node:crypto';
import { toUUID, typeidUnboxed } from 'typeid-js';

/** A new UUIDv7: rises with time, so primary keys stay dense. */
export function newId(): string {
  return toUUID(typeidUnboxed());
}

/** The same UUID for the same parts, for commands and rows that a second run must find again. */
export function derivedId(...parts: string[]): string {
  const hash = createHash('sha256').update(JSON.stringify(parts)).digest();
  hash[6] = (hash[6]! & 0x0f) | 0x80;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  const hex = hash.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}
