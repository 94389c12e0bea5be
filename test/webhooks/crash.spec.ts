import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { connect, type Database } from '../../libs/db/client.js';
import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { appendEvents } from '../../libs/db/event.writes.js';
import { newId } from '../../libs/db/mint.js';
import { freshAccount, type TestAccount } from '../support/account.js';
import { parsePublicId } from '../../libs/views/ids.js';
import { untilShown } from '../support/events.js';
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
}, 180_000);
afterAll(async () => {
  await database.close();
  await stack.stop();
  rmSync(folder, { recursive: true, force: true });
}, 180_000);
beforeEach(async () => { receiver = await openReceiver(); });
afterEach(() => receiver.close());

async function register(fields: object = {}): Promise<string> {
  const made = await account.admin.post('/webhook-endpoints/', { url: receiver.url, enabled_events: ['customer.created'], ...fields });
  expect(made.status).toBe(201);
  return made.body.id;
}

async function emit(count: number, type = 'customer.created'): Promise<void> {
  const change = systemChange('staging', account.id);
  const drafts = Array.from({ length: count }, (_, index) => ({ type, kind: 'cus' as const, objectId: newId(), data: { number: index }, previous: null }));
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
const jobSize = 240;

/** Answers the first thirty and keeps the others waiting: whoever posts is in the middle of its work, however fast the machine is. */
function stopsMidway(one: Receiver): void {
  one.answer = (response) => { if (one.received.length <= 30) response.end(); };
}

const uuidOf = (endpoint: string) => parsePublicId('webhook_endpoint', 'staging', endpoint);

/** Half of what waits at the endpoint was given up, the rest waits an hour for its next attempt. */
async function failedAll(endpoint: string): Promise<void> {
  const { rowCount } = await database.pool.query(
    `update webhook_deliveries set attempts = 1, status = case when n % 2 = 0 then 'exhausted' else 'pending' end,
            next_attempt_at = case when n % 2 = 0 then null else now() + interval '1 hour' end
       from (select id as one, row_number() over () as n from webhook_deliveries where endpoint_id = $1) r where id = one`, [uuidOf(endpoint)]);
  expect(rowCount).toBe(jobSize);
}

/** The time until the queue takes over a person's post passes. */
async function handOver(endpoint: string): Promise<void> {
  const { rows } = await database.pool.query(
    `update webhook_deliveries set next_attempt_at = now() where endpoint_id = $1 and status = 'pending' and attempts = 0
       and next_attempt_at between now() and now() + interval '20 seconds' returning id`, [uuidOf(endpoint)]);
  expect(rows).toHaveLength(1);
}

/** Deliveries whose arrival at the receiver is on record. */
async function arrived({ url }: Receiver): Promise<number> {
  const { rows } = await database.pool.query<{ count: number }>('select count(distinct delivery_id)::int as count from webhook_attempts where url = $1 and response_status = 200', [url]);
  return rows[0]!.count;
}

describe('nothing is lost', () => {
  it('when the receiver fails for a while: every event is tried again on the schedule until it arrives', async () => {
    let failures = 3;
    receiver.answer = (response, received) => status(failures-- > 0 ? 500 : 200)(response, received);
    const endpoint = await register();
    await emit(1);
    await eventually(async () => (await statuses(endpoint)).delivered === 1, patient);
    expect(receiver.received).toHaveLength(4);
    expect(new Set(receiver.ids()).size).toBe(1);
  }, 180_000);

  it('when worker and API are killed in the middle of a drain, of jobs and of a person\'s post: each ends, and the numbers of the jobs are right', async () => {
    const others = await Promise.all([openReceiver(), openReceiver(), openReceiver(() => undefined)]);
    const [missing, failed, silent] = others as [Receiver, Receiver, Receiver];
    [receiver, missing, failed].forEach(stopsMidway);
    try {
      const drained = await register();
      const recovered = await register({ url: missing.url, enabled_events: ['product.created'] });
      const resent = await register({ url: failed.url, enabled_events: ['product.updated'] });
      const triggered = await register({ url: silent.url, enabled_events: ['product.deleted'] });
      await account.admin.post(`/webhook-endpoints/${recovered}/disable`);
      await account.admin.post(`/webhook-endpoints/${resent}/pause`);
      await Promise.all([emit(jobSize, 'product.created'), emit(jobSize, 'product.updated')]);
      await failedAll(resent);
      await account.admin.post(`/webhook-endpoints/${recovered}/enable`);
      await account.admin.post(`/webhook-endpoints/${resent}/resume`);
      await emit(300);
      const jobs = await Promise.all([
        account.admin.post(`/webhook-endpoints/${recovered}/recover`, { since: new Date(Date.now() - 60_000).toISOString() }),
        account.admin.post(`/webhook-endpoints/${resent}/resend-failed`),
      ]);
      expect(jobs.map(({ status: code }) => code)).toEqual([201, 201]);
      await untilShown(stack.databaseUrl);
      const [event] = (await account.readOnly.get('/events?type=product.created&limit=1')).body.data;
      const person = account.admin.post('/events/trigger-webhook', { event_id: event.id, selected_webhooks: [triggered] }).catch(() => null);

      await eventually(() => receiver.received.length > 30 && missing.received.length > 30 && failed.received.length > 30 && silent.received.length > 0, patient);
      await Promise.all([stack.worker.kill9(), stack.api.kill9()]);
      expect(await person).toBeNull();
      const { rows } = await database.pool.query('select status, processed < total as midst from webhook_jobs where account_id = $1', [account.id]);
      expect(rows).toEqual([{ status: 'running', midst: true }, { status: 'running', midst: true }]);
      expect(receiver.received.length).toBeLessThan(300);
      const unrecorded = await Promise.all([missing, failed].map(async (one) => new Set(one.ids()).size - (await arrived(one))));
      [receiver, ...others].forEach((one) => { one.answer = status(200); });
      await handOver(triggered);
      await Promise.all([stack.worker.restart(), stack.api.restart()]);

      const ended = await Promise.all(jobs.map(({ body }) => eventually(async () => {
        const job = (await account.readOnly.get(`/webhook-jobs/${body.id}`)).body;
        return job.status !== 'running' && job;
      }, patient)));
      for (const job of ended) {
        expect(job).toMatchObject({ status: 'completed', reason: null, counted: jobSize, total: jobSize, processed: jobSize, delivered: jobSize, undelivered: 0 });
      }
      await untilShown(stack.databaseUrl);
      expect([await statuses(recovered), await statuses(resent)]).toEqual([{ delivered: jobSize }, { delivered: jobSize }]);
      for (const [index, one] of [missing, failed].entries()) {
        expect(new Set(one.ids()).size).toBe(jobSize);
        expect(one.received.length).toBeLessThanOrEqual(jobSize + unrecorded[index]! + 10);
      }
      const { rows: recorded } = await database.pool.query('select count(*)::int as attempts from webhook_attempts where delivery_id in (select id from webhook_deliveries where job_id is not null and account_id = $1)', [account.id]);
      expect(recorded).toEqual([{ attempts: 2 * jobSize }]);

      await eventually(async () => (await statuses(drained)).delivered === 300, patient);
      expect(new Set(receiver.ids()).size).toBe(300);
      expect(receiver.received.length).toBeLessThan(300 + 60);
      await eventually(async () => (await statuses(triggered)).delivered === 1, patient);
      expect(silent.ids()).toEqual([event.id, event.id]);
    } finally {
      await Promise.all(others.map((one) => one.close()));
    }
  }, 180_000);

  it('when the worker is told to stop in the middle of a drain', async () => {
    receiver.answer = (response) => { setTimeout(() => response.end(), 20); };
    const endpoint = await register();
    await emit(200);
    await eventually(() => receiver.received.length > 20, patient);
    await stack.worker.restart();
    await eventually(async () => (await statuses(endpoint)).delivered === 200, patient);
    expect(receiver.received).toHaveLength(200);
  }, 180_000);

  it('while Temporal is away, and delivery resumes within 15 s of its return', async () => {
    const endpoint = await register();
    await emit(1);
    await eventually(async () => (await statuses(endpoint)).delivered === 1, patient);
    await stack.temporal.kill9();
    await emit(20);
    await untilShown(stack.databaseUrl);
    const { delivered = 0, pending = 0 } = await statuses(endpoint);
    expect(delivered + pending).toBe(21);
    await stack.temporal.restart();
    const back = performance.now();
    await eventually(() => new Set(receiver.ids()).size === 21, patient);
    expect(performance.now() - back).toBeLessThan(15_000);
    await eventually(async () => (await statuses(endpoint)).delivered === 21, patient);
  }, 180_000);

  it('when Postgres goes away in the middle of a drain', async () => {
    receiver.answer = (response) => { setTimeout(() => response.end(), 20); };
    const endpoint = await register();
    await emit(100);
    await eventually(() => receiver.received.length > 10, patient);
    await stack.postgres.kill9();
    await stack.postgres.restart();
    await eventually(async () => (await statuses(endpoint)).delivered === 100, patient);
    expect(new Set(receiver.ids()).size).toBe(100);
  }, 180_000);

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
  }, 180_000);
});
