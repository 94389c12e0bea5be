import { createServer, type IncomingHttpHeaders, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import type { Random } from './random.js';
import type { RecordFile } from './record-file.js';
import type { Heard } from './records.js';
import { digestOf, toldBy } from './told.js';

interface Endpoint {
  id: string;
  account: string;
  webhook: Webhook;
}

interface Post {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Receives for all endpoints of the run, each at its own path; fails or is slow now and then. Signatures are checked by another's code. */
export class FaultyReceiver {
  /** Likelihood of a failure per post. */
  likelihood = 0;
  failures = 0;
  /** By account UUID. */
  readonly heard = new Map<string, Heard[]>();
  #count = 0;
  readonly #endpoints = new Map<string, Endpoint>();
  readonly #early = new Map<string, (() => void)[]>();
  readonly #server: Server = createServer((request, response) => void this.receive(request, response).catch(() => response.destroy()));

  constructor(private readonly options: { random: Random; log: RecordFile; searched: (body: string) => void }) {}

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  urlOf(path: string): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/${path}`;
  }

  /** Posts that came before the endpoint's secret was known are checked now. */
  register(path: string, endpoint: { id: string; account: string; secret: string }): void {
    this.#endpoints.set(path, { ...endpoint, webhook: new Webhook(endpoint.secret) });
    for (const record of this.#early.get(path) ?? []) record();
    this.#early.delete(path);
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  private async receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const post: Post = { path: (request.url ?? '/').slice(1), headers: request.headers, body: Buffer.concat(chunks).toString() };
    const at = Date.now();
    const number = (this.#count += 1);
    const answered = await this.answer(this.options.random.part(number), response);
    const record = (): void => this.record(post, { number, at, answered });
    if (this.#endpoints.has(post.path)) record();
    else this.#early.set(post.path, [...(this.#early.get(post.path) ?? []), record]);
    if (answered !== null) response.writeHead(answered, answered === 503 ? { 'retry-after': '1' } : {}).end();
    else response.destroy();
  }

  /** The status to answer with, chosen and written down before it is sent; null: the connection breaks. */
  private async answer(random: Random, response: ServerResponse): Promise<number | null> {
    if (!random.chance(this.likelihood)) return 200;
    const trouble = random.weighted({ error: 40, unavailable: 15, slow: 20, reset: 25 });
    if (trouble === 'slow') {
      await pause(random.between(500, 3_000));
      return response.destroyed ? null : 200;
    }
    this.failures += 1;
    return trouble === 'reset' ? null : trouble === 'error' ? 500 : 503;
  }

  private record({ path, headers, body }: Post, { number, at, answered }: Pick<Heard, 'number' | 'at' | 'answered'>): void {
    const endpoint = this.#endpoints.get(path)!;
    const outer = JSON.parse(body);
    const text = typeof outer.data === 'string' ? (outer.data as string) : body;
    const event = text === body ? outer : JSON.parse(text);
    const heard: Heard = {
      endpoint: endpoint.id, number, at, eventId: event.id, type: event.type, sequence: event.sequence, object: event.data?.id ?? '',
      verified: isVerified(endpoint.webhook, body, headers), digest: digestOf(text), told: toldBy(event.data ?? {}), answered,
    };
    const list = this.heard.get(endpoint.account);
    if (list) list.push(heard);
    else this.heard.set(endpoint.account, [heard]);
    this.options.searched(body);
    this.options.log.append(heard);
  }
}

function isVerified(webhook: Webhook, body: string, headers: IncomingHttpHeaders): boolean {
  try {
    webhook.verify(body, headers as Record<string, string>);
    return true;
  } catch {
    return false;
  }
}
