import { randomBytes } from 'node:crypto';

const form = /^whsec_[A-Za-z0-9+/]{43}=$/;

/** A new signing secret: `whsec_` and 32 random bytes in base64. It serves `signature-digest` and Standard Webhooks alike. */
export function mintSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** The Standard Webhooks key: the bytes behind the prefix. Throws RangeError on any other form. */
export function standardKey(secret: string): Buffer {
  if (!form.test(secret)) throw new RangeError('a signing secret is whsec_ and 32 bytes in base64');
  return Buffer.from(secret.slice('whsec_'.length), 'base64');
}
