import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Agent, request, type Dispatcher } from 'undici';
import { signPost } from '../../../../libs/webhooks/deliver.js';
import { splitEvent, type DataFormat } from '../../../../libs/webhooks/payload.js';
import { CommandFailed } from '../command-failed.js';
import { readMessages } from './event-stream.js';

export interface ListenOptions {
  /** Base URL of the environment. */
  base: string;
  token: string;
  /** Where each event is posted; absent: events are only printed. */
  forwardTo?: URL;
  /** What the posts are signed with; by default one that belongs to the token. */
  secret?: string;
  format?: DataFormat;
  /** Filters of `GET /events/stream`: `type`, `object_id`, `customer_id`, `q`, and `after`. */
  query?: Record<string, string | undefined>;
  /** Prints whole events, as they would be posted. */
  json?: boolean;
  print: (line: string) => void;
}

export interface Listening {
  secret: string;
  /** Resolves after `close`; throws when the service refuses, for example because the token is no longer valid. */
  ended: Promise<void>;
  close(): Promise<void>;
}

interface StreamedEvent {
  id: string;
  type: string;
  created_at: string;
  data: { id?: unknown };
}

const forwardDeadlineMs = 15_000;
/** Three heartbeats. */
const silenceMs = 45_000;
const shortestPauseMs = 500;
const longestPauseMs = 10_000;

/**
 * Follows the environment's event stream. Each event is printed and posted, one after the other, with the bytes and signatures that a
 * webhook endpoint would get. When the connection breaks it goes on after the last event that it handled.
 */
export function listen(options: ListenOptions): Listening {
  const secret = options.secret ?? secretOf(options.token);
  const stopping = new AbortController();
  const agent = new Agent({ bodyTimeout: silenceMs });
  const ended = follow({ ...options, secret }, { agent, signal: stopping.signal }).finally(() => agent.destroy());
  return {
    secret,
    ended,
    async close() {
      stopping.abort();
      await ended;
    },
  };
}

/** The same for the same token, so that a receiver is configured once. */
function secretOf(token: string): string {
  return `whsec_${createHmac('sha256', token).update('signalbox listen').digest('base64')}`;
}

type Follower = ListenOptions & { secret: string };

interface Line {
  agent: Agent;
  signal: AbortSignal;
}

async function follow(options: Follower, { agent, signal }: Line): Promise<void> {
  let lastId: string | null = null;
  let pauseMs = shortestPauseMs;
  while (!signal.aborted) {
    try {
      for await (const { id, event, data } of readMessages(await connect(options, { agent, signal, lastId }))) {
        pauseMs = shortestPauseMs;
        if (lastId === null) options.print(`${clock()} ready`);
        if (event === 'message') await handle(options, data);
        lastId = id ?? lastId;
      }
    } catch (error) {
      if (error instanceof CommandFailed) throw error;
      if (!signal.aborted) options.print(`${clock()} not connected: ${(error as Error).message}`);
    }
    await pause(pauseMs, undefined, { signal }).catch(() => undefined);
    pauseMs = Math.min(pauseMs * 2, longestPauseMs);
  }
}

async function connect({ base, token, query }: Follower, { agent, signal, lastId }: Line & { lastId: string | null }): Promise<Dispatcher.ResponseData['body']> {
  const url = new URL(`${base.replace(/\/+$/, '')}/events/stream`);
  for (const [name, value] of Object.entries(query ?? {})) if (value !== undefined) url.searchParams.set(name, value);
  const headers = { authorization: `Bearer ${token}`, ...(lastId === null ? {} : { 'last-event-id': lastId }) };
  const { statusCode, body } = await request(url, { headers, signal, dispatcher: agent });
  if (statusCode === 200) return body;
  const problem = (await body.json().catch(() => ({}))) as { detail?: string };
  const message = `GET /events/stream answered ${statusCode}: ${problem.detail ?? ''}`;
  throw statusCode < 500 && statusCode !== 429 ? new CommandFailed(message) : new Error(message);
}

async function handle(options: Follower, body: string): Promise<void> {
  const event = JSON.parse(body) as StreamedEvent;
  const result = options.forwardTo === undefined ? '' : `  -> ${await forward(options, options.forwardTo, { event, body })}`;
  if (options.json) options.print(body);
  else options.print(`${clock()} ${event.type}  ${event.id}  ${typeof event.data.id === 'string' ? event.data.id : '-'}${result}`);
}

async function forward({ secret, format = 'object' }: Follower, target: URL, { event, body }: { event: StreamedEvent; body: string }): Promise<string> {
  const stored = { eventId: event.id, createdAt: new Date(event.created_at), ...splitEvent(body) };
  const post = signPost({ endpointId: 'webhook_endpoint_listen', format, secrets: [secret] }, stored, new Date());
  try {
    const headers = { 'content-type': 'application/json', 'user-agent': 'Signalbox', ...post.headers };
    const answer = await request(target, { method: 'POST', headers, body: post.body, signal: AbortSignal.timeout(forwardDeadlineMs) });
    await answer.body.dump();
    return String(answer.statusCode);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return `no answer (${code ?? message})`;
  }
}

function clock(): string {
  return new Date().toISOString().slice(11, 23);
}
