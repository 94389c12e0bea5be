import type { Connection, Deadlines } from '../port.js';
import { Wire, type WireResult } from '../wire.js';
import { addressProblem, type PeerPolicy } from './http.settings.js';
import { sign, signatureHeader, signatureOf, verify } from './http.signature.js';

export interface Asked {
  method: 'GET' | 'POST';
  /** Below the base address, with its query. */
  path: string;
  /** Of everything that changes something. */
  idempotencyKey?: string;
  body?: object;
  /** Bytes; default: what the wire usually takes. */
  longestAnswer?: number;
}

export interface Reached {
  /** `settings.base_url`. */
  baseUrl: unknown;
  /** Newest first; the first signs. */
  secrets: readonly string[];
  deadlines: Deadlines;
}

/** Newest first. */
export function secretsOf({ credentials }: Pick<Connection, 'credentials'>): string[] {
  return [credentials?.secret, credentials?.previous_secret].filter((secret) => secret !== undefined && secret !== '') as string[];
}

/** A provider, reached with both sides signing. An answer without a valid signature counts as none: what it says is not passed on. */
export class HttpPeer {
  private readonly wire = new Wire();

  constructor(private readonly policy: PeerPolicy) {}

  async exchange(reached: Reached, asked: Asked): Promise<WireResult> {
    const { baseUrl, secrets } = reached;
    const problem = typeof baseUrl === 'string' ? addressProblem(baseUrl, this.policy) : 'the connection has no base_url';
    if (problem) return { kind: 'not_sent', reason: problem };
    if (!secrets[0]) return { kind: 'not_sent', reason: 'the connection has no secret' };
    const base = new URL(baseUrl as string);
    const target = base.pathname.replace(/\/+$/, '') + asked.path;
    const body = asked.body === undefined ? '' : JSON.stringify(asked.body);
    const idempotencyKey = asked.idempotencyKey ?? '';
    const signature = sign(secrets[0], { kind: 'request', method: asked.method, target, idempotencyKey, body }, nowSeconds());
    const headers: Record<string, string> = { accept: 'application/json', [signatureHeader]: signature };
    if (asked.body !== undefined) headers['content-type'] = 'application/json';
    if (idempotencyKey) headers['idempotency-key'] = idempotencyKey;
    const request = { origin: base.origin, path: target, method: asked.method, headers, body: body || undefined, longestAnswer: asked.longestAnswer };
    const result = await this.wire.exchange(request, reached.deadlines);
    return result.kind === 'answered' ? believed(result, { signature, secrets }) : result;
  }

  close(): Promise<void> {
    return this.wire.close();
  }
}

function believed(result: Extract<WireResult, { kind: 'answered' }>, { signature, secrets }: { signature: string; secrets: readonly string[] }): WireResult {
  const header = result.headers[signatureHeader];
  const signed = { kind: 'answer' as const, status: result.status, request: signatureOf(signature), body: result.body };
  const verdict = verify(typeof header === 'string' ? header : undefined, signed, { secrets, nowSeconds: nowSeconds() });
  if (verdict.valid) return result;
  return { kind: 'lost', reason: `answered ${result.status}, but not to be believed: ${verdict.reason}` };
}

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000);
}
