import { timingSafeEqual } from 'node:crypto';
import { newId } from '../../../../libs/db/mint.js';
import { keyedHash } from '../../../../libs/db/payment-link-token.js';

const purpose = 'payment form';
const lifetimeMs = 24 * 3600_000;

/** One form of one link: its id becomes the id of the one payment that it can make. */
export interface Form {
  /** UUIDv7, minted when the page was first shown. */
  id: string;
  /** What the page and the cookie carry: the id, signed for this link. */
  token: string;
  /** Too old to begin a payment; one that began goes on. */
  isOld: boolean;
}

export function mintForm(linkId: string, key: Buffer): Form {
  const id = newId();
  return { id, token: `${encode(id)}.${keyedHash(key, purpose, linkId, id)}`, isOld: false };
}

/** Null unless this service made it for this link. */
export function readForm(linkId: string, token: string | undefined, { key, now }: { key: Buffer; now: Date }): Form | null {
  const [, encoded, signature] = /^([A-Za-z0-9_-]{22})\.([A-Za-z0-9_-]{43})$/.exec(token ?? '') ?? [];
  if (encoded === undefined || signature === undefined) return null;
  const id = decode(encoded);
  if (!timingSafeEqual(Buffer.from(signature), Buffer.from(keyedHash(key, purpose, linkId, id)))) return null;
  return { id, token: token!, isOld: now.getTime() - mintedAt(id) > lifetimeMs };
}

function encode(id: string): string {
  return Buffer.from(id.replaceAll('-', ''), 'hex').toString('base64url');
}

function decode(encoded: string): string {
  const hex = Buffer.from(encoded, 'base64url').toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}

/** A UUIDv7 begins with its milliseconds since 1970. */
function mintedAt(id: string): number {
  return Number.parseInt(id.replaceAll('-', '').slice(0, 12), 16);
}
