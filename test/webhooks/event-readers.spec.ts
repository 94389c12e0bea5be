import { EventEmitter, once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { connect, type Database } from '../../libs/db/client.js';
import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { appendEvents } from '../../libs/db/event.writes.js';
import { newId } from '../../libs/db/mint.js';
import { mostSearched } from '../../libs/db/event-scan.queries.js';
import { publicId } from '../../libs/views/ids.js';
import { freshAccount, type Client, type TestAccount } from '../support/account.js';
import { openStream } from '../support/event-stream.js';
import { untilShown } from '../support/events.js';
import { eventually, startStack, type PrivateStack } from '../support/stack.js';

let stack: PrivateStack;
let database: Database;
let account: TestAccount;
let stranger: TestAccount;

beforeAll(async () => {
  stack = await startStack({ extra: { EVENT_READER_STALL_SECONDS: '3', EVENT_STREAMS_PER_TOKEN: '3', EVENT_EXPORTS_PER_ACCOUNT: '1' }, withoutWorker: true });
  database = connect(stack.databaseUrl, { max: 4 });
}, 180_000);
afterAll(async () => {
  await database.close();
  await stack.stop();
}, 180_000);
beforeEach(async () => {
  const at = { environment: 'staging' as const, apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey };
  [account, stranger] = await Promise.all([freshAccount(at), freshAccount(at)]);
  await untilShown(stack.databaseUrl);
});

async function emit(numbers: number[], { to = account, type = 'customer.updated', customerId }: { to?: TestAccount; type?: string; customerId?: string } = {}): Promise<void> {
  const change = systemChange('staging', to.id);
  const drafts = numbers.map((number) => ({ type, kind: 'cus' as const, objectId: newId(), customerId, data: { number, order: `Order-${number}`, name: `"Zoë" the ${number}.` }, previous: null }));
  await transact(database.db, change, (tx) => appendEvents(tx, change, drafts));
}

/** Many copies of one event, each of an object of its own, a thousand to a transaction. */
async function fill(count: number, bytes = 500): Promise<void> {
  await emit([0]);
  for (let done = 1; done <= count; done += 1_000) {
    await database.pool.query(
      `insert into events (id, account_id, type, kind, object_id, sequence, command_id, deliveries_created, head, data, created_at)
       select gen_random_uuid(), account_id, type, kind, gen_random_uuid(), 1, gen_random_uuid(), 0, head, json_build_object('number', n, 'order', 'Order-' || n, 'filler', repeat('x', $4))::text, created_at
         from (select * from events where account_id = $1 and data like '{"number":0,%') e, generate_series($2::int, $3::int) n`,
      [account.id, done, Math.min(done + 999, count), bytes],
    );
  }
  await untilShown(stack.databaseUrl);
}

const numbersOf = (events: { data: { number: number } }[]) => events.map(({ data }) => data.number);
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

function openExport(client: Client, query = ''): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => get(`${client.url}/events/export${query}`, { headers: { authorization: `Bearer ${client.token}` }, agent: false }, resolve).once('error', reject));
}

const linesOf = (text: string) => text.trimEnd().split('\n').map((line) => JSON.parse(line));

async function residentBytes(): Promise<number> {
  const text = await (await fetch(`http://127.0.0.1:${stack.stack.ports['api-metrics-staging']}/metrics`)).text();
  return Number(/^process_resident_memory_bytes(?:\{.*\})? (\S+)$/m.exec(text)![1]);
}

