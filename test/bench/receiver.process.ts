import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * The receiver of the bench, in a process of its own: answers 200 at once and keeps, per event, the milliseconds from the
 * event's `created_at` to the request's first byte. Tells its address to the parent; answers `report` messages.
 */
interface State {
  count: number;
  firstAt: number;
  lastAt: number;
  delays: number[];
}

let state: State = { count: 0, firstAt: 0, lastAt: 0, delays: [] };

const server = createServer((request, response) => {
  const at = Date.now();
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    response.writeHead(200).end();
    if (state.count === 0) state.firstAt = at;
    state.count += 1;
    state.lastAt = Date.now();
    const created = /"created_at":"([^"]+)"/.exec(Buffer.concat(chunks).toString('latin1'))?.[1];
    if (created) state.delays.push(at - Date.parse(created));
  });
});
server.keepAliveTimeout = 60_000;
server.listen(0, '127.0.0.1', () => process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/` }));

process.on('message', (message) => {
  process.send?.({ report: state });
  if (message === 'reset') state = { count: 0, firstAt: 0, lastAt: 0, delays: [] };
});
process.on('disconnect', () => process.exit(0));
