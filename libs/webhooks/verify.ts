import { timingSafeEqual } from 'node:crypto';
import { dataBytes, type DataFormat } from './payload.js';
import { digestHex, standardBase64 } from './signature.js';

export interface ReceivedWebhook {
  /** Names in lower case, as Node gives them. */
  headers: Record<string, string | string[] | undefined>;
  /** The raw body as it came: parsed and rendered again it is another one. */
  body: string | Uint8Array;
  /** Every live secret of the endpoint (`GET /webhook-endpoints/{id}/reveal_secret`, `secrets`); one match is enough. */
  secrets: readonly string[];
  /** The endpoint's `data_format`; `object` by default. */
  format?: DataFormat;
}

export interface VerifyOptions {
  /** The receiver's clock, POSIX seconds. */
  nowSeconds: number;
  /** How far an attempt's time may be from the receiver's clock. */
  toleranceSeconds?: number;
}

export type Verdict = { valid: true } | { valid: false; reason: string };

const defaultTolerance = 300;

/**
 * What a receiver runs before it believes a webhook: the Standard Webhooks headers first (the whole body, and the age of this attempt),
 * then `signature-digest` (the bytes of `data`). Compares in constant time; never throws for what was received.
 *
 * @example
 * const verdict = verifyWebhook({ headers: request.headers, body: rawBody, secrets: [secret] }, { nowSeconds: Date.now() / 1000 });
 * if (!verdict.valid) return response.writeHead(400).end(verdict.reason);
 */
export function verifyWebhook(received: ReceivedWebhook, options: VerifyOptions): Verdict {
  const standard = verifyStandard(received, options);
  return standard.valid ? verifySignatureDigest(received) : standard;
}

/** The Standard Webhooks headers alone. */
export function verifyStandard({ headers, body, secrets }: ReceivedWebhook, options: VerifyOptions): Verdict {
  const id = header(headers, 'webhook-id');
  const timestamp = header(headers, 'webhook-timestamp');
  const signature = header(headers, 'webhook-signature');
  if (!id || !timestamp || !signature) return refuse('a webhook-* header is missing');
  if (!/^\d{1,12}$/.test(timestamp)) return refuse('webhook-timestamp is not an integer');
  const attemptedAtSeconds = Number(timestamp);
  if (Math.abs(options.nowSeconds - attemptedAtSeconds) > (options.toleranceSeconds ?? defaultTolerance)) {
    return refuse('webhook-timestamp is outside the tolerance');
  }
  const expected = secrets.map((secret) => standardBase64({ id, attemptedAtSeconds, body }, secret));
  const offered = versions(signature.split(' '), ',');
  return offered.some((candidate) => expected.some((value) => equal(candidate, value))) ? { valid: true } : refuse('no webhook-signature matches');
}

/** `signature-digest` alone: at least one v1 pair must match one of the secrets; other versions are ignored. */
export function verifySignatureDigest({ headers, body, secrets, format = 'object' }: ReceivedWebhook): Verdict {
  const value = header(headers, 'signature-digest');
  const match = value && /^t=(\d+),(.+)$/.exec(value);
  if (!match) return refuse('signature-digest is missing or malformed');
  const signed = signedText(body, format);
  if (signed === null) return refuse('the body has no data');
  const offered = versions(match[2]!.split(','), '=');
  const expected = secrets.map((secret) => digestHex(Number(match[1]), signed, secret));
  return offered.some((candidate) => expected.some((digest) => equal(candidate, digest))) ? { valid: true } : refuse('no v1 signature matches');
}

function signedText(body: string | Uint8Array, format: DataFormat): string | Uint8Array | null {
  try {
    if (format === 'object') return dataBytes(body);
    const data: unknown = (JSON.parse(Buffer.from(body).toString()) as { data?: unknown } | null)?.data;
    return typeof data === 'string' ? data : null;
  } catch {
    return null;
  }
}

function versions(pairs: string[], separator: ',' | '='): string[] {
  const prefix = `v1${separator}`;
  return pairs.filter((pair) => pair.startsWith(prefix)).map((pair) => pair.slice(prefix.length));
}

function header(headers: ReceivedWebhook['headers'], name: string): string | null {
  const value = headers[name];
  return (Array.isArray(value) ? value[0] : value) ?? null;
}

function equal(a: string, b: string): boolean {
  const left = Buffer.from(a);
  const right = Buffer.from(b);
  return left.length === right.length && timingSafeEqual(left, right);
}

function refuse(reason: string): Verdict {
  return { valid: false, reason };
}
