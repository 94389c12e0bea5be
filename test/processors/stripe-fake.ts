import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Stripe } from 'stripe';
import { mint, Refused, StripeBook, type Thing } from './stripe-fake.book.js';

export const fakeKey = 'sk_test_fake';
export const fakeWebhookSecret = 'whsec_fake_one';

export type Fault =
  /** The connection is reset before anything happened, or after the request was carried out. */
  | 'drop_before' | 'drop_after'
  /** 500, before anything happened or after it did; both are kept under the key. */
  | 'error_before' | 'error_after'
  /** Carried out, and never answered. */
  | 'hang_after'
  | 'rate_limited' | 'locked' | 'not_json' | 'html';

interface Planned {
  path: RegExp;
  fault: Fault;
  left: number;
}

export interface Asked {
  method: string;
  path: string;
  key: string | null;
  headers: IncomingMessage['headers'];
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

interface Kept {
  fingerprint: string;
  answer: { status: number; body: unknown } | null;
}

/** Plays api.stripe.com: idempotency keys, states and errors as Stripe documents them, and faults on demand. */
export class StripeFake {
  readonly book = new StripeBook();
  readonly asked: Asked[] = [];
  private readonly kept = new Map<string, Kept>();
  private plans: Planned[] = [];
  private held: { path: RegExp; open: Promise<void> } | null = null;
  private readonly server = createServer((request, response) => void this.serve(request, response));

