import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { request } from 'undici';
import { verifyWebhook } from '../../../../libs/webhooks/verify.js';
import { CommandFailed } from '../command-failed.js';

export interface ListenOptions {
  /** Base URL of the environment. */
  base: string;
  /** An ADMIN token. */
  token: string;
  forwardTo: URL;
  /** Event types or prefixes; absent: every type. */
  events?: string[];
  print: (line: string) => void;
}

export interface Listening {
  endpointId: string;
  /** Removes the endpoint and stops receiving. */
  close(): Promise<void>;
}

interface Endpoint {
  id: string;
  secret: string;
}

const forwardedHeaders = ['content-type', 'signature-digest', 'webhook-id', 'webhook-timestamp', 'webhook-signature'] as const;
const forwardDeadlineMs = 10_000;
const largestBody = 1024 * 1024;

/**
 * Receives on loopback by an endpoint of its own. Each webhook is verified, posted on with the same bytes, and answered with what
 * the target answered, so that the service's retries work as they will in earnest; one that does not verify is not passed on.
 */
export async function listen(options: ListenOptions): Promise<Listening> {
  const state: { endpoint: Endpoint | null } = { endpoint: null };
  const server = createServer((incoming, outgoing) => void receive(incoming, outgoing, { options, endpoint: state.endpoint }));
  const url = await open(server);
  try {
    state.endpoint = await register(options, url);
  } catch (error) {
    server.close();
    throw error;
  }
  const { id } = state.endpoint;
  options.print(`Listening as ${id}; forwarding to ${options.forwardTo.href}. Ctrl-C removes the endpoint.`);
  return {
    endpointId: id,
    async close() {
      await call(options, 'DELETE', `/webhook-endpoints/${id}`);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function open(server: Server): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

function register(options: ListenOptions, url: string): Promise<Endpoint> {
  const description = `signalbox listen, forwarding to ${options.forwardTo.origin}`;
  return call(options, 'POST', '/webhook-endpoints/', { url, description, ...(options.events ? { enabled_events: options.events } : {}) });
}

async function call(options: ListenOptions, method: 'POST' | 'DELETE', path: string, body?: object): Promise<Endpoint> {
  const { statusCode, body: answer } = await request(`${options.base.replace(/\/+$/, '')}${path}`, {
    method,
    headers: { authorization: `Bearer ${options.token}`, 'content-type': 'application/json' },
    body: JSON.stringify(body ?? {}),
  });
  const text = await answer.text();
  if (statusCode >= 300) throw new CommandFailed(`${method} ${path} answered ${statusCode}: ${text}`);
  return JSON.parse(text) as Endpoint;
}

async function receive(incoming: IncomingMessage, outgoing: ServerResponse, { options, endpoint }: { options: ListenOptions; endpoint: Endpoint | null }): Promise<void> {
  try {
    const body = await readBody(incoming);
    const verdict = endpoint
      ? verifyWebhook({ headers: incoming.headers, body, secrets: [endpoint.secret] }, { nowSeconds: Date.now() / 1000 })
      : { valid: false as const, reason: 'not registered yet' };
    if (!verdict.valid) {
      options.print(`${clock()} refused: ${verdict.reason}`);
      return void outgoing.writeHead(401).end();
    }
    const result = await forward(options.forwardTo, incoming, body);
    options.print(`${clock()} ${summary(body)}  signatures valid  -> ${result.text}`);
    outgoing.writeHead(result.status).end();
  } catch (error) {
    options.print(`${clock()} failed: ${(error as Error).message}`);
    if (!outgoing.headersSent) outgoing.writeHead(500);
    outgoing.end();
  }
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > largestBody) throw new Error('the body is larger than 1 MiB');
  }
  return Buffer.concat(chunks).toString();
}

async function forward(target: URL, incoming: IncomingMessage, body: string): Promise<{ status: number; text: string }> {
  const headers = Object.fromEntries(forwardedHeaders.map((name) => [name, String(incoming.headers[name] ?? '')]));
  try {
    const answer = await request(target, { method: 'POST', headers, body, signal: AbortSignal.timeout(forwardDeadlineMs) });
    await answer.body.dump();
    return { status: answer.statusCode, text: String(answer.statusCode) };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return { status: 502, text: `no answer (${code ?? message})` };
  }
}

function summary(body: string): string {
  const event = JSON.parse(body) as { id: string; type: string };
  return `${event.type}  ${event.id}`;
}

function clock(): string {
  return new Date().toISOString().slice(11, 23);
}
