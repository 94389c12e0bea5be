import { randomUUID } from 'node:crypto';
import { createHttpAdapter } from '../../../../libs/processors/http/http.adapter.js';
import { refusalShape } from '../../../../libs/processors/http/http.contract.js';
import { sign, signatureHeader, signatureOf, verify, type Signed } from '../../../../libs/processors/http/http.signature.js';
import type { AuthorizeCall, Connection, OperationOutcome, PaymentOutcome, ProcessorAdapter } from '../../../../libs/processors/port.js';
import { Wire } from '../../../../libs/processors/wire.js';
import { Broken, holds, NotOffered, same } from './check.js';

export interface TrialOptions {
  url: string;
  secret: string;
  /** Where this machine receives callbacks; null: none are awaited. */
  callbackUrl: string | null;
}

/** A request that the adapter would never make. */
export interface Forged {
  method?: 'GET' | 'POST';
  path: string;
  body?: string;
  key?: string;
  /** Replaces the signature; null sends none. */
  signature?: (right: string) => string | null;
  /** What is signed instead of what is sent. */
  signedAs?: Partial<Extract<Signed, { kind: 'request' }>>;
  atSeconds?: number;
}

export interface Refusal {
  status: number;
  code: string;
}

const deadlines = { connectMs: 5_000, totalMs: 20_000 };

/** A provider under test: reached as Signalbox reaches it (`adapter`), and as it never would (`forge`). */
export class Trial {
  readonly connection: Connection;
  readonly adapter: ProcessorAdapter = createHttpAdapter({ allowLoopback: true });
  private readonly wire = new Wire();
  private readonly run = randomUUID().slice(0, 8);
  private readonly methods = new Map<string, Promise<string>>();
  private count = 0;

  constructor(readonly options: TrialOptions) {
    const settings = { base_url: options.url, list: true };
    this.connection = { id: this.run, publicId: this.run, kind: 'http', settings, credentials: { secret: options.secret }, deadlines };
  }

  /** A reference that was never used. */
  fresh(what: string): string {
    return `conformance-${this.run}-${(this.count += 1)}-${what}`;
  }

  identity(what: string): { reference: string; idempotencyKey: string } {
    const reference = this.fresh(what);
    return { reference, idempotencyKey: reference };
  }

  /** A stored payment method of a sandbox token, made once per run. */
  method(token: string): Promise<string> {
    const known = this.methods.get(token) ?? this.tokenise(token);
    this.methods.set(token, known);
    return known;
  }

  private async tokenise(token: string): Promise<string> {
    const made = await this.adapter.tokenise(this.connection, { ...this.identity('method'), source: { token } });
    same(`POST /payment-methods with ${token}`, told(made), 'approved');
    return made.theirPaymentMethodId!;
  }

  /** @throws NotOffered where the sandbox does not know the token, which the contract leaves open. */
  async offered(token: string): Promise<void> {
    const made = await this.adapter.tokenise(this.connection, { ...this.identity('method'), source: { token } });
    if (made.rawCode === 'unknown_token') throw new NotOffered(`the sandbox has no ${token}`);
  }

  async call(token = 'tok_approved', more: Partial<AuthorizeCall> = {}): Promise<AuthorizeCall> {
    const theirPaymentMethodId = await this.method(token);
    return {
      ...this.identity('payment'), amountAtom: 2_500, currency: 'eur', capture: 'automatic', theirPaymentMethodId, offSession: false,
      callbackUrl: null, ...more,
    };
  }

  pay(call: AuthorizeCall): Promise<PaymentOutcome> {
    return this.adapter.authorize(this.connection, call);
  }

  /** An approved payment. */
  async paid(more: Partial<AuthorizeCall> = {}): Promise<{ call: AuthorizeCall; id: string }> {
    const call = await this.call('tok_approved', more);
    const outcome = await this.pay(call);
    same('the payment', told(outcome), 'approved');
    return { call, id: outcome.processorPaymentId! };
  }

  part(id: string, amountAtom: number, identity = this.identity('part')) {
    return { ...identity, processorPaymentId: id, amountAtom, currency: 'eur' };
  }

  /** What a look-up finds under a payment's reference. */
  async found(call: AuthorizeCall) {
    const answer = await this.adapter.lookup(this.connection, { operation: 'authorize', ...call });
    if (answer.found === 'unknown') throw new Broken(`the look-up failed: ${answer.outcome.rawMessage}`);
    return answer;
  }

  /** How many payments stand under a reference. */
  async countOf(reference: string): Promise<number> {
    const { body } = await this.forge({ method: 'GET', path: `/payments/by-reference?reference=${encodeURIComponent(reference)}` });
    const list = jsonOf(body) as { data?: unknown[] } | null;
    holds(Array.isArray(list?.data), 'the look-up answers no `data`');
    return list.data.length;
  }

  async forge({ method = 'POST', path, body = '', key = '', signature = (right) => right, signedAs = {}, atSeconds }: Forged) {
    const base = new URL(this.options.url);
    const target = base.pathname.replace(/\/+$/, '') + path;
    const now = Math.floor(Date.now() / 1000);
    const signed = { kind: 'request' as const, method, target, idempotencyKey: key, body, ...signedAs };
    const header = signature(sign(this.options.secret, signed, atSeconds ?? now));
    const headers: Record<string, string> = { 'content-type': 'application/json' };
    if (header !== null) headers[signatureHeader] = header;
    if (key) headers['idempotency-key'] = key;
    const result = await this.wire.exchange({ origin: base.origin, path: target, method, headers, body: method === 'POST' ? body : undefined }, deadlines);
    if (result.kind !== 'answered') throw new Broken(`no answer: ${result.reason}`);
    const answer = { kind: 'answer' as const, status: result.status, request: signatureOf(header ?? ''), body: result.body };
    const given = result.headers[signatureHeader];
    const verdict = verify(typeof given === 'string' ? given : undefined, answer, { secrets: [this.options.secret], nowSeconds: now });
    return { status: result.status, body: result.body, verdict };
  }

  /** The refusal that a forged request gets. @throws Broken if it is not refused, or not in the contract's format. */
  async refusal(forged: Forged): Promise<Refusal> {
    const { status, body, verdict } = await this.forge(forged);
    const parsed = refusalShape.safeParse(jsonOf(body));
    holds(status >= 400 && status < 500, `answered ${status}, expected a refusal`);
    holds(parsed.success, `answered ${status} with a body that is not a refusal: ${body.slice(0, 200)}`);
    holds(verdict.valid, `the refusal with ${status} is not rightly signed: ${verdict.valid ? '' : verdict.reason}`);
    return { status, code: parsed.data.error.code };
  }

  async close(): Promise<void> {
    await Promise.all([this.adapter.close(), this.wire.close()]);
  }
}

/** An outcome in a word or two, for comparing and for people. */
export function told(outcome: PaymentOutcome | OperationOutcome): string {
  const detail = outcome.outcomeClass === 'unknown' || outcome.outcomeClass === 'mismatch' || outcome.outcomeClass === 'not_sent' ? outcome.rawMessage : outcome.rawCode;
  return outcome.outcomeClass === 'approved' || outcome.outcomeClass === 'pending' ? outcome.outcomeClass : `${outcome.outcomeClass}: ${detail}`;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