  static async open(): Promise<StripeFake> {
    const fake = new StripeFake();
    await new Promise<void>((resolve) => fake.server.listen(0, '127.0.0.1', resolve));
    return fake;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  /** The next `times` requests to such a path meet the fault. */
  plan(path: RegExp, fault: Fault, times = 1): void {
    this.plans.push({ path, fault, left: times });
  }

  /** Requests to such a path wait, not carried out yet, until the returned function is called. */
  hold(path: RegExp): () => void {
    let release!: () => void;
    this.held = { path, open: new Promise((resolve) => { release = resolve; }) };
    return () => {
      this.held = null;
      release();
    };
  }

  /** Requests to such a path, in order. */
  requests(path: RegExp): Asked[] {
    return this.asked.filter((each) => path.test(`${each.method} ${each.path}`));
  }

  intentOf(reference: string): Thing[] {
    return this.book.all('payment_intent').filter((intent) => intent.metadata.signalbox_reference === reference);
  }

  /** An event as Stripe posts it. `at`: epoch seconds of the signature. */
  event(type: string, object: Thing, { secret = fakeWebhookSecret, at, id = mint('evt') }: { secret?: string; at?: number; id?: string } = {}) {
    const body = JSON.stringify({ id, object: 'event', type, api_version: '2026-08-26.dahlia', created: Math.floor(Date.now() / 1_000), livemode: false, data: { object } });
    const signature = Stripe.webhooks.generateTestHeaderString({ payload: body, secret, ...(at === undefined ? {} : { timestamp: at }) });
    return { id, body, headers: { 'content-type': 'application/json', 'stripe-signature': signature } };
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private async serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { pathname, search } = new URL(request.url ?? '/', 'http://fake');
    const raw = request.method === 'GET' ? search.slice(1) : Buffer.concat(chunks).toString();
    const key = (request.headers['idempotency-key'] as string | undefined) ?? null;
    const asked: Asked = { method: request.method ?? '', path: pathname, key, headers: request.headers, body: nested(raw) };
    this.asked.push(asked);
    if (this.held?.path.test(`${asked.method} ${asked.path}`)) await this.held.open;
    const fault = this.faultFor(asked);
    if (fault === 'drop_before') return void request.socket.destroy();
    const answer = this.answer(asked, fault);
    if (fault === 'drop_after') return void request.socket.destroy();
    if (fault === 'hang_after') return;
    if (fault === 'not_json') return void response.writeHead(200, { 'content-type': 'application/json' }).end('{"object":');
    if (fault === 'html') return void response.writeHead(502, { 'content-type': 'text/html' }).end('<html>Bad gateway</html>');
    response.writeHead(answer.status, { 'content-type': 'application/json', 'request-id': mint('req') }).end(JSON.stringify(answer.body));
  }

  private faultFor({ method, path }: Asked): Fault | null {
    const plan = this.plans.find((each) => each.left > 0 && each.path.test(`${method} ${path}`));
    if (!plan) return null;
    plan.left -= 1;
    return plan.fault;
  }

  private answer(asked: Asked, fault: Fault | null): { status: number; body: unknown } {
    if (asked.headers.authorization !== `Bearer ${fakeKey}`) return refusal(401, { type: 'invalid_request_error', message: 'Invalid API Key provided: sk_test_****' });
    if (fault === 'rate_limited') return refusal(429, { type: 'rate_limit_error', code: 'rate_limit', message: 'Too many requests' });
    if (fault === 'locked') return refusal(429, { type: 'invalid_request_error', code: 'lock_timeout', message: 'This object cannot be accessed right now.' });
    if (!asked.key || asked.method !== 'POST') return this.carryOut(asked, fault).answer;
    const fingerprint = JSON.stringify([asked.path, asked.body]);
    const known = this.kept.get(asked.key);
    if (known && known.fingerprint !== fingerprint) return refusal(400, { type: 'idempotency_error', message: 'Keys for idempotent requests can only be used with the same parameters.' });
    if (known?.answer) return known.answer;
    const { answer, saved } = this.carryOut(asked, fault);
    if (saved) this.kept.set(asked.key, { fingerprint, answer });
    return answer;
  }

  private carryOut(asked: Asked, fault: Fault | null): { answer: { status: number; body: unknown }; saved: boolean } {
    const broken = refusal(500, { type: 'api_error', message: 'An unknown error occurred' });
    if (fault === 'error_before') return { answer: broken, saved: true };
    try {
      const body = JSON.parse(JSON.stringify(this.expanded(this.route(asked), asked.body.expand)));
      return { answer: fault === 'error_after' ? broken : { status: 200, body }, saved: true };
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      return { answer: fault === 'error_after' ? broken : refusal(error.status, error.error), saved: error.saved };
    }
  }

  private route({ method, path, body }: Asked): unknown {
    const [, , kind = '', id = '', verb = ''] = path.split('/');
    const { book } = this;
    switch (`${method} ${kind}${id ? '/:id' : ''}${verb ? `/${verb}` : ''}`) {
      case 'GET balance': return { object: 'balance', livemode: false, available: [], pending: [] };
      case 'POST payment_methods': return book.method(body.card.token);
      case 'GET payment_methods/:id': return book.get('payment_method', id);
      case 'POST payment_methods/:id/attach': return book.attach(id, body.customer);
      case 'POST customers': return book.customer(body.metadata);
      case 'POST setup_intents': return book.setup(body);
      case 'GET setup_intents': return list(book.all('setup_intent').filter((each) => each.payment_method === body.payment_method), body);
      case 'POST payment_intents': return book.intent(body);
      case 'GET payment_intents': return list(book.all('payment_intent').filter((each) => each.created >= Number(body.created.gte) && each.created < Number(body.created.lt)), body);
      case 'GET payment_intents/:id': return book.get('payment_intent', id);
      case 'POST payment_intents/:id/confirm': return book.confirm(id, body);
      case 'POST payment_intents/:id/capture': return book.capture(id, Number(body.amount_to_capture));
      case 'POST payment_intents/:id/cancel': return book.cancel(id);
      case 'POST refunds': return book.refund(body);
      case 'GET refunds': return list(book.all('refund').filter((each) => each.payment_intent === body.payment_intent), body);
      case 'GET disputes': return list(book.all('dispute').filter((each) => each.payment_intent === body.payment_intent), body);
      default: throw new Refused(404, { type: 'invalid_request_error', message: `Unrecognized request URL (${method}: ${path}).` });
    }
  }

  /** Only `latest_charge` and its refunds can be expanded. */
  private expanded(answer: unknown, expand: unknown): unknown {
    const paths = Object.values((expand ?? {}) as Record<string, string>);
    const charge = (intent: Thing) => {
      const found = intent.latest_charge ? this.book.get('charge', intent.latest_charge) : null;
      const refunds = paths.includes('data.latest_charge.refunds') ? { refunds: { data: this.book.all('refund').filter((each) => each.charge === found?.id), has_more: false } } : {};
      return { ...intent, latest_charge: found && { ...found, ...refunds } };
    };
    if (paths.includes('latest_charge')) return charge(answer as Thing);
    if (paths.includes('data.latest_charge')) return { ...(answer as object), data: (answer as { data: Thing[] }).data.map(charge) };
    return answer;
  }
}

function refusal(status: number, error: object): { status: number; body: unknown } {
  return { status, body: { error } };
}

function list(things: Thing[], { limit = '10', starting_after: after }: { limit?: string; starting_after?: string }): object {
  const from = after ? things.findIndex((thing) => thing.id === after) + 1 : 0;
  const data = things.slice(from, from + Number(limit));
  return { object: 'list', data, has_more: from + data.length < things.length };
}

/** `a[b][c]=1` → `{ a: { b: { c: '1' } } }`. */
function nested(form: string): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const [name, value] of new URLSearchParams(form)) {
    const keys = name.split(/[[\]]+/).filter((part) => part !== '');
    let at = found;
    for (const key of keys.slice(0, -1)) at = (at[key] ??= {}) as Record<string, unknown>;
    at[keys.at(-1)!] = value;
  }
  return found;
}
