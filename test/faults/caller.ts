import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Call } from './records.js';
import type { RecordFile } from './record-file.js';
import type { Random } from './random.js';

export interface Ask {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  path: string;
  body?: object;
  /** `Idempotency-Key`; every change carries one. */
  key?: string;
  /** Hangs up after so many milliseconds, like a caller whose own deadline is short. */
  hangUpMs?: number;
  /** What the record says instead of the body, where the body holds card data. */
  recorded?: object;
}

export interface Answer {
  status: number;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  body: any;
}

export interface CallerOptions {
  url: string;
  log: RecordFile;
  /** When nothing has to be insisted on any more. */
  isOver: () => boolean;
}

const patienceMs = 20_000;
const retriedCodes = new Set(['idempotency_key_in_use', 'rate_limited']);

/** The service's callers, with their own record of each request, its key, and the answer or the lack of one. */
export class Callers {
  readonly calls: Call[] = [];
  readonly #http = new Agent({ connections: 256, pipelining: 1, connect: { timeout: 5_000 }, headersTimeout: patienceMs, bodyTimeout: patienceMs });

  constructor(private readonly options: CallerOptions) {}

  as(account: string, token: string, random: Random): Caller {
    return new Caller(this, { account, token, random, isOver: this.options.isOver });
  }

  /** One request. Null: no whole answer came. */
  async send(from: { account: string; token: string }, journey: string, ask: Ask): Promise<Answer | null> {
    const call: Call = {
      number: this.calls.length + 1, account: from.account, journey, method: ask.method, path: ask.path, key: ask.key ?? null,
      body: ask.recorded ?? ask.body ?? null, at: Date.now(), status: null, answer: null, lost: null,
    };
    this.calls.push(call);
    this.options.log.append({ asked: call.number, ...call });
    try {
      const answer = await this.exchange(from.token, ask);
      Object.assign(call, { status: answer.status, answer: answer.body });
      return answer;
    } catch (error) {
      call.lost = String(error);
      return null;
    } finally {
      this.options.log.append({ answered: call.number, at: Date.now(), status: call.status, answer: call.answer, lost: call.lost });
    }
  }

  async close(): Promise<void> {
    await this.#http.destroy();
  }

  private async exchange(token: string, ask: Ask): Promise<Answer> {
    const response = await request(this.options.url + ask.path, {
      dispatcher: this.#http,
      method: ask.method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(ask.body ? { 'content-type': 'application/json' } : {}),
        ...(ask.key ? { 'idempotency-key': ask.key } : {}),
      },
      body: ask.body ? JSON.stringify(ask.body) : null,
      signal: AbortSignal.timeout(ask.hangUpMs ?? patienceMs),
    });
    const text = await response.body.text();
    const length = response.headers['content-length'];
    if (typeof length === 'string' && Number(length) !== Buffer.byteLength(text)) throw new Error('half an answer');
    return { status: response.statusCode, body: text === '' ? null : JSON.parse(text) };
  }
}

interface Who {
  account: string;
  token: string;
  random: Random;
  isOver: () => boolean;
}

/** One journey's caller. */
export class Caller {
  #keys = 0;

  constructor(
    private readonly callers: Callers,
    private readonly who: Who,
    readonly journey = '',
  ) {}

  on(journey: string): Caller {
    return new Caller(this.callers, { ...this.who, random: this.who.random.part(journey) }, journey);
  }

  /** A key that no other request of the run has. */
  newKey(): string {
    return `${this.journey}-${(this.#keys += 1)}`;
  }

  once(ask: Ask): Promise<Answer | null> {
    return this.callers.send(this.who, this.journey, ask);
  }

  /**
   * The same request with the same key until an answer says how it ended: a lost answer, a 5xx, a 429 and a key in use are
   * asked again. Null when the run is over.
   */
  async insist(ask: Ask): Promise<Answer | null> {
    let next = ask;
    for (let tries = 1; !this.who.isOver(); tries += 1) {
      const answer = await this.once(next);
      const again = answer === null || answer.status >= 500 || (answer.status !== 402 && retriedCodes.has(answer.body?.code));
      if (!again) return answer;
      next = { ...ask, hangUpMs: undefined };
      await pause(this.who.random.between(100, Math.min(300 * 2 ** tries, 4_000)));
    }
    return null;
  }

  get(path: string): Promise<Answer | null> {
    return this.insist({ method: 'GET', path });
  }

  post(path: string, body: object = {}, more: Partial<Ask> = {}): Promise<Answer | null> {
    return this.insist({ method: 'POST', path, body, key: this.newKey(), ...more });
  }

  /** Reads until the object looks so, at most as long as the run has patience for one journey. */
  async until(path: string, looks: (body: Answer['body']) => boolean, patienceSeconds = 45): Promise<Answer['body'] | null> {
    for (const end = Date.now() + patienceSeconds * 1_000; Date.now() < end && !this.who.isOver();) {
      const answer = await this.once({ method: 'GET', path });
      if (answer?.status === 200 && looks(answer.body)) return answer.body;
      await pause(this.who.random.between(300, 1_200));
    }
    return null;
  }
}
