import { lookup as systemLookup, type LookupAddress } from 'node:dns';
import { isIP, type LookupFunction } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { isLoopback, refuseAddress, type AddressPolicy } from './address.js';
import { DeadlinePassed, exchange, Interrupted } from './exchange.js';
import { excerptOf } from './excerpt.js';
import { explainFailure } from './explain.js';
import { shownRequestHeaders, shownResponseHeaders } from './shown-headers.js';
import { refuseTarget } from './target.js';
import { timedConnector, Trace, traced, type Timings } from './trace.js';

export interface PosterOptions extends AddressPolicy {
  /** One deadline over name, connect, TLS, headers and body. */
  deadlineMs?: number;
  /** Posts under way at once in this process. */
  maxSockets?: number;
  /** Resolves a name to all its addresses; the system's resolver by default. */
  resolve?: Resolver;
  userAgent?: string;
  /** Authorities (PEM) that receivers' certificates may come from; those of Node by default. */
  authorities?: readonly string[];
}

export type Resolver = (name: string) => Promise<LookupAddress[]>;

export interface Post {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Ends the post early, on shutdown. */
  signal?: AbortSignal;
}

export type PostFailure =
  | 'address_refused' | 'name_not_resolved' | 'connection_failed' | 'connection_lost' | 'tls_failed' | 'timed_out' | 'unreadable_answer' | 'interrupted';

export interface PostResult {
  /** The answer's status; null if there was no whole answer. */
  status: number | null;
  /** Why there is none; null for every complete answer, whatever its status. */
  failure: PostFailure | null;
  /** The failure in words. */
  detail: string | null;
  durationMs: number;
  timings: Timings;
  /** Address and port that were called. */
  address: string | null;
  /** As sent: signatures shortened, chosen values masked. */
  requestHeaders: Record<string, string>;
  /** Those that explain an outcome; null without an answer. */
  responseHeaders: Record<string, string> | null;
  /** First 4 KiB of the answer, redacted. */
  excerpt: string | null;
  retryAfter: string | null;
}

type Answer = Pick<PostResult, 'status' | 'excerpt' | 'retryAfter' | 'responseHeaders'>;

const readLimit = 64 * 1024;
const excerptSource = 8 * 1024;
const defaultDeadlineMs = 15_000;
const defaultMaxSockets = 400;
const mostTargets = 1_000;

const noAnswer = { status: null, responseHeaders: null, excerpt: null, retryAfter: null } satisfies Answer;

class RefusedAddress extends Error {}

/** Where a URL leads, or why it must not be called. */
type Target = { refusal: string } | { refusal: null; agent: Agent; origin: string; path: string };

/** Posts webhooks. Never follows a redirect, never dials an address that it has not checked, never throws. */
export class Poster {
  private readonly agents: Record<'http:' | 'https:', Agent>;
  private readonly deadlineMs: number;
  private readonly maxSockets: number;
  private readonly targets = new Map<string, Target>();
  private readonly waiting: (() => void)[] = [];
  private underWay = 0;

  constructor(private readonly options: PosterOptions) {
    this.deadlineMs = options.deadlineMs ?? defaultDeadlineMs;
    this.maxSockets = options.maxSockets ?? defaultMaxSockets;
    const resolve = options.resolve ?? resolveAll;
    const trust = options.authorities ? { ca: [...options.authorities] } : {};
    const agent = (loopbackOnly: boolean): Agent => new Agent({
      connect: timedConnector(buildConnector({ lookup: checkedLookup(resolve, options, loopbackOnly), timeout: this.deadlineMs, autoSelectFamily: true, ...trust })),
      headersTimeout: this.deadlineMs,
      bodyTimeout: this.deadlineMs,
      pipelining: 1,
      keepAliveTimeout: 2_000,
    });
    this.agents = { 'http:': agent(true), 'https:': agent(false) };
  }

  get open(): number {
    return this.underWay;
  }

  get limit(): number {
    return this.maxSockets;
  }

  async post(post: Post): Promise<PostResult> {
    if (this.underWay < this.maxSockets) this.underWay += 1;
    else await new Promise<void>((resolve) => this.waiting.push(resolve));
    const startedAt = performance.now();
    const headers = { 'content-type': 'application/json', 'user-agent': this.options.userAgent ?? 'Signalbox', ...post.headers };
    const trace = new Trace();
    const known = () => ({ durationMs: since(startedAt), timings: trace.timings, address: trace.address, requestHeaders: shownRequestHeaders(headers) });
    try {
      const answer = await this.exchange({ ...post, headers }, trace);
      return { ...answer, failure: null, detail: null, ...known() };
    } catch (error) {
      const failure = classify(error);
      return { ...noAnswer, failure, detail: this.explain(post, { failure, error, trace }), ...known() };
    } finally {
      this.release();
    }
  }

