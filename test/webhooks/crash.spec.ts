import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect, type Database } from '../../libs/db/client.js';
import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { appendEvents } from '../../libs/db/event.writes.js';
import { newId } from '../../libs/db/mint.js';
import { freshAccount, type TestAccount } from '../support/account.js';
import { openReceiver, status, type Receiver } from '../support/receiver.js';
import { eventually, startStack, type PrivateStack } from '../support/stack.js';

let stack: PrivateStack;
let database: Database;
let account: TestAccount;
let receiver: Receiver;
const folder = mkdtempSync(join(tmpdir(), 'signalbox-clock-'));
const clock = join(folder, 'offset');

beforeAll(async () => {
  stack = await startStack({
    extra: { WEBHOOK_RETRY_SCHEDULE: '0,0.3,0.3,1,1,1', NODE_OPTIONS: `--import=${resolve('test/support/moved-clock.mjs')}`, TEST_CLOCK_FILE: clock },
  });
  database = connect(stack.databaseUrl, { max: 2 });
  account = await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
}, 60_000);
afterAll(async () => {
  await database.close();
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
}, 60_000);
beforeEach(async () => { receiver = await openReceiver(); });
afterEach(() => receiver.close());

async function register(): Promise<string> {
  const made = await account.admin.post('/webhook-endpoints/', { url: receiver.url, enabled_events: ['customer.created'] });
  expect(made.status).toBe(201);
  return made.body.id;
}

async function emit(count: number): Promise<void> {
  const change = systemChange('staging', account.id);
  const drafts = Array.from({ length: count }, (_, index) => ({ type: 'customer.created', kind: 'cus' as const, objectId: newId(), data: { number: index }, previous: null }));
  await transact(database.db, change, (tx) => appendEvents(tx, change, drafts));
}

async function statuses(endpoint: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  let cursor = '';
  do {
    const { body } = await account.readOnly.get(`/webhook-deliveries?endpoint_id=${endpoint}&limit=100${cursor && `&cursor=${cursor}`}`);
    for (const row of body.data) counts[row.status] = (counts[row.status] ?? 0) + 1;
    cursor = body.next_cursor ?? '';
  } while (cursor);
  return counts;
}

const patient = { timeoutMs: 60_000 };

describe('nothing is lost', () => {
  it('when the receiver fails for a while: every event is tried again on the schedule until it arrives', async () => {
    let failures = 3;
    receiver.answer = (response, received) => status(failures-- > 0 ? 500 : 200)(response, received);
    const endpoint = await register();
    await emit(1);
    await eventually(async () => (await statuses(endpoint)).delivered === 1, patient);
    expect(receiver.received).toHaveLength(4);
    expect(new Set(receiver.ids()).size).toBe(1);
  }, 60_000);

  it('when the worker is killed in the middle of a drain', async () => {
    receiver.answer = (response) => { setTimeout(() => response.end(), 20); };
    const endpoint = await register();
    await emit(300);
    await eventually(() => receiver.received.length > 30, patient);
    await stack.worker.kill9();
    const before = receiver.received.length;
    expect(before).toBeLessThan(300);
    await stack.worker.restart();
    await eventually(async () => (await statuses(endpoint)).delivered === 300, patient);
    expect(new Set(receiver.ids()).size).toBe(300);
    expect(receiver.received.length).toBeLessThan(300 + 60);
  }, 120_000);

  it('when the worker is told to stop in the middle of a drain', async () => {
    receiver.answer = (response) => { setTimeout(() => response.end(), 20); };
    const endpoint = await register();
    await emit(200);
    await eventually(() => receiver.received.length > 20, patient);
    await stack.worker.restart();
    await eventually(async () => (await statuses(endpoint)).delivered === 200, patient);
    expect(receiver.received).toHaveLength(200);
  }, 120_000);

  it('while Temporal is away, and delivery resumes within 15 s of its return', async () => {
    const endpoint = await register();
    await emit(1);
    await eventually(async () => (await statuses(endpoint)).delivered === 1, patient);
    await stack.temporal.kill9();
    await emit(20);
    const { delivered = 0, pending = 0 } = await statuses(endpoint);
    expect(delivered + pending).toBe(21);
    await stack.temporal.restart();
    const back = performance.now();
    await eventually(() => new Set(receiver.ids()).size === 21, patient);
    expect(performance.now() - back).toBeLessThan(15_000);
    await eventually(async () => (await statuses(endpoint)).delivered === 21, patient);
  }, 120_000);

  it('when Postgres goes away in the middle of a drain', async () => {
    receiver.answer = (response) => { setTimeout(() => response.end(), 20); };
    const endpoint = await register();
    await emit(100);
    await eventually(() => receiver.received.length > 10, patient);
    await stack.postgres.kill9();
    await stack.postgres.restart();
    await eventually(async () => (await statuses(endpoint)).delivered === 100, patient);
    expect(new Set(receiver.ids()).size).toBe(100);
  }, 120_000);

  it('while the clock of the processes jumps by hours and back', async () => {
    const endpoint = await register();
    let made = 0;
    for (const hours of [0, 5, -5, 0]) {
      writeFileSync(clock, String(hours * 3_600_000));
      let failures = 1;
      receiver.answer = (response, received) => status(failures-- > 0 ? 500 : 200)(response, received);
      const created = await account.admin.post('/customers/', { email: `clock${made}@example.com` });
      expect(created.status).toBe(201);
      made += 1;
      await eventually(async () => (await statuses(endpoint)).delivered === made, patient);
    }
    expect(new Set(receiver.ids()).size).toBe(4);
    expect(receiver.received).toHaveLength(8);
    const times = receiver.received.map(({ headers }) => Number(headers['webhook-timestamp']));
    expect(Math.max(...times) - Math.min(...times)).toBeGreaterThan(9 * 3_600);
  }, 120_000);
});
