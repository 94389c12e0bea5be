import { randomUUID } from 'node:crypto';

export type Json = Record<string, any>;

export interface CallOptions {
  body?: unknown;
  /** Statuses that count as the expected answer; anything else ends the tour. */
  expect: number | number[];
  token?: string;
  /** Sends this `Idempotency-Key`; POSTs without one get a fresh key. */
  key?: string;
}

export class TourFailed extends Error {
  override readonly name = 'TourFailed';
}

/** Makes the calls of the tour, prints each one with its answer, and stops at the first surprise. */
export class Traveller {
  private calls = 0;

  constructor(
    private readonly base: string,
    private readonly token: string,
    private readonly print: (line: string) => void,
  ) {}

  get count(): number {
    return this.calls;
  }

  chapter(title: string): void {
    this.print(`\n── ${title}`);
  }

  note(text: string): void {
    this.print(`   ${text}`);
  }

  async call(method: string, path: string, options: CallOptions): Promise<Json> {
    this.calls += 1;
    const headers: Record<string, string> = { authorization: `Bearer ${options.token ?? this.token}` };
    if (options.body !== undefined) headers['content-type'] = 'application/json';
    if (method !== 'GET') headers['idempotency-key'] = options.key ?? randomUUID();
    const response = await fetch(`${this.base}${path}`, { method, headers, body: options.body === undefined ? undefined : JSON.stringify(options.body) });
    const text = await response.text();
    const answer = text === '' ? {} : (JSON.parse(text) as Json);
    this.print(`${method} ${path}${options.body === undefined ? '' : ` ${shortened(JSON.stringify(options.body), 600)}`}`);
    this.print(`   ${response.status} ${abridged(answer)}`);
    const expected = Array.isArray(options.expect) ? options.expect : [options.expect];
    if (!expected.includes(response.status)) {
      throw new TourFailed(`${method} ${path} answered ${response.status}, expected ${expected.join(' or ')}: ${text.slice(0, 2000)}`);
    }
    return answer;
  }

  /** Asks again until `good` says yes; prints the last answer only. */
  async until(path: string, good: (answer: Json) => boolean, what: string): Promise<Json> {
    const deadline = Date.now() + 60_000;
    for (;;) {
      const response = await fetch(`${this.base}${path}`, { headers: { authorization: `Bearer ${this.token}` } });
      const answer = (await response.json()) as Json;
      if (good(answer)) {
        this.calls += 1;
        this.print(`GET ${path}`);
        this.print(`   ${response.status} ${abridged(answer)}`);
        return answer;
      }
      if (Date.now() > deadline) throw new TourFailed(`${what} did not happen within a minute; last answer: ${JSON.stringify(answer).slice(0, 2000)}`);
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  check(truth: boolean, what: string): void {
    if (!truth) throw new TourFailed(`not true: ${what}`);
    this.print(`   ✓ ${what}`);
  }
}

const interesting = [
  'id', 'object', 'type', 'status', 'billing_status', 'name', 'email', 'code', 'amount_atom', 'amount_atom_received', 'currency', 'url', 'secret',
  'current_period_end', 'resumes_at', 'detail', 'created', 'subscription', 'data', 'total_objects', 'display_name', 'refunded_amount_atom', 'sequence', 'pending_webhooks', 'role', 'active',
];

/** Of an answer what tells where things stand; the reference shows the rest. */
function abridged(value: unknown): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const source = value as Json;
  const known = Object.fromEntries(interesting.filter((key) => key in source).map((key) => [key, source[key]]));
  const shown = Object.keys(known).length > 0 ? known : source;
  return shortened(JSON.stringify(shown), 260);
}

function shortened(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