  async close(): Promise<void> {
    await Promise.all(Object.values(this.agents).map((agent) => agent.destroy()));
  }

  private explain({ url }: Post, { failure, error, trace }: { failure: PostFailure; error: unknown; trace: Trace }): string {
    const { address, timings } = trace;
    return explainFailure({
      failure,
      host: URL.canParse(url) ? new URL(url).hostname : url,
      address,
      cause: causeOf(error),
      deadlineMs: this.deadlineMs,
      connected: trace.isSent || timings.connect !== undefined,
    });
  }

  private async exchange({ url, headers: sent, body: text, signal }: Post, trace: Trace): Promise<Answer> {
    const target = this.targetOf(url);
    if (target.refusal !== null) throw new RefusedAddress(target.refusal);
    const { agent, origin, path } = target;
    const bounds = { deadlineMs: this.deadlineMs, limit: readLimit, signal, onHead: () => trace.answered() };
    const { status, headers, body } = await traced(trace, () => exchange(agent, { origin, path, method: 'POST', headers: sent, body: text }, bounds));
    const retryAfter = headers['retry-after'];
    return {
      status,
      responseHeaders: shownResponseHeaders(headers),
      excerpt: excerptOf(body.subarray(0, excerptSource)),
      retryAfter: (Array.isArray(retryAfter) ? retryAfter[0] : retryAfter) ?? null,
    };
  }

  private targetOf(url: string): Target {
    const known = this.targets.get(url);
    if (known) return known;
    const refusal = refuseTarget(url, this.options);
    const target = refusal === null ? this.parsed(new URL(url)) : { refusal };
    if (this.targets.size >= mostTargets) this.targets.clear();
    this.targets.set(url, target);
    return target;
  }

  private parsed({ protocol, origin, pathname, search }: URL): Target {
    return { refusal: null, agent: this.agents[protocol as 'http:' | 'https:'], origin, path: `${pathname}${search}` };
  }

  private release(): void {
    const next = this.waiting.shift();
    if (next) next();
    else this.underWay -= 1;
  }
}

const resolveAll: Resolver = (name) =>
  new Promise((resolve, reject) => systemLookup(name, { all: true, verbatim: true }, (error, addresses) => (error ? reject(error) : resolve(addresses))));

/** Resolves once, refuses the name if any of its addresses is refused, and hands back exactly the checked ones. */
function checkedLookup(resolve: Resolver, policy: AddressPolicy, loopbackOnly: boolean): LookupFunction {
  return (name, wanted, callback) => {
    const fail = (error: Error): void => callback(error as NodeJS.ErrnoException, '', 0);
    resolve(name).then((addresses) => {
      const first = addresses[0];
      if (!first) return fail(Object.assign(new Error('no address'), { code: 'ENOTFOUND' }));
      for (const { address } of addresses) {
        const reason = refuseAddress(address, policy) ?? (loopbackOnly && !isLoopback(address) ? 'plain http' : null);
        if (reason) return fail(new RefusedAddress(reason));
      }
      const allowed = addresses.map(({ address }) => ({ address, family: isIP(address) }));
      return wanted.all ? callback(null, allowed) : callback(null, first.address, isIP(first.address));
    }, fail);
  };
}

const nameErrors = new Set(['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'EAI_NODATA', 'EAI_NONAME']);
const connectErrors = new Set(['ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'ETIMEDOUT', 'EACCES', 'EINVAL']);

function classify(error: unknown): PostFailure {
  if (error instanceof DeadlinePassed) return 'timed_out';
  if (error instanceof Interrupted) return 'interrupted';
  if (error instanceof RefusedAddress) return 'address_refused';
  const { code: own, errors } = error as { code?: unknown; errors?: unknown };
  if (Array.isArray(errors) && errors.length > 0) return classify(errors[0]);
  const code = String(own ?? '');
  if (nameErrors.has(code)) return 'name_not_resolved';
  if (connectErrors.has(code)) return 'connection_failed';
  if (code.endsWith('_TIMEOUT')) return 'timed_out';
  if (code === 'EPROTO' || code.startsWith('ERR_TLS') || code.startsWith('ERR_SSL') || code.startsWith('CERT_') || code.includes('CERT') || code.includes('SIGNATURE')) return 'tls_failed';
  if (code === 'EPIPE' || code === 'ECONNRESET' || code === 'UND_ERR_SOCKET') return 'connection_lost';
  return 'unreadable_answer';
}

function causeOf(error: unknown): string | null {
  const { errors, message } = error as { errors?: unknown; message?: unknown };
  if (Array.isArray(errors) && errors.length > 0) return causeOf(errors[0]);
  return typeof message === 'string' && message !== '' ? message : null;
}

function since(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}
