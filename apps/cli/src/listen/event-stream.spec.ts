import fc from 'fast-check';
import { readMessages, type StreamMessage } from './event-stream.js';

async function messagesIn(pieces: Iterable<Uint8Array>): Promise<StreamMessage[]> {
  async function* bytes() {
    yield* pieces;
  }
  const messages: StreamMessage[] = [];
  for await (const message of readMessages(bytes())) messages.push(message);
  return messages;
}

describe('an event stream', () => {
  const text = ': hello\nretry: 1000\nevent: heartbeat\nid: a.b\ndata: {}\n\nid: e1\ndata: {"name":"Zoë 日本 😀"}\n\ndata: x\r\ndata:y\r\n\r\nid: only\n\ndata: cut';

  it('reads the same whatever the network makes of its pieces, and leaves out what was cut', async () => {
    const bytes = Buffer.from(text);
    await fc.assert(fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 12 }), async (cuts) => {
      const places = [0, ...cuts.sort((a, b) => a - b), bytes.length];
      const pieces = places.slice(1).map((place, index) => bytes.subarray(places[index], place));
      expect(await messagesIn(pieces)).toEqual([
        { id: 'a.b', event: 'heartbeat', data: '{}' },
        { id: 'e1', event: 'message', data: '{"name":"Zoë 日本 😀"}' },
        { id: null, event: 'message', data: 'x\ny' },
      ]);
    }), { numRuns: 50 });
  });
});
