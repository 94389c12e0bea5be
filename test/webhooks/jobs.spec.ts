import { and, eq, sql } from 'drizzle-orm';
import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { newId } from '../../libs/db/mint.js';
import { events, webhookDeliveries, webhookJobs, type WebhookJobKind } from '../../libs/db/schema/index.js';
import { failuresToSlowDown } from '../../libs/domain/webhook/waiting.js';
import { lockEndpoint } from '../../libs/db/webhook-endpoint.queries.js';
import { enableEndpoint } from '../../libs/db/webhook-endpoint-status.writes.js';
import { stepWebhookJob } from '../../libs/db/webhook-job.steps.js';
import { cancelWebhookJob, createWebhookJob } from '../../libs/db/webhook-job.writes.js';
import { status } from '../support/receiver.js';
import { eventually } from '../support/stack.js';
import { receiver, stage, useStage, type Endpoint } from './drain.stage.js';

useStage();

async function start(endpoint: Endpoint, kind: WebhookJobKind): Promise<string> {
  const change = systemChange('production', endpoint.accountId);
  const job = { id: newId(), endpointId: endpoint.id, kind, since: new Date(Date.now() - 60_000), until: new Date(Date.now() + 1) };
  await transact(stage.db, change, (tx) => createWebhookJob(tx, change, job));
  await eventually(() => hasNothingOpenBefore(job.id));
  return job.id;
}

/** A job's steps wait for every transaction that was open before it, also those of the specs beside this one. */
async function hasNothingOpenBefore(id: string): Promise<boolean> {
  return (await stage.db.$count(webhookJobs, and(eq(webhookJobs.id, id), sql`${webhookJobs.txId} < pg_snapshot_xmin(pg_current_snapshot())`))) === 1;
}

const row = async (id: string) => (await stage.db.select().from(webhookJobs).where(eq(webhookJobs.id, id)))[0]!;
const step = (endpoint: Endpoint, id: string, window = 500) => stepWebhookJob(stage.db, { environment: 'production', job: { id, accountId: endpoint.accountId }, window });
const jobEvents = async (endpoint: Endpoint) => (await stage.eventTypes(endpoint.accountId)).filter((type) => type.startsWith('webhook_job.'));

/** Steps, by several at once, until the job is done; the endpoint is drained whenever nothing moves. */
async function run(endpoint: Endpoint, id: string, { window = 500, workers = 3 } = {}): Promise<void> {
  for (let rounds = 0; rounds < 200; rounds += 1) {
    const steps = await Promise.all(Array.from({ length: workers }, () => step(endpoint, id, window)));
    if (steps.some(({ state }) => state === 'done')) return;
    const failing = (await stage.row(endpoint.id)).consecutiveFailures >= failuresToSlowDown;
    if (steps.some(({ state }) => state === 'waiting')) await stage.drain(endpoint.id, { failing });
  }
  throw new Error('the job does not end');
}

/** Deaf to the job's own events, which would be deliveries among those that are counted. */
const deaf = { enabledEvents: ['customer.*'] };

