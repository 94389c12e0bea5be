import { createHmac, randomBytes } from 'node:crypto';
import type { SecretBox } from './secret.js';

/** The credential in a page's address: 256 random bits, 43 characters. */
export function mintLinkToken(): string {
  return randomBytes(32).toString('base64url');
}

export function isLinkToken(text: string): boolean {
  return /^[A-Za-z0-9_-]{43}$/.test(text);
}

export function hashLinkToken(token: string, key: Buffer): string {
  return keyedHash(key, 'payment link token', token);
}

/** Tells the same address or card again without holding it. `purpose` keeps the hashes of different things apart. */
export function keyedHash(key: Buffer, purpose: string, ...parts: string[]): string {
  return createHmac('sha256', key).update(JSON.stringify([purpose, ...parts])).digest('base64url');
}

export function sealLinkToken(secrets: SecretBox, linkId: string, token: string): string {
  return secrets.seal(token, place(linkId));
}

export function openLinkToken(secrets: SecretBox, link: { id: string; tokenSealed: string }): string {
  return secrets.open(link.tokenSealed, place(link.id));
}

function place(row: string) {
  return { table: 'payment_links', column: 'token_sealed', row };
}
