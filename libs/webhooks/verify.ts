import { timingSafeEqual } from 'node:crypto';
import { dataText, type DataFormat } from './payload.js';
import { digestHex, standardBase64 } from './signature.js';

export interface ReceivedWebhook {
  /** Header names in lower case. */
  headers: Record<string, string | string[] | undefined>;
  /** The raw body, before any parsing. */
  body: string;
  /** One or more secrets; one match is enough. */
  secrets: readonly string[];
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

/** What a receiver runs: Standard Webhooks first (whole body, age of the attempt), then `signature-digest`. */
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
  const attemptedAtSeconds = Number(timestamp);
  if (!Number.isInteger(attemptedAtSeconds)) return refuse('webhook-timestamp is not an integer');
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

function signedText(body: string, format: DataFormat): string | null {
  try {
    if (format === 'object') return dataText(body);
    const data: unknown = (JSON.parse(body) as { data?: unknown }).data;
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