describe('an export', () => {
  it('brings more than ten thousand events once each, ends with a line that says so, and goes on from there', async () => {
    await fill(11_000);
    const first = await account.readOnly.get('/events/export?type=customer.*');
    expect([first.status, first.headers.get('content-type')]).toEqual([200, 'application/x-ndjson; charset=utf-8']);
    const lines = linesOf(first.text);
    const trailer = lines.pop();
    expect(trailer).toEqual({ object: 'export', complete: true, events: 11_001, cursor: expect.any(String) });
    expect(new Set(numbersOf(lines)).size).toBe(11_001);
    expect((await account.readOnly.get(`/events/${lines[0].id}`)).body).toEqual(lines[0]);
    await emit([77_777]);
    await untilShown(stack.databaseUrl);
    const later = linesOf((await account.readOnly.get(`/events/export?after=${trailer.cursor}`)).text);
    expect([numbersOf(later.slice(0, -1)), later.at(-1)]).toEqual([[77_777], { object: 'export', complete: true, events: 1, cursor: expect.any(String) }]);
    expect(linesOf((await account.readOnly.get(`/events/export?after=${lines[0].id}&q=order-77777`)).text)).toHaveLength(2);
    expect(linesOf((await stranger.readOnly.get('/events/export')).text).filter(({ object_id }) => object_id)).toEqual([]);

    const found: number[] = [];
    let pages = 0;
    for (let cursor = ''; ; pages += 1) {
      const { body } = await account.readOnly.get(`/events?q=${encodeURIComponent('"ZOë" the 0.')}${cursor && `&cursor=${cursor}`}`);
      found.push(...numbersOf(body.data));
      if (!body.has_more) break;
      cursor = body.next_cursor;
    }
    expect([found, pages]).toEqual([[0], Math.floor(11_000 / mostSearched)]);
  }, 180_000);

  it('waits for a slow reader without keeping what it has not read, and cuts one that stopped, who sees that the end is missing', async () => {
    await fill(10_000, 4_000);
    const before = await residentBytes();
    const stopped = await openExport(account.readOnly);
    let lost = false;
    let tail = '';
    stopped.once('readable', () => undefined).once('close', () => { lost = true; }).once('error', () => undefined);
    expect((await account.readOnly.get('/events/export')).status).toBe(429);
    await eventually(async () => (await stranger.readOnly.get('/events/export')).status === 200);
    await eventually(async () => (await account.readOnly.get('/events/export?type=invoice.paid')).status === 200);
    expect(await residentBytes() - before).toBeLessThan(60 * 1024 * 1024);
    stopped.on('data', (chunk: Buffer) => { tail = (tail + chunk.toString()).slice(-10_000); });
    await eventually(() => lost);
    expect(stopped.complete).toBe(false);
    expect(tail).not.toContain('"object":"export"');
  }, 180_000);

  it('refuses what it does not know, naming the parameter', async () => {
    for (const name of ['type=charge.exploded', 'after=x', 'after=event_stg_01h455vb4pex5vsknk084sn02q', 'object_id=x', 'customer_id=x', 'q=x', 'since=x', 'limit=5']) {
      const { status, body } = await account.readOnly.get(`/events/export?${name}`);
      expect([name, status, body.errors[0].loc.at(-1)]).toEqual([name, 422, name.split('=')[0]]);
    }
  });
});

