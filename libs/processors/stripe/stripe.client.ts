import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { Stripe } from 'stripe';
import type { Connection } from '../port.js';
import { Wire, type WireResult } from '../wire.js';

/** The version whose shapes this folder reads and writes; requests and signed events are sent and read in it. */
export const stripeApiVersion = '2026-08-26.dahlia';

const longestList = 8 * 1024 * 1024;

type Undelivered = Exclude<WireResult, { kind: 'answered' }>;

/** The exchange gave no whole answer. Carries no `code`: the library would send again after `ECONNRESET` and `EPIPE`. */
export class WireFailure extends Error {
  constructor(readonly result: Undelivered) {
    super(result.reason);
  }
}

/** The library's requests over our wire, which knows whether a byte was written and never sends twice. */
class WireHttpClient extends Stripe.HttpClient {
  constructor(
    private readonly wire: Wire,
    private readonly connectMs: number,
  ) {
    super();
  }

  override getClientName(): string {
    return 'signalbox';
  }

  override async makeRequest(...request: Parameters<Stripe.HttpClient['makeRequest']>): Promise<WireResponse> {
    const [host, port, path, method, headers, body, protocol, timeout] = request;
    const result = await this.wire.exchange(
      {
        origin: `${protocol}://${host}:${port}`,
        path,
        method: method as 'GET' | 'POST',
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
        ...(body ? { body } : {}),
        longestAnswer: longestList,
      },
      { connectMs: this.connectMs, totalMs: timeout },
    );
    if (result.kind !== 'answered') throw new WireFailure(result);
    return new WireResponse(result.status, result.body);
  }
}

class WireResponse extends Stripe.HttpClientResponse {
  constructor(
    private readonly status: number,
    private readonly text: string,
  ) {
    super(status, {});
  }

  override getRawResponse(): { status: number } {
    return { status: this.status };
  }

  /** The library takes any JSON without `error` for a success, whatever the status. */
  override async toJSON(): Promise<unknown> {
    const parsed = this._parseResponseBody(this.text) as { error?: { type?: unknown } } | null;
    const refused = typeof parsed?.error?.type === 'string';
    const succeeded = this.status >= 200 && this.status <= 299;
    if (parsed === null || typeof parsed !== 'object' || succeeded === refused) throw new Error(`answered ${this.status} in no known format`);
    return parsed;
  }
}

/** One client per connection and credentials. No retries, no telemetry, nothing of the machine in the headers. */
export class StripeClients {
  readonly #wire = new Wire();
  readonly #clients = new LRUCache<string, { stamp: string; stripe: Stripe }>({ max: 500 });

  constructor(private readonly allowLoopback: boolean) {}

  for(connection: Connection): Stripe {
    const key = connection.credentials?.secret_key ?? '';
    const base = this.allowLoopback && typeof connection.settings.api_base === 'string' ? connection.settings.api_base : null;
    const stamp = createHash('sha256').update(JSON.stringify([key, base, connection.deadlines])).digest('base64');
    const known = this.#clients.get(connection.id);
    if (known?.stamp === stamp) return known.stripe;
    const stripe = new Stripe(key || 'none', {
      apiVersion: stripeApiVersion,
      httpClient: new WireHttpClient(this.#wire, connection.deadlines.connectMs),
      maxNetworkRetries: 0,
      telemetry: false,
      timeout: connection.deadlines.totalMs,
      ...(base ? hostOf(base) : {}),
    });
    this.#clients.set(connection.id, { stamp, stripe });
    return stripe;
  }

  close(): Promise<void> {
    return this.#wire.close();
  }
}

function hostOf(base: string): { protocol: 'http' | 'https'; host: string; port: string } {
  const { protocol, hostname, port } = new URL(base);
  const secure = protocol === 'https:';
  return { protocol: secure ? 'https' : 'http', host: hostname, port: port || (secure ? '443' : '80') };
}