describe('recover', () => {
  it('delivers what the endpoint missed, once, whoever works on it, and neither what arrived nor what it does not want', async () => {
    const endpoint = await stage.endpoint(receiver.url, deaf);
    await stage.emit(endpoint.accountId, 3);
    await stage.drain(endpoint.id);
    await stage.emit(endpoint.accountId, 4);
    await stage.db.update(webhookDeliveries).set({ status: 'cancelled', nextAttemptAt: null, finishedAt: new Date() }).where(and(eq(webhookDeliveries.endpointId, endpoint.id), eq(webhookDeliveries.status, 'pending')));
    await stage.update(endpoint.id, { status: 'disabled' });
    await stage.emit(endpoint.accountId, 40);
    await stage.emit(endpoint.accountId, 5, 'charge.failed');
    await stage.update(endpoint.id, { status: 'enabled' });
    await stage.emit(endpoint.accountId, 2);
    receiver.received.length = 0;

    const id = await start(endpoint, 'recover');
    await run(endpoint, id, { window: 7 });
    expect(receiver.received).toHaveLength(46);
    expect(new Set(receiver.ids()).size).toBe(46);
    expect(await row(id)).toMatchObject({ status: 'completed', counted: 44, total: 44, processed: 44, delivered: 44, undelivered: 0 });
    expect((await row(id)).finishedAt).not.toBeNull();
    expect(await jobEvents(endpoint)).toEqual(['webhook_job.created', 'webhook_job.completed']);
    expect((await stage.deliveries(endpoint.id)).every((delivery) => delivery.status === 'delivered')).toBe(true);

    await run(endpoint, await start(endpoint, 'recover'));
    expect(receiver.received).toHaveLength(46);
  });

  it('keeps no more in the queue than its window, so that fresh events do not wait behind it', async () => {
    const endpoint = await stage.endpoint(receiver.url, deaf);
    await stage.update(endpoint.id, { status: 'disabled' });
    await stage.emit(endpoint.accountId, 60);
    await stage.update(endpoint.id, { status: 'enabled' });
    const id = await start(endpoint, 'recover');
    const states = [];
    for (let steps = 0; steps < 6; steps += 1) states.push((await step(endpoint, id, 10)).state);
    expect(states).toEqual(['moved', 'moved', 'waiting', 'waiting', 'waiting', 'waiting']);
    expect(await stage.deliveries(endpoint.id)).toHaveLength(10);
    await stage.emit(endpoint.accountId, 1);
    await stage.drain(endpoint.id);
    expect(receiver.received).toHaveLength(11);
    expect(await step(endpoint, id, 10)).toEqual({ state: 'moved', finished: 10 });
  });

  it('brings back what a 410 cancelled, which enabling alone does not', async () => {
    receiver.answer = status(410);
    const endpoint = await stage.endpoint(receiver.url, deaf);
    await stage.emit(endpoint.accountId, 3);
    await stage.drain(endpoint.id);
    receiver.answer = status(200);
    receiver.received.length = 0;
    const change = systemChange('production', endpoint.accountId);
    await transact(stage.db, change, async (tx) => enableEndpoint(tx, change, (await lockEndpoint(tx, endpoint.accountId, endpoint.id))!));
    await stage.drain(endpoint.id);
    expect(receiver.received).toEqual([]);
    expect((await stage.deliveries(endpoint.id)).map((delivery) => delivery.status)).toEqual(['cancelled', 'cancelled', 'cancelled']);
    await run(endpoint, await start(endpoint, 'recover'));
    expect(new Set(receiver.ids()).size).toBe(3);
    expect(receiver.received).toHaveLength(3);
  });

  it('keeps to the rate of its endpoint', async () => {
    const endpoint = await stage.endpoint(receiver.url, { ...deaf, ratePerSecond: 20 });
    await stage.update(endpoint.id, { status: 'disabled' });
    await stage.emit(endpoint.accountId, 12);
    await stage.update(endpoint.id, { status: 'enabled' });
    const before = Date.now();
    await run(endpoint, await start(endpoint, 'recover'));
    expect(receiver.received).toHaveLength(12);
    expect((await stage.row(endpoint.id)).rateFreeAt!.getTime()).toBeGreaterThanOrEqual(before + 599);
  });

  it('ends when it is cancelled, or when its endpoint is disabled or deleted, and says why', async () => {
    const [cancelled, disabled, deleted] = await Promise.all([1, 2, 3].map(() => stage.endpoint(receiver.url, deaf)));
    const jobs = await Promise.all([cancelled!, disabled!, deleted!].map((endpoint) => start(endpoint, 'recover')));
    const change = systemChange('production', cancelled!.accountId);
    await transact(stage.db, change, (tx) => cancelWebhookJob(tx, change, jobs[0]!));
    await stage.update(disabled!.id, { status: 'disabled' });
    await stage.update(deleted!.id, { deletedAt: new Date() });
    for (const [index, endpoint] of [cancelled!, disabled!, deleted!].entries()) await run(endpoint, jobs[index]!);
    expect(await Promise.all(jobs.map(row))).toMatchObject([
      { status: 'cancelled', reason: 'requested' }, { status: 'failed', reason: 'endpoint_disabled' }, { status: 'failed', reason: 'endpoint_deleted' },
    ]);
    expect(await jobEvents(disabled!)).toEqual(['webhook_job.created', 'webhook_job.failed']);
    await expect(transact(stage.db, change, (tx) => cancelWebhookJob(tx, change, jobs[0]!))).rejects.toMatchObject({ code: 'invalid_state_transition' });
  });

  it('is the only job of its endpoint, and refused while the endpoint is disabled', async () => {
    const endpoint = await stage.endpoint(receiver.url, deaf);
    await start(endpoint, 'recover');
    await expect(start(endpoint, 'cancel_pending')).rejects.toMatchObject({ code: 'conflict' });
    const other = await stage.endpoint(receiver.url, deaf);
    await stage.update(other.id, { status: 'disabled' });
    await expect(start(other, 'resend_failed')).rejects.toMatchObject({ code: 'conflict' });
    expect(await jobEvents(other)).toEqual([]);
  });
});

