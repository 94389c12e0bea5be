import { createHmac, timingSafeEqual } from 'node:crypto';

/** Carries a signature on requests, answers and callbacks. */
export const signatureHeader = 'signalbox-signature';
/** How far the clocks of both sides may be apart, network included. */
export const toleranceSeconds = 300;

/** What is signed. `target`: the path with its query, as it is sent. */
export type Signed =
  | { kind: 'request'; method: string; target: string; idempotencyKey: string; body: string }
  /** `request` is the `v1` of the request that is answered: an answer proves which question it belongs to. */
  | { kind: 'answer'; status: number; request: string; body: string }
  | { kind: 'callback'; body: Uint8Array | string };

export type Verdict = { valid: true } | { valid: false; reason: string };

/** Names a secret without telling it, so that both sides can hold two while one replaces the other. */
export function keyId(secret: string): string {
  return createHmac('sha256', secret).update('key-id').digest('hex').slice(0, 16);
}

/** The header's value: `t=<unix seconds>,k=<key id>,v1=<hex>`. */
export function sign(secret: string, signed: Signed, atSeconds: number): string {
  return `t=${atSeconds},k=${keyId(secret)},v1=${digest(secret, signed, atSeconds)}`;
}

/** The `v1` of a header's value; empty if it has none. */
export function signatureOf(header: string): string {
  return /(?:^|,)v1=([0-9a-f]{64})(?:,|$)/.exec(header)?.[1] ?? '';
}

export interface Verifier {
  /** Newest first. */
  secrets: readonly string[];
  nowSeconds: number;
}

/** Checks key, age and signature, the last in constant time. */
export function verify(header: string | undefined, signed: Signed, { secrets, nowSeconds }: Verifier): Verdict {
  if (!header) return { valid: false, reason: `no ${signatureHeader} header` };
  const parts = /^t=(\d{1,12}),k=([0-9a-f]{16}),v1=([0-9a-f]{64})$/.exec(header);
  if (!parts) return { valid: false, reason: `malformed ${signatureHeader} header` };
  const [, at, key, given] = parts as unknown as [string, string, string, string];
  const secret = secrets.find((each) => keyId(each) === key);
  if (!secret) return { valid: false, reason: `signed with the unknown key ${key}` };
  const expected = digest(secret, signed, Number(at));
  if (!timingSafeEqual(Buffer.from(expected), Buffer.from(given))) return { valid: false, reason: 'wrong signature' };
  if (Math.abs(nowSeconds - Number(at)) > toleranceSeconds) return { valid: false, reason: `signed more than ${toleranceSeconds} s away from now` };
  return { valid: true };
}

function digest(secret: string, signed: Signed, atSeconds: number): string {
  return createHmac('sha256', secret).update(`${head(signed, atSeconds)}\n`).update(signed.body).digest('hex');
}

function head(signed: Signed, atSeconds: number): string {
  switch (signed.kind) {
    case 'request':
      return ['request', atSeconds, signed.method, signed.target, signed.idempotencyKey].join('\n');
    case 'answer':
      return ['answer', atSeconds, signed.status, signed.request].join('\n');
    case 'callback':
      return ['callback', atSeconds].join('\n');
  }
}
