import { createHmac, timingSafeEqual } from 'node:crypto';

/** Carries the signature of a callback: `t=<unix seconds>,v1=<hex>`. */
export const callbackSignatureHeader = 'simulator-signature';

/** How old, or how far in the future, a signature may be. */
export const callbackToleranceSeconds = 300;

interface SignedCallback {
  /** UUID of the connection: each has a key of its own. */
  connectionId: string;
  body: Uint8Array | string;
  atSeconds: number;
}

export function signCallback(secret: Buffer, signed: SignedCallback): string {
  return `t=${signed.atSeconds},v1=${digest(secret, signed)}`;
}

/** Why the signature is refused; null if it is good. */
export function signatureProblem(secret: Buffer, header: string | undefined, signed: Omit<SignedCallback, 'atSeconds'> & { nowSeconds: number }): string | null {
  if (!header) return `no ${callbackSignatureHeader} header`;
  const [, t, given] = /^t=(\d{1,12}),v1=([0-9a-f]{64})$/.exec(header) ?? [];
  if (t === undefined || given === undefined) return `malformed ${callbackSignatureHeader} header`;
  const atSeconds = Number(t);
  const expected = digest(secret, { ...signed, atSeconds });
  if (!timingSafeEqual(Buffer.from(expected), Buffer.from(given))) return 'wrong signature';
  return Math.abs(signed.nowSeconds - atSeconds) > callbackToleranceSeconds ? `signed more than ${callbackToleranceSeconds} s away from now` : null;
}

function digest(secret: Buffer, { connectionId, body, atSeconds }: SignedCallback): string {
  const key = createHmac('sha256', secret).update(`callbacks of ${connectionId}`).digest();
  return createHmac('sha256', key).update(`${atSeconds}.`).update(body).digest('hex');
}
