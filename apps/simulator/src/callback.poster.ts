import { callbackSignatureHeader, signCallback } from '../../../libs/processors/simulator/simulator.signature.js';
import type { Book } from './book.js';
import type { Callback, CallbackQueue } from './callback.queue.js';

const lookEveryMs = 50;
const atOnce = 16;
const answerWithinMs = 5_000;
const firstRetryMs = 250;
const longestRetryMs = 30_000;

interface PosterOptions {
  book: Book;
  secret: Buffer;
}

/** Posts what is due until it is answered with 2xx, then writes that down. A crash between the two posts it again. */
export class CallbackPoster {
  private readonly timer: NodeJS.Timeout;
  private readonly stopping = new AbortController();
  private readonly posting = new Map<string, Promise<void>>();

  constructor(
    private readonly queue: CallbackQueue,
    private readonly options: PosterOptions,
  ) {
    this.timer = setInterval(() => this.look(), lookEveryMs);
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    this.stopping.abort();
    await Promise.all(this.posting.values());
  }

  private look(): void {
    for (const callback of this.queue.due(Date.now())) {
      if (this.posting.size >= atOnce) return;
      if (this.posting.has(callback.id)) continue;
      this.posting.set(callback.id, this.post(callback).finally(() => this.posting.delete(callback.id)));
    }
  }

  private async post(callback: Callback): Promise<void> {
    const { book } = this.options;
    await book.durable();
    if (!(await this.isAccepted(callback))) {
      callback.dueAt = Date.now() + Math.min(longestRetryMs, firstRetryMs * 2 ** callback.failures);
      callback.failures += 1;
      return;
    }
    callback.copies -= 1;
    if (callback.copies > 0 || this.stopping.signal.aborted) return;
    const { connection, reference, id: event } = callback;
    book.record({ type: 'callback_delivered', connection, reference, event });
    await book.durable();
  }

  private async isAccepted({ url, connection, body }: Callback): Promise<boolean> {
    const atSeconds = Math.floor(Date.now() / 1_000);
    const headers = { 'content-type': 'application/json', [callbackSignatureHeader]: signCallback(this.options.secret, { connectionId: connection, body, atSeconds }) };
    try {
      const signal = AbortSignal.any([this.stopping.signal, AbortSignal.timeout(answerWithinMs)]);
      const response = await fetch(url, { method: 'POST', redirect: 'manual', body, headers, signal });
      await response.arrayBuffer();
      return response.status >= 200 && response.status < 300;
    } catch {
      return false;
    }
  }
}