describe('resend failed', () => {
  it('takes what was given up and what waits after a failure, each once, and nothing else', async () => {
    const endpoint = await stage.endpoint(receiver.url, deaf);
    receiver.answer = status(500);
    await stage.emit(endpoint.accountId, 2);
    await stage.drain(endpoint.id, { deps: { schedule: [0] } });
    await stage.emit(endpoint.accountId, 1);
    await stage.drain(endpoint.id, { deps: { schedule: [0, 3600, 3600] } });
    expect((await stage.deliveries(endpoint.id)).map((delivery) => delivery.status)).toEqual(['exhausted', 'exhausted', 'pending']);
    await stage.update(endpoint.id, { consecutiveFailures: 0 });
    await stage.emit(endpoint.accountId, 1);
    receiver.received.length = 0;
    receiver.answer = status(200);

    const id = await start(endpoint, 'resend_failed');
    await run(endpoint, id);
    expect(receiver.received).toHaveLength(4);
    expect(await row(id)).toMatchObject({ status: 'completed', total: 3, processed: 3, delivered: 3, undelivered: 0 });
    expect((await stage.deliveries(endpoint.id)).every((delivery) => delivery.status === 'delivered')).toBe(true);
  });

  it('tries one at a failing endpoint at once, though every retry is planned for later; when it arrives the rest follows, also what was never tried', async () => {
    const endpoint = await stage.endpoint(receiver.url, deaf);
    const deps = { schedule: [0, 3600, 3600] };
    receiver.answer = status(500);
    await stage.emit(endpoint.accountId, 40);
    for (const failing of [false, true]) await stage.drain(endpoint.id, { deps, failing });
    const failed = receiver.received.length;
    expect(failed).toBeLessThan(40);
    receiver.received.length = 0;

    const first = await start(endpoint, 'resend_failed');
    for (let drains = 0; drains < 2; drains += 1) {
      while ((await step(endpoint, first, 2)).state === 'moved');
      await stage.drain(endpoint.id, { deps, failing: true });
    }
    expect(receiver.received).toHaveLength(1);
    expect(await step(endpoint, first, 2)).toEqual({ state: 'waiting', finished: 1 });
    expect((await stage.deliveries(endpoint.id)).every((row) => row.nextAttemptAt!.getTime() > Date.now() + 2_800_000)).toBe(true);

    const change = systemChange('production', endpoint.accountId);
    await transact(stage.db, change, (tx) => cancelWebhookJob(tx, change, first));
    receiver.answer = status(200);
    const second = await start(endpoint, 'resend_failed');
    await run(endpoint, second, { window: 2 });
    await stage.drain(endpoint.id);
    expect(await row(second)).toMatchObject({ status: 'completed', total: failed - 2, processed: failed - 2, delivered: failed - 2, undelivered: 0 });
    expect((await stage.deliveries(endpoint.id)).every((delivery) => delivery.status === 'delivered')).toBe(true);
    expect(receiver.received).toHaveLength(1 + 40);
  });

  it('counts what fails again, and does not take it twice', async () => {
    const endpoint = await stage.endpoint(receiver.url, deaf);
    receiver.answer = status(500);
    await stage.emit(endpoint.accountId, 2);
    await stage.drain(endpoint.id, { deps: { schedule: [0] } });
    await stage.update(endpoint.id, { consecutiveFailures: 0 });
    receiver.received.length = 0;
    const id = await start(endpoint, 'resend_failed');
    while ((await step(endpoint, id)).state === 'moved');
    await stage.drain(endpoint.id, { deps: { schedule: [0] } });
    await run(endpoint, id);
    expect(receiver.received).toHaveLength(2);
    expect(await row(id)).toMatchObject({ status: 'completed', processed: 2, delivered: 0, undelivered: 2 });
  });
});

describe('cancel pending', () => {
  it('gives up all that waits, in pages, and leaves what comes later', async () => {
    const endpoint = await stage.endpoint(receiver.url, deaf);
    await stage.emit(endpoint.accountId, 1200);
    const id = await start(endpoint, 'cancel_pending');
    await stage.emit(endpoint.accountId, 1);
    await run(endpoint, id);
    expect(await row(id)).toMatchObject({ status: 'completed', total: 1200, processed: 1200, delivered: null, undelivered: null });
    expect((await stage.deliveries(endpoint.id)).filter((delivery) => delivery.status === 'pending')).toHaveLength(1);
    expect(receiver.received).toEqual([]);
    expect(await stage.db.$count(events, eq(events.accountId, endpoint.accountId))).toBe(1204);
  });
});
