import { createServer, connect as dial, type Server, type Socket } from 'node:net';
import { listen } from '../../apps/cli/src/listen/listen.js';
import { verifyWebhook } from '../../libs/webhooks/verify.js';
import { freshAccount, type TestAccount } from '../support/account.js';
import { openReceiver, status, type Receiver } from '../support/receiver.js';
import { eventually, shared } from '../support/stack.js';

let account: TestAccount;
let receiver: Receiver;
let lines: string[];
beforeEach(async () => {
  [account, receiver] = await Promise.all([freshAccount(), openReceiver()]);
  lines = [];
});
afterEach(() => receiver.close());

const print = (line: string) => void lines.push(line);
const ready = () => eventually(() => lines.some((line) => line.endsWith('ready')));
const customer = async (email: string): Promise<string> => (await account.admin.post('/customers/', { email, first_name: 'Zoë 日本 😀' })).body.id;

/** A way to the service that can be cut. */
async function openCable(): Promise<{ url: string; cut(): void; server: Server }> {
  const sockets = new Set<Socket>();
  const { hostname, port } = new URL(shared.stagingUrl);
  const server = createServer((near) => {
    const far = dial(Number(port), hostname);
    for (const [from, to] of [[near, far], [far, near]] as const) {
      sockets.add(from);
      from.on('error', () => to.destroy()).on('close', () => to.destroy()).pipe(to);
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as { port: number }).port}`, cut: () => sockets.forEach((socket) => socket.destroy()), server };
}

describe('signalbox listen', () => {
  it.each(['object', 'string'] as const)('posts what happens as a webhook in the format %s, so that the receiver\'s own check accepts it', async (format) => {
    const listening = listen({ base: shared.stagingUrl, token: account.readOnly.token!, forwardTo: new URL(receiver.url), format, query: { type: 'customer.*' }, print });
    await ready();
    const id = await customer('a@example.com');
    await account.admin.post('/webhook-endpoints/', { url: receiver.url, enabled_events: ['user.created'] });
    const { headers, body, event } = await eventually(() => receiver.received[0]);
    const received = { headers, body, secrets: [listening.secret], format };
    expect(verifyWebhook(received, { nowSeconds: Date.now() / 1000 })).toEqual({ valid: true });
    expect(verifyWebhook({ ...received, body: body.replace('a@example', 'b@example') }, { nowSeconds: Date.now() / 1000 }).valid).toBe(false);
    expect(format === 'object' ? event.data : JSON.parse(event.data).data).toMatchObject({ id, email: 'a@example.com', first_name: 'Zoë 日本 😀' });
    await eventually(() => lines.some((line) => line.endsWith(`customer.created  ${event.id}  ${id}  -> 200`)));
    await listening.close();
    expect(receiver.received).toHaveLength(1);
    expect((await account.admin.get('/webhook-endpoints')).body.data).toHaveLength(1);
  });

  it('goes on after a broken connection without losing or repeating an event, also while the receiver fails', async () => {
    const cable = await openCable();
    const listening = listen({ base: cable.url, token: account.readOnly.token!, forwardTo: new URL(receiver.url), query: { type: 'customer.created' }, print });
    await ready();
    const ids = [await customer('1@example.com')];
    await eventually(() => receiver.received.length === 1);
    receiver.answer = status(500);
    cable.cut();
    ids.push(await customer('2@example.com'), await customer('3@example.com'));
    await eventually(() => receiver.received.length === 3, { timeoutMs: 90_000 });
    ids.push(await customer('4@example.com'));
    await eventually(() => receiver.received.length === 4);
    expect(receiver.received.map(({ event }) => event.data.id)).toEqual(ids);
    await eventually(() => lines.filter((line) => line.endsWith('-> 500')).length === 3);
    await listening.close();
    cable.cut();
    cable.server.close();
  });

  it('only prints where nothing is to be posted to, replays from an event, and says why it is refused', async () => {
    await customer('old@example.com');
    const [first] = (await account.readOnly.post('/events/list', { types: ['customer.created'] })).body.data;
    await customer('later@example.com');
    const listening = listen({ base: shared.stagingUrl, token: account.readOnly.token!, json: true, query: { after: first.id, q: 'LATER@example' }, print });
    await eventually(() => lines.some((line) => line.includes('"email":"later@example.com"')));
    await listening.close();
    expect(lines.filter((line) => line.startsWith('{'))).toHaveLength(1);
    await expect(listen({ base: shared.stagingUrl, token: account.readOnly.token!, query: { type: 'nothing.such' }, print }).ended).rejects.toThrow(/422.*type/);
    await expect(listen({ base: shared.stagingUrl, token: `${account.readOnly.token}x`, print }).ended).rejects.toThrow('401');
  });
});
