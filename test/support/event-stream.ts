import { once } from 'node:events';
import { request, type IncomingMessage } from 'node:http';
import { readMessages, type StreamMessage } from '../../apps/cli/src/listen/event-stream.js';
import type { Client } from './account.js';
import { eventually } from './stack.js';

/** One open `GET /events/stream` and what came by it. */
export interface EventStream {
  status: number;
  headers: IncomingMessage['headers'];
  messages: StreamMessage[];
  /** Whether the connection has ended. */
  readonly ended: boolean;
  /** The events so far. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  events(): any[];
  /** Waits until so many events came. */
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
  until(count: number): Promise<any[]>;
  /** The last id of any message. */
  lastId(): string;
  close(): void;
}

export async function openStream(client: Client, query = '', lastEventId?: string): Promise<EventStream> {
  const headers = { authorization: `Bearer ${client.token}`, ...(lastEventId === undefined ? {} : { 'last-event-id': lastEventId }) };
  const sent = request(`${client.url}/events/stream${query}`, { headers, agent: false });
  const [incoming] = (await Promise.all([once(sent, 'response'), sent.end()]))[0] as [IncomingMessage];
  const messages: StreamMessage[] = [];
  let ended = false;
  void (async () => {
    try {
      for await (const message of readMessages(incoming)) messages.push(message);
    } catch {
      // a cut connection is an end, too
    }
    ended = true;
  })();
  const events = () => messages.filter(({ event }) => event === 'message').map(({ data }) => JSON.parse(data) as unknown);
  if (incoming.statusCode === 200) await eventually(() => messages.length > 0);
  return {
    status: incoming.statusCode!,
    headers: incoming.headers,
    messages,
    get ended() {
      return ended;
    },
    events,
    until: (count) => eventually(() => (events().length >= count ? events() : null)),
    lastId: () => messages.findLast(({ id }) => id !== null)!.id!,
    close: () => sent.destroy(),
  };
}
