import { createHash } from 'node:crypto';
import { v7 } from 'uuid';

/** A new UUIDv7: rises with time, so primary keys stay dense. */
export function newId(): string {
  return v7();
}

/** The same UUID for the same parts, for commands and rows that a second run must find again. */
export function derivedId(...parts: (string | number)[]): string {
  return formatted(hashOf(parts), 0x80);
}

/** Like `derivedId`, but a UUIDv7 of the same moment as `uuid`: for objects whose public id must keep its place in time. */
export function siblingId(uuid: string, ...parts: (string | number)[]): string {
  const bytes = hashOf([uuid, ...parts]);
  Buffer.from(uuid.replaceAll('-', '').slice(0, 12), 'hex').copy(bytes);
  return formatted(bytes, 0x70);
}

function hashOf(parts: (string | number)[]): Buffer {
  return createHash('sha256').update(JSON.stringify(parts)).digest().subarray(0, 16);
}

function formatted(bytes: Buffer, version: number): string {
  bytes[6] = (bytes[6]! & 0x0f) | version;
  bytes[8] = (bytes[8]! & 0x3f) | 0x80;
  const hex = bytes.toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** The lowest UUIDv7 of a moment: ids of rows made before it are lower. */
export function firstIdOf(moment: Date): string {
  const hex = Math.max(0, moment.getTime()).toString(16).padStart(12, '0');
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}
