import { createHash, createHmac, randomBytes } from 'node:crypto';
import { environmentMarker, environments, type Environment } from '../domain/environment.js';

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 32 random bytes in base 62. */
const randomLength = 43;
/** 4 bytes of SHA-256 over what stands before, in base 62. */
const checksumLength = 6;

export type TokenReading = { kind: 'ok'; hash: string } | { kind: 'malformed' } | { kind: 'other_environment' };

/** A new API token: `st_<prod|stg>_<43 random><6 checksum>`, 256 random bits. */
export function mintToken(environment: Environment): string {
  const body = `${prefixOf(environment)}${base62(randomBytes(32), randomLength)}`;
  return body + checksumOf(body);
}

/** Keyed hash under which a token is stored and looked up. */
export function hashToken(token: string, key: Buffer): string {
  return createHmac('sha256', key).update(token).digest('hex');
}

/** The first characters, to recognise a token in a list: they hold 24 of its 256 random bits. */
export function hintOf(token: string): string {
  return `${token.slice(0, token.lastIndexOf('_') + 5)}…`;
}

/** Tells without the database whether a token can be one of this environment; mistyped ones fail their checksum. */
export function readToken(token: string, environment: Environment, key: Buffer): TokenReading {
  const prefix = prefixOf(environment);
  if (environments.some((other) => other !== environment && token.startsWith(prefixOf(other)))) return { kind: 'other_environment' };
  const body = token.slice(0, -checksumLength);
  const wellFormed = token.startsWith(prefix) && token.length === prefix.length + randomLength + checksumLength;
  if (!wellFormed || checksumOf(body) !== token.slice(-checksumLength)) return { kind: 'malformed' };
  return { kind: 'ok', hash: hashToken(token, key) };
}

function prefixOf(environment: Environment): string {
  return `st_${environmentMarker[environment]}_`;
}

function checksumOf(body: string): string {
  return base62(createHash('sha256').update(body).digest().subarray(0, 4), checksumLength);
}

function base62(bytes: Buffer, length: number): string {
  let rest = BigInt(`0x${bytes.toString('hex')}`);
  let text = '';
  for (; rest > 0n; rest /= 62n) text = alphabet[Number(rest % 62n)]! + text;
  return text.padStart(length, '0');
}
