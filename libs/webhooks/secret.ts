import { randomBytes } from 'node:crypto';

const prefix = 'whsec_';
const form = /^whsec_(?:[A-Za-z0-9+/]{4})+(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;
const fewestBytes = 24;
const mostBytes = 64;
const fewestDifferentBytes = 8;

/** A new signing secret: `whsec_` and 32 random bytes in base64. It serves `signature-digest` and Standard Webhooks alike. */
export function mintSecret(): string {
  return `${prefix}${randomBytes(32).toString('base64')}`;
}

/** Why this cannot be a signing secret, or null: it is `whsec_` and 24 to 64 bytes in base64, as Standard Webhooks has it. */
export function refuseSecret(secret: string): string | null {
  if (!form.test(secret)) return 'a signing secret is whsec_ and base64';
  const key = Buffer.from(secret.slice(prefix.length), 'base64');
  if (`${prefix}${key.toString('base64')}` !== secret) return 'a signing secret is whsec_ and base64, with no bits left over';
  if (key.length < fewestBytes || key.length > mostBytes) return `a signing secret has ${fewestBytes} to ${mostBytes} bytes`;
  return new Set(key).size < fewestDifferentBytes ? 'a signing secret is random' : null;
}

/** The Standard Webhooks key: the bytes behind the prefix. Throws RangeError on any other form. */
export function standardKey(secret: string): Buffer {
  if (!form.test(secret)) throw new RangeError('a signing secret is whsec_ and bytes in base64');
  return Buffer.from(secret.slice(prefix.length), 'base64');
}
