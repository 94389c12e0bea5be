import { createHmac } from 'node:crypto';
import { standardKey } from './secret.js';

export interface SignatureInput {
  /** POSIX seconds of the event's creation. */
  createdAtSeconds: number;
  /** The bytes of `data` as they stand in the body. */
  data: string | Uint8Array;
  /** Every live secret, newest first. */
  secrets: readonly string[];
}

/** `t=<seconds>,v1=<hex>[,v1=<hex>…]`: HMAC-SHA256 over `<t>.<data>` with the whole secret string as key. */
export function signatureDigest(input: SignatureInput): string {
  const signatures = input.secrets.map((secret) => `v1=${digestHex(input.createdAtSeconds, input.data, secret)}`);
  return [`t=${input.createdAtSeconds}`, ...signatures].join(',');
}

export function digestHex(createdAtSeconds: number, data: string | Uint8Array, secret: string): string {
  return createHmac('sha256', secret).update(`${createdAtSeconds}.`).update(data).digest('hex');
}

export interface StandardInput {
  /** The event's public id. */
  id: string;
  /** POSIX seconds of this attempt. */
  attemptedAtSeconds: number;
  body: string | Uint8Array;
  secrets: readonly string[];
}

/** The three Standard Webhooks headers; one `v1,<base64>` per live secret, newest first. */
export function standardHeaders(input: StandardInput): Record<'webhook-id' | 'webhook-timestamp' | 'webhook-signature', string> {
  const signatures = input.secrets.map((secret) => `v1,${standardBase64(input, secret)}`);
  return {
    'webhook-id': input.id,
    'webhook-timestamp': String(input.attemptedAtSeconds),
    'webhook-signature': signatures.join(' '),
  };
}

export function standardBase64(input: Omit<StandardInput, 'secrets'>, secret: string): string {
  return createHmac('sha256', standardKey(secret))
    .update(`${input.id}.${input.attemptedAtSeconds}.`)
    .update(input.body)
    .digest('base64');
}
