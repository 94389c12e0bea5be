import type { IncomingHttpHeaders } from 'node:http';
import type { Dispatcher } from 'undici';

export interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  /** The first `limit` bytes. */
  body: Buffer;
}

export interface Bounds {
  deadlineMs: number;
  /** Bytes of the body that are read: what follows is cut off, and the answer is whole even so. */
  limit: number;
  /** Ends the exchange early. */
  signal?: AbortSignal;
  /** Called when the answer's head is there. */
  onHead?: () => void;
}

export class DeadlinePassed extends Error {
  override readonly name = 'DeadlinePassed';
}

export class Interrupted extends Error {
  override readonly name = 'Interrupted';
}

const firstFinal = 200;

const cutOff = new Error('the rest of the answer is not read');

/**
 * A request and its answer under one deadline, over connection, headers and body; no stream stands between, which would cost more than the
 * exchange itself. @throws DeadlinePassed, Interrupted, or what the connection failed with.
 */
export function exchange(dispatcher: Dispatcher, request: Dispatcher.DispatchOptions, bounds: Bounds): Promise<Answer> {
  if (bounds.signal?.aborted) return Promise.reject(new Interrupted());
  return new Promise((resolve, reject) => {
    dispatcher.dispatch(request, new Exchange(bounds, resolve, reject));
  });
}

class Exchange implements Dispatcher.DispatchHandler {
  private readonly deadline: NodeJS.Timeout;
  private controller: Dispatcher.DispatchController | null = null;
  private ended: Error | null = null;
  private status = 0;
  private headers: IncomingHttpHeaders = {};
  private readonly chunks: Buffer[] = [];
  private length = 0;

  constructor(
    private readonly bounds: Bounds,
    private readonly resolve: (answer: Answer) => void,
    private readonly reject: (error: Error) => void,
  ) {
    this.deadline = setTimeout(() => this.fail(new DeadlinePassed()), bounds.deadlineMs);
    bounds.signal?.addEventListener('abort', this.interrupt);
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    if (this.ended) controller.abort(this.ended);
  }

  /** Comes for interim answers too. */
  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < firstFinal) return;
    this.status = status;
    this.headers = headers;
    this.bounds.onHead?.();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.ended) return;
    this.chunks.push(chunk);
    this.length += chunk.length;
    if (this.length < this.bounds.limit) return;
    this.succeed();
    controller.abort(cutOff);
  }

  onResponseEnd(): void {
    this.succeed();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(error);
  }

  private readonly interrupt = (): void => this.fail(new Interrupted());

  private succeed(): void {
    if (!this.settle(cutOff)) return;
    const body = this.chunks.length === 1 ? this.chunks[0]! : Buffer.concat(this.chunks);
    this.resolve({ status: this.status, headers: this.headers, body: body.subarray(0, this.bounds.limit) });
  }

  private fail(error: Error): void {
    if (!this.settle(error)) return;
    this.controller?.abort(error);
    this.reject(error);
  }

  private settle(end: Error): boolean {
    if (this.ended) return false;
    this.ended = end;
    clearTimeout(this.deadline);
    this.bounds.signal?.removeEventListener('abort', this.interrupt);
    return true;
  }
}
