import { createServer, connect, type AddressInfo, type Server, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import type { Random } from './random.js';

/** What is done to one exchange (a request and its answer) on a connection. */
export const networkFaults = [
  /** The request never leaves the proxy: the connection breaks. */
  'before_sending',
  /** The request arrives; the connection breaks before the answer's first byte. */
  'after_sending',
  /** Half of the answer's first part arrives. */
  'half_answer',
  /** The request arrives; its answer never does, and the connection stays open. */
  'silence',
  /** The request arrives late, even if the caller has left meanwhile. */
  'late_request',
  'slow_answer',
  /** Both sides are reset in the middle. */
  'reset',
] as const;
export type NetworkFault = (typeof networkFaults)[number];

export interface ProxyOptions {
  /** Where the traffic goes; asked per connection, because a restarted process may have moved. */
  target: () => number;
  random: Random;
  /** Longest delay of a late request or a slow answer. */
  mostLateMs: number;
  /** `overdue`: the machine was too slow, and a request arrived later than it should have been able to. */
  told: (fault: NetworkFault | 'refused' | 'overdue') => void;
}

const slackMs = 2_000;

/** A TCP proxy on loopback that breaks exchanges with a likelihood that can be changed while it runs. */
export class BreakingProxy {
  /** Likelihood of a fault per exchange. */
  likelihood = 0;
  #server: Server | null = null;
  #port = 0;
  #exchanges = 0;
  readonly #open = new Set<Socket>();

  constructor(private readonly options: ProxyOptions) {}

  get port(): number {
    return this.#port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  /** Listens, after the first time on the same port. */
  async listen(): Promise<void> {
    const server = createServer((client) => this.#serve(client));
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(this.#port, '127.0.0.1', () => resolve());
    });
    this.#port = (server.address() as AddressInfo).port;
  }

  /** New connections are refused, open ones end: what a caller finds when nothing listens. */
  async refuse(): Promise<void> {
    this.options.told('refused');
    await this.close();
  }

  async close(): Promise<void> {
    const server = this.#server;
    this.#server = null;
    for (const socket of this.#open) socket.destroy();
    if (server) await new Promise((resolve) => server.close(resolve));
  }

  draw(): { fault: NetworkFault | null; delayMs: number } {
    const random = this.options.random.part((this.#exchanges += 1));
    const fault = random.chance(this.likelihood) ? random.pick(networkFaults) : null;
    if (fault) this.options.told(fault);
    return { fault, delayMs: random.between(20, this.options.mostLateMs) };
  }

  /** What the provider promises about late requests holds for those that are not overdue. */
  forwarded(since: number): void {
    if (performance.now() - since > this.options.mostLateMs + slackMs) this.options.told('overdue');
  }

  keep(socket: Socket): void {
    this.#open.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => this.#open.delete(socket));
  }

  #serve(client: Socket): void {
    const upstream = connect({ port: this.options.target(), host: '127.0.0.1', noDelay: true });
    client.setNoDelay(true);
    this.keep(client);
    this.keep(upstream);
    new Link(this, client, upstream).start();
  }
}

/** One connection through the proxy. An exchange begins with the first bytes of a request after the last answer. */
class Link {
  private exchange: ReturnType<BreakingProxy['draw']> = { fault: null, delayMs: 0 };
  private answering = true;
  private toUpstream: Promise<void> = Promise.resolve();
  private toClient: Promise<void> = Promise.resolve();

  constructor(
    private readonly proxy: BreakingProxy,
    private readonly client: Socket,
    private readonly upstream: Socket,
  ) {}

  start(): void {
    this.client.on('data', (chunk: Buffer) => this.request(chunk));
    this.upstream.on('data', (chunk: Buffer) => this.answer(chunk));
    this.client.once('end', () => void this.toUpstream.then(() => this.upstream.end()));
    this.upstream.once('end', () => void this.toClient.then(() => this.client.end()));
    this.client.once('close', () => void this.toUpstream.then(() => this.endUpstream()));
    this.upstream.once('close', () => void this.toClient.then(() => this.end(this.client)));
  }

  private request(chunk: Buffer): void {
    if (this.answering) {
      this.answering = false;
      this.exchange = this.proxy.draw();
    }
    const { fault, delayMs } = this.exchange;
    if (fault === 'before_sending') return this.end(this.client, this.upstream);
    const delay = fault === 'late_request' ? pause(delayMs) : null;
    const since = performance.now();
    this.toUpstream = this.toUpstream.then(() => delay).then(() => {
      if (!this.upstream.writable) return;
      this.upstream.write(chunk);
      this.proxy.forwarded(since);
    });
  }

  private answer(chunk: Buffer): void {
    this.answering = true;
    const { fault, delayMs } = this.exchange;
    if (fault === 'silence') return;
    if (fault === 'after_sending') return this.end(this.client, this.upstream);
    if (fault === 'half_answer') {
      this.client.write(chunk.subarray(0, Math.ceil(chunk.length / 2)), () => this.end(this.client, this.upstream));
      return;
    }
    if (fault === 'reset') {
      this.client.resetAndDestroy();
      this.upstream.resetAndDestroy();
      return;
    }
    const delay = fault === 'slow_answer' ? pause(delayMs) : null;
    this.toClient = this.toClient.then(() => delay).then(() => void (this.client.writable && this.client.write(chunk)));
  }

  /** What was taken from a caller who left is still delivered before the far side is closed. */
  private endUpstream(): void {
    if (this.exchange.fault === 'late_request') this.upstream.end();
    else this.end(this.upstream);
  }

  private end(...sockets: Socket[]): void {
    for (const socket of sockets) socket.destroy();
  }
}