describe('a stream', () => {
  it('goes on after kill -9 from the last id: nothing lost, nothing twice', async () => {
    const first = await openStream(account.readOnly);
    expect([first.status, first.headers['content-type'], first.headers['cache-control'], first.headers['x-accel-buffering']]).toEqual([200, 'text/event-stream; charset=utf-8', 'no-store, no-transform', 'no']);
    expect(first.headers['content-encoding']).toBeUndefined();
    const beginning = first.lastId();
    await stack.api.kill9();
    await emit(range(1, 5));
    await stack.api.restart();
    const second = await openStream(account.readOnly, '', beginning);
    expect(numbersOf(await second.until(5))).toEqual(range(1, 5));
    const writing = [0, 1, 2, 3].map(async (lane) => {
      for (const number of range(6, 80)) if (number % 4 === lane) await emit([number]);
    });
    await second.until(20);
    await stack.api.kill9();
    await eventually(() => second.ended);
    await Promise.all([...writing, emit(range(81, 200))]);
    await stack.api.restart();
    const third = await openStream(account.readOnly, '', second.lastId());
    await third.until(200 - second.events().length);
    const all = [...numbersOf(second.events()), ...numbersOf(third.events())];
    expect([all.length, [...all].sort((a, b) => a - b)]).toEqual([200, range(1, 200)]);
    third.close();
  }, 180_000);

  it('skips no event whose transaction commits late', async () => {
    const stream = await openStream(account.readOnly, '?heartbeat=1');
    const change = systemChange('staging', account.id);
    const holder = new EventEmitter();
    const begun = once(holder, 'begun');
    const writing = transact(database.db, change, async (tx) => {
      await appendEvents(tx, change, [{ type: 'customer.created', kind: 'cus', objectId: newId(), data: { number: 1 }, previous: null }]);
      holder.emit('begun');
      await once(holder, 'commit');
    });
    await begun;
    await emit([2, 3]);
    const resumed = stream.lastId();
    await eventually(() => stream.messages.filter(({ event }) => event === 'heartbeat').length > 2);
    expect(stream.events()).toEqual([]);
    holder.emit('commit');
    await writing;
    expect(numbersOf(await stream.until(3))).toEqual([1, 2, 3]);
    const again = await openStream(account.readOnly, `?after=${resumed}`);
    expect(numbersOf(await again.until(3))).toEqual([1, 2, 3]);
    [stream, again].forEach((one) => one.close());
  });

  it('brings what its filters say, byte for byte as a webhook, and nothing of another account', async () => {
    const customerId = newId();
    const streams = await Promise.all([
      openStream(account.readOnly, '?type=invoice.*,customer.created'), openStream(account.operator, `?customer_id=${publicId('cus', 'staging', customerId)}`),
      openStream(account.admin, '?q=order-3'), openStream(account.operator, '?type=*&type=user.created'), openStream(account.operator), openStream(stranger.admin),
    ]);
    await emit([1], { to: stranger });
    await emit([1], { type: 'user.created' });
    await emit([2], { type: 'invoice.paid', customerId });
    await emit([3], { type: 'customer.created' });
    await emit([4, 5]);
    const counts = [2, 1, 1, 5, 4, 1];
    const got = await Promise.all(streams.map((stream, index) => stream.until(counts[index]!)));
    expect(got.map(numbersOf)).toEqual([[2, 3], [2], [3], [1, 2, 3, 4, 5], [2, 3, 4, 5], [1]]);
    const [message] = streams[0]!.messages.filter(({ event }) => event === 'message');
    const { rows: [row] } = await database.pool.query<{ head: string; data: string }>('select head, data from events where account_id = $1 and type = $2', [account.id, 'invoice.paid']);
    expect(message).toEqual({ id: got[0]![0].id, event: 'message', data: `${row!.head.slice(0, -1)},"data":${row!.data}}` });
    expect((await openStream(account.readOnly, '', (await stranger.readOnly.get('/events?limit=1')).body.data[0].id)).status).toBe(422);
    for (const query of ['?after=x', '?type=x', '?heartbeat=0', '?limit=1']) expect((await openStream(account.readOnly, query)).status).toBe(422);
    expect((await openStream(account.readOnly.as(null))).status).toBe(401);
    streams.forEach((stream) => stream.close());
  });

  it('is bounded per token, ends within seconds of its token, and in good order when the service stops', async () => {
    const made = (await account.admin.post('/api-tokens/', { name: 'reader', role: 'READ_ONLY' })).body;
    const reader = account.admin.as(made.token);
    const open = await Promise.all([openStream(reader), openStream(reader), openStream(reader)]);
    const refused = await openStream(reader);
    expect([refused.status, refused.headers['retry-after']]).toEqual([429, '5']);
    open[0]!.close();
    const fourth = await eventually(async () => {
      const stream = await openStream(reader);
      return stream.status === 200 ? stream : null;
    });
    const other = await openStream(account.admin);
    await account.admin.delete(`/api-tokens/${made.id}`);
    await eventually(() => open[1]!.ended && open[2]!.ended && fourth.ended);
    expect(fourth.messages.at(-1)).toMatchObject({ event: 'end', data: '{"reason":"token_invalid"}' });
    expect(other.ended).toBe(false);
    const stopping = performance.now();
    await stack.api.stop();
    expect(performance.now() - stopping).toBeLessThan(20_000);
    await eventually(() => other.ended);
    expect(other.messages.at(-1)).toMatchObject({ event: 'end', data: '{"reason":"shutdown"}' });
  }, 180_000);
});
