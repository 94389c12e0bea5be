import { subscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import type { buildConnector } from 'undici';

/** Milliseconds of one post's phases; a phase that did not happen (a literal address, a connection that was open) is absent. */
export interface Timings {
  resolve?: number;
  connect?: number;
  tls?: number;
  /** From the request's first byte to the answer's head. */
  first_byte?: number;
}

/** One connection: how long it took and whom it reached. */
interface Dial {
  startedAt: number;
  resolvedAt?: number;
  connectedAt?: number;
  securedAt?: number;
  address?: string;
}

/** What is known of one post beside its answer. */
export class Trace {
  private dial: Dial | null = null;
  private dialled = false;
  private sentAt: number | null = null;
  private headAt: number | null = null;

  /** The post asked for a connection of its own. */
  begin(dial: Dial): void {
    this.dial = dial;
    this.dialled = true;
  }

  sent(dial: Dial | undefined): void {
    this.sentAt = performance.now();
    if (!dial || dial === this.dial) return;
    this.dial = dial;
    this.dialled = false;
  }

  answered(): void {
    this.headAt = performance.now();
  }

  /** Whether the request's head was written. */
  get isSent(): boolean {
    return this.sentAt !== null;
  }

  /** Address and port of the last connection that was tried. */
  get address(): string | null {
    return this.dial?.address ?? null;
  }

  get timings(): Timings {
    const timings: Timings = {};
    if (this.dial && this.dialled) {
      const { startedAt, resolvedAt, connectedAt, securedAt } = this.dial;
      if (resolvedAt !== undefined) timings.resolve = span(startedAt, resolvedAt);
      if (connectedAt !== undefined) timings.connect = span(resolvedAt ?? startedAt, connectedAt);
      if (connectedAt !== undefined && securedAt !== undefined) timings.tls = span(connectedAt, securedAt);
    }
    if (this.sentAt !== null && this.headAt !== null) timings.first_byte = span(this.sentAt, this.headAt);
    return timings;
  }
}

function span(from: number, to: number): number {
  return Math.round((to - from) * 10) / 10;
}

const dials = new WeakMap<object, Dial>();
const traces = new WeakMap<object, Trace>();
let starting: Trace | null = null;

/** Runs what creates the request; undici creates and assigns it within this call. */
export function traced<T>(trace: Trace, start: () => T): T {
  const outer = starting;
  starting = trace;
  try {
    return start();
  } finally {
    starting = outer;
  }
}

/** A connector that notes how long each connection takes. */
export function timedConnector(connector: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    const dial: Dial = { startedAt: performance.now() };
    starting?.begin(dial);
    const socket = connector(options, callback) as unknown as Socket | undefined;
    if (!socket) return;
    dials.set(socket, dial);
    socket.once('lookup', () => { dial.resolvedAt = performance.now(); });
    socket.on('connectionAttempt', (ip: string, port: number) => { dial.address = at(ip, port); });
    socket.once('connect', () => {
      dial.connectedAt = performance.now();
      if (socket.remoteAddress && socket.remotePort) dial.address = at(socket.remoteAddress, socket.remotePort);
    });
    socket.once('secureConnect', () => { dial.securedAt = performance.now(); });
  };
}

function at(ip: string, port: number): string {
  return ip.includes(':') ? `[${ip}]:${port}` : `${ip}:${port}`;
}

subscribe('undici:request:create', (message) => {
  if (starting) traces.set((message as { request: object }).request, starting);
});
subscribe('undici:client:sendHeaders', (message) => {
  const { request, socket } = message as { request: object; socket: object };
  traces.get(request)?.sent(dials.get(socket));
});
