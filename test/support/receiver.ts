import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  at: number;
  path: string;
  headers: IncomingHttpHeaders;
  /** The raw body. */
  body: string;
  /** The parsed body. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  event: any;
}

/** Answers one request; without it the receiver says 200. */
export type Answer = (response: ServerResponse, received: Received) => void;

/** A webhook receiver on loopback that keeps what it got. */
export interface Receiver {
  url: string;
  received: Received[];
  /** How the next requests are answered. */
  answer: Answer;
  /** Most requests that were open at the same time. */
  mostOpen: number;
  /** Event ids in the order of arrival, repetitions included. */
  ids(): string[];
  close(): Promise<void>;
}

export async function openReceiver(answer: Answer = (response) => response.end('ok')): Promise<Receiver> {
  let open = 0;
  const server = createServer((request, response) => {
    open += 1;
    receiver.mostOpen = Math.max(receiver.mostOpen, open);
    response.once('close', () => { open -= 1; });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const one: Received = { at: performance.now(), path: request.url ?? '', headers: request.headers, body, event: JSON.parse(body) };
      receiver.received.push(one);
      receiver.answer(response, one);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: Receiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received: [],
    answer,
    mostOpen: 0,
    ids: () => receiver.received.map(({ event }) => event.id as string),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}

/** Answers with a status and nothing else. */
export function status(code: number, headers: Record<string, string> = {}): Answer {
  return (response) => response.writeHead(code, headers).end();
}
