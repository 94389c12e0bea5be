import { Agent, type Dispatcher } from 'undici';
import type { Deadlines } from './port.js';

const usualLongestAnswer = 256 * 1024;

export interface WireRequest {
  origin: string;
  path: string;
  method: 'GET' | 'POST';
  headers: Record<string, string>;
  body?: string;
  /** Bytes of the answer that are read at most; default 256 KiB. */
  longestAnswer?: number;
}

/** `not_sent`: no byte was written. `lost`: bytes were written and no whole answer came. */
export type WireResult =
  | { kind: 'not_sent'; reason: string }
  | { kind: 'lost'; reason: string }
  /** Names of headers in lower case; one that came several times is a list. */
  | { kind: 'answered'; status: number; headers: Readonly<Record<string, string | string[] | undefined>>; body: string };

/** Sockets to processors: one agent per connect limit, no retry, no pipelining, no redirect. */
export class Wire {
  private readonly agents = new Map<number, Agent>();

  /**
   * One exchange, never repeated and never cancelled from outside. It ends by itself at `deadlines.totalMs`, which
   * covers waiting for a socket, connecting, sending and reading.
   */
  exchange({ longestAnswer, ...request }: WireRequest, deadlines: Deadlines): Promise<WireResult> {
    return new Promise((resolve) => {
      const exchange = new Exchange({ totalMs: deadlines.totalMs, longestAnswer: longestAnswer ?? usualLongestAnswer }, resolve);
      try {
        this.agentFor(deadlines.connectMs).dispatch({ ...request, body: request.body ?? null, blocking: false }, exchange);
      } catch (error) {
        exchange.fail(error);
      }
    });
  }

  async close(): Promise<void> {
    await Promise.all([...this.agents.values()].map((agent) => agent.close()));
  }

  private agentFor(connectMs: number): Agent {
    let agent = this.agents.get(connectMs);
    if (!agent) {
      agent = new Agent({ connect: { timeout: connectMs }, headersTimeout: 0, bodyTimeout: 0, pipelining: 1, keepAliveTimeout: 4_000 });
      this.agents.set(connectMs, agent);
    }
    return agent;
  }
}

class Exchange implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | null = null;
  private started = false;
  private done = false;
  private status = 0;
  private headers: Readonly<Record<string, string | string[] | undefined>> = {};
  private size = 0;
  private readonly chunks: Buffer[] = [];
  private readonly timer: NodeJS.Timeout;

  constructor(
    private readonly limits: { totalMs: number; longestAnswer: number },
    private readonly resolve: (result: WireResult) => void,
  ) {
    this.timer = setTimeout(() => this.fail(new Error(`no answer within ${limits.totalMs} ms`)), limits.totalMs);
  }

  /** Called once a socket is connected, immediately before the first byte; a second call would be a repeat. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.done || this.started) {
      controller.abort(new Error('a request is sent once'));
      this.fail(new Error('the connection was lost and the request is not repeated'));
      return;
    }
    this.started = true;
    this.controller = controller;
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: Exchange['headers']): void {
    this.status = status;
    this.headers = headers;
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.size += chunk.length;
    const { longestAnswer } = this.limits;
    if (this.size > longestAnswer) this.fail(new Error(`the answer is longer than ${longestAnswer} bytes`));
    else this.chunks.push(chunk);
  }

  onResponseEnd(): void {
    this.finish({ kind: 'answered', status: this.status, headers: this.headers, body: Buffer.concat(this.chunks).toString('utf8') });
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  fail(error: unknown): void {
    const reason = describe(error);
    const controller = this.controller;
    this.finish({ kind: this.started ? 'lost' : 'not_sent', reason });
    controller?.abort(new Error(reason));
  }

  private finish(result: WireResult): void {
    if (this.done) return;
    this.done = true;
    clearTimeout(this.timer);
    this.resolve(result);
  }
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return 'the connection failed';
  const code = (error as NodeJS.ErrnoException).code;
  return code ? `${code}: ${error.message}` : error.message;
}
