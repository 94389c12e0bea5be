import { createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * The receiver of the bench, in a process of its own: answers 200 at once and keeps, per event, the milliseconds from the
 * event's `created_at` to the request's first byte. Tells its address to the parent; answers `report` messages. It reads HTTP/1.1 with a
 * `content-length` off the socket itself: what it spends is taken from what is measured beside it.
 */
interface State {
  count: number;
  firstAt: number;
  lastAt: number;
  delays: number[];
}

let state: State = { count: 0, firstAt: 0, lastAt: 0, delays: [] };

const answer = 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n';
const mark = '"created_at":"';
const timeLength = '2000-01-01T00:00:00.000Z'.length;

function serve(socket: Socket): void {
  let received = '';
  let firstByteAt = 0;
  socket.setNoDelay(true);
  socket.setEncoding('latin1');
  socket.on('error', () => socket.destroy());
  socket.on('data', (chunk: string) => {
    if (received === '') firstByteAt = Date.now();
    received += chunk;
    for (let length = requestLength(received); length !== null && length <= received.length; length = requestLength(received)) {
      heard(received.slice(0, length), firstByteAt);
      socket.write(answer);
      received = received.slice(length);
    }
  });
}

/** Bytes of the request that the text begins with; null: its head is not all there. */
function requestLength(text: string): number | null {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, end))?.[1];
  if (length === undefined) throw new Error(`a request without a length: ${text.slice(0, end)}`);
  return end + 4 + Number(length);
}

function heard(request: string, firstByteAt: number): void {
  if (state.count === 0) state.firstAt = firstByteAt;
  state.count += 1;
  state.lastAt = Date.now();
  const at = request.indexOf(mark);
  if (at >= 0) state.delays.push(firstByteAt - Date.parse(request.slice(at + mark.length, at + mark.length + timeLength)));
}

const server = createServer(serve);
server.listen(0, '127.0.0.1', () => process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }));

process.on('message', (message) => {
  process.send?.({ report: state });
  if (message === 'reset') state = { count: 0, firstAt: 0, lastAt: 0, delays: [] };
});
process.on('disconnect', () => process.exit(0));
