import { and, eq } from 'drizzle-orm';
import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { beginDrain, claimEndpointsToWake, endDrain } from '../../libs/db/drain.writes.js';
import { webhookDeliveries } from '../../libs/db/schema/index.js';
import { lockEndpoint } from '../../libs/db/webhook-endpoint.queries.js';
import { testEndpoint } from '../../libs/db/webhook-endpoint.writes.js';
import { verifyWebhook } from '../../libs/webhooks/verify.js';
import { status, type Receiver } from '../support/receiver.js';
import { eventually } from '../support/stack.js';
import { receiver, stage, useStage } from './drain.stage.js';

useStage();

describe('a drain', () => {
  it('delivers every due row once, at most ten at a time, signed, and records each attempt', async () => {
    receiver.answer = (response) => { setTimeout(() => response.end('thanks'), 5); };
    const endpoint = await stage.endpoint(receiver.url);
    await stage.emit(endpoint.accountId, 130);
    expect(await stage.drain(endpoint.id)).toEqual({ state: 'open', failing: false, dueInMs: null });
    expect(new Set(receiver.ids()).size).toBe(130);
    expect(receiver.received).toHaveLength(130);
    expect(receiver.mostOpen).toBeGreaterThan(1);
    expect(receiver.mostOpen).toBeLessThanOrEqual(10);
    for (const { headers, body } of receiver.received) {
      expect(verifyWebhook({ headers, body, secrets: [endpoint.secret] }, { nowSeconds: Date.now() / 1000 })).toEqual({ valid: true });
    }
    const deliveries = await stage.deliveries(endpoint.id);
    expect(deliveries.every((row) => row.status === 'delivered' && row.attempts === 1 && row.lastStatus === 200 && row.finishedAt !== null)).toBe(true);
    const [attempt, ...more] = await stage.attempts(endpoint.accountId, deliveries[0]!.id);
    expect(attempt).toMatchObject({ number: 1, manual: false, url: receiver.url, responseStatus: 200, responseText: 'thanks', error: null });
    expect(more).toEqual([]);
    expect(await stage.row(endpoint.id)).toMatchObject({ drainUntil: null, wakeSentAt: null, consecutiveFailures: 0, failingSince: null });
  });

  it('sends the same bytes and the same id on every attempt, until the schedule is exhausted, and says so', async () => {
    receiver.answer = status(500);
    const endpoint = await stage.endpoint(receiver.url);
    await stage.emit(endpoint.accountId);
    const deps = { schedule: [0, 0, 0] };
    await eventually(async () => {
      const { failing } = await stage.row(endpoint.id).then((row) => ({ failing: row.consecutiveFailures >= 3 }));
      await stage.drain(endpoint.id, { deps, failing });
      return receiver.received.length >= 3;
    });
    expect(receiver.received).toHaveLength(3);
    expect(new Set(receiver.received.map(({ body }) => body)).size).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => headers['signature-digest'])).size).toBe(1);
    const [delivery] = await stage.deliveries(endpoint.id);
    expect(delivery).toMatchObject({ status: 'exhausted', attempts: 3, lastStatus: 500, nextAttemptAt: null });
    expect((await stage.attempts(endpoint.accountId, delivery!.id)).map(({ number }) => number)).toEqual([1, 2, 3]);
    expect(await stage.eventTypes(endpoint.accountId)).toEqual(['webhook_endpoint.created', 'customer.created', 'webhook_delivery.exhausted']);
    expect(await stage.attention(endpoint.accountId)).toMatchObject([{ type: 'webhook_deliveries_exhausted', objectId: endpoint.id }]);
  });

  it('does not announce that an announcement was not delivered', async () => {
    receiver.answer = status(500);
    const endpoint = await stage.endpoint(receiver.url);
    await stage.emit(endpoint.accountId);
    const deps = { schedule: [0] };
    await stage.drain(endpoint.id, { deps });
    await stage.drain(endpoint.id, { deps });
    expect((await stage.eventTypes(endpoint.accountId)).filter((type) => type === 'webhook_delivery.exhausted')).toHaveLength(1);
    expect((await stage.deliveries(endpoint.id)).map((row) => row.status)).toEqual(['exhausted', 'exhausted']);
  });

  it('plans the next attempt by the schedule, later where the receiver asks', async () => {
    receiver.answer = status(503, { 'retry-after': '7200' });
    const endpoint = await stage.endpoint(receiver.url);
    await stage.emit(endpoint.accountId);
    const { dueInMs } = await stage.drain(endpoint.id);
    expect(dueInMs).toBeGreaterThan(7_190_000);
    expect(dueInMs).toBeLessThanOrEqual(7_200_000);
    expect(await stage.deliveries(endpoint.id)).toMatchObject([{ status: 'pending', attempts: 1, lastStatus: 503 }]);
  });

  it('takes a redirect for a failure and does not follow it', async () => {
    receiver.answer = status(307, { location: receiver.url });
    const endpoint = await stage.endpoint(receiver.url);
    await stage.emit(endpoint.accountId);
    await stage.drain(endpoint.id);
    expect(receiver.received).toHaveLength(1);
    expect(await stage.deliveries(endpoint.id)).toMatchObject([{ status: 'pending', lastStatus: 307 }]);
  });

  it('disables the endpoint on 410, with event and attention item, and cancels what waits', async () => {
    receiver.answer = status(410);
    const endpoint = await stage.endpoint(receiver.url);
    await stage.emit(endpoint.accountId, 1);
    await stage.drain(endpoint.id);
    expect(await stage.row(endpoint.id)).toMatchObject({ status: 'disabled', statusReason: 'gone' });
    expect(await stage.deliveries(endpoint.id)).toMatchObject([{ status: 'cancelled', lastStatus: 410 }]);
    expect(await stage.eventTypes(endpoint.accountId)).toEqual(['webhook_endpoint.created', 'customer.created', 'webhook_endpoint.disabled']);
    expect(await stage.attention(endpoint.accountId)).toMatchObject([{ type: 'webhook_endpoint_disabled', objectId: endpoint.id, resolvedAt: null }]);
    await stage.emit(endpoint.accountId, 1);
    expect(await stage.deliveries(endpoint.id)).toHaveLength(1);
  });

  it('disables an endpoint that did nothing but fail for too long; one success starts the count again', async () => {
    const long = new Date(Date.now() - 60_000);
    const deps = { disableAfterMs: 30_000 };
    const endpoint = await stage.endpoint(receiver.url);
    await stage.update(endpoint.id, { failingSince: long, consecutiveFailures: 2 });
    await stage.emit(endpoint.accountId, 1);
    await stage.drain(endpoint.id, { deps });
    expect(await stage.row(endpoint.id)).toMatchObject({ status: 'enabled', failingSince: null, consecutiveFailures: 0 });

    receiver.answer = status(500);
    await stage.update(endpoint.id, { failingSince: long, consecutiveFailures: 2 });
    await stage.emit(endpoint.accountId, 1);
    await stage.drain(endpoint.id, { deps });
    expect(await stage.row(endpoint.id)).toMatchObject({ status: 'disabled', statusReason: 'failing' });
    expect((await stage.deliveries(endpoint.id)).map((row) => row.status)).toEqual(['delivered', 'cancelled']);
    expect(await stage.attention(endpoint.accountId)).toMatchObject([{ type: 'webhook_endpoint_disabled' }]);
  });

  it('leaves the deliveries of a paused endpoint waiting', async () => {
    const endpoint = await stage.endpoint(receiver.url);
    await stage.update(endpoint.id, { status: 'paused' });
    await stage.emit(endpoint.accountId, 2);
    expect(await stage.drain(endpoint.id)).toEqual({ state: 'open', failing: false, dueInMs: null });
    expect(receiver.received).toEqual([]);
    expect(await stage.deliveries(endpoint.id)).toMatchObject([{ status: 'pending' }, { status: 'pending' }]);
  });

  it('cancels what is left at a deleted endpoint and closes its dispatcher', async () => {
    const endpoint = await stage.endpoint(receiver.url);
    await stage.emit(endpoint.accountId, 1);
    await stage.update(endpoint.id, { deletedAt: new Date() });
    expect(await stage.drain(endpoint.id)).toEqual({ state: 'closed', failing: false, dueInMs: null });
    expect(await stage.deliveries(endpoint.id)).toMatchObject([{ status: 'cancelled' }]);
    expect(await stage.row(endpoint.id)).toMatchObject({ dispatcherOpen: false });
    expect(receiver.received).toEqual([]);
  });

  it('sends a failing endpoint one delivery at a time, and fresh ones wait for its next retry', async () => {
    receiver.answer = status(500);
    const endpoint = await stage.endpoint(receiver.url);
    await stage.emit(endpoint.accountId, 1);
    await stage.update(endpoint.id, { consecutiveFailures: 2 });
    const deps = { schedule: [0, 3600, 3600] };
    expect(await stage.drain(endpoint.id, { deps })).toMatchObject({ failing: true });
    await stage.emit(endpoint.accountId, 20);
    const { failing, dueInMs } = await stage.drain(endpoint.id, { deps, failing: true });
    expect(failing).toBe(true);
    expect(dueInMs).toBeGreaterThan(2_800_000);
    expect(receiver.received).toHaveLength(1);

    receiver.answer = status(200);
    await stage.db.update(webhookDeliveries).set({ nextAttemptAt: new Date() }).where(and(eq(webhookDeliveries.endpointId, endpoint.id)));
    expect(await stage.drain(endpoint.id, { deps, failing: true })).toEqual({ state: 'open', failing: false, dueInMs: 0 });
    expect(receiver.received).toHaveLength(2);
    expect(receiver.ids()[1]).toBe(receiver.ids()[0]);
    await stage.drain(endpoint.id, { deps });
    expect((await stage.deliveries(endpoint.id)).every((row) => row.status === 'delivered')).toBe(true);
  });

  it('tries a test at a failing endpoint at once; when it arrives, what waited for the next retry goes out', async () => {
    receiver.answer = (response, { event }) => response.writeHead(event.type === 'webhook_endpoint.test' ? 200 : 500).end();
    const endpoint = await stage.endpoint(receiver.url, { enabledEvents: ['customer.*'] });
    const deps = { schedule: [0, 3600, 3600] };
    await stage.emit(endpoint.accountId, 1);
    await stage.update(endpoint.id, { consecutiveFailures: 2 });
    await stage.drain(endpoint.id, { deps });
    await stage.emit(endpoint.accountId, 5);
    await stage.drain(endpoint.id, { deps, failing: true });
    expect(receiver.received).toHaveLength(1);

    const change = systemChange('production', endpoint.accountId);
    await transact(stage.db, change, async (tx) => testEndpoint(tx, change, (await lockEndpoint(tx, endpoint.accountId, endpoint.id))!));
    expect(await stage.drain(endpoint.id, { deps, failing: true })).toEqual({ state: 'open', failing: false, dueInMs: 0 });
    expect(receiver.received.map(({ event }) => event.type)).toEqual(['customer.created', 'webhook_endpoint.test']);
    receiver.answer = status(200);
    await stage.drain(endpoint.id, { deps });
    const rows = await stage.deliveries(endpoint.id);
    expect(rows.map((row) => [row.status, row.attempts])).toEqual([['pending', 1], ...Array.from({ length: 6 }, () => ['delivered', 1])]);
  });

  it('that was overtaken by another records nothing, so that its posts are made again', async () => {
    const endpoint = await stage.endpoint(receiver.url);
    await stage.emit(endpoint.accountId, 1);
    receiver.answer = (response) => { void beginDrain(stage.db, endpoint.id).then(() => response.end()); };
    await stage.drain(endpoint.id);
    expect(await stage.deliveries(endpoint.id)).toMatchObject([{ status: 'pending', attempts: 0 }]);
    receiver.answer = status(200);
    await stage.drain(endpoint.id);
    expect(await stage.deliveries(endpoint.id)).toMatchObject([{ status: 'delivered', attempts: 1 }]);
    expect(receiver.ids()).toHaveLength(2);
  });

  it('takes no new row once the process stops, gives open posts their grace, and repeats the interrupted ones later', async () => {
    const stop = new AbortController();
    receiver.answer = () => stop.abort();
    const endpoint = await stage.endpoint(receiver.url);
    await stage.emit(endpoint.accountId, 30);
    expect(await stage.drain(endpoint.id, { deps: { stopping: stop.signal } })).toMatchObject({ state: 'open', dueInMs: 0 });
    expect(receiver.received.length).toBeLessThanOrEqual(10);
    expect((await stage.deliveries(endpoint.id)).every((row) => row.status === 'pending' && row.attempts === 0)).toBe(true);
    receiver.answer = status(200);
    await stage.drain(endpoint.id);
    expect((await stage.deliveries(endpoint.id)).every((row) => row.status === 'delivered')).toBe(true);
    expect(new Set(receiver.ids()).size).toBe(30);
  });

  it('lingers for what comes a moment later', async () => {
    const endpoint = await stage.endpoint(receiver.url);
    await stage.emit(endpoint.accountId, 1);
    let later = false;
    receiver.answer = (response) => {
      response.end();
      if (!later) setTimeout(() => void stage.emit(endpoint.accountId, 1), 200);
      later = true;
    };
    await stage.drain(endpoint.id, { mayLinger: true });
    expect(receiver.received).toHaveLength(2);
  });

  it('within a workflow task takes rows for a second only; where they keep coming it says so, and no waker comes between', async () => {
    const endpoint = await stage.endpoint(receiver.url);
    await stage.emit(endpoint.accountId, 1);
    receiver.answer = (response) => void stage.emit(endpoint.accountId, 1).then(() => response.end());
    const begun = performance.now();
    const outcome = await stage.drain(endpoint.id, { brief: true, mayLinger: true });
    expect(performance.now() - begun).toBeLessThan(8_000);
    expect(outcome.goesOn === true || outcome.dueInMs === 0).toBe(true);
    const { drainUntil, wakeSentAt } = await stage.row(endpoint.id);
    expect([drainUntil, wakeSentAt !== null]).toEqual([null, outcome.goesOn === true]);
  });

  it('within a workflow task ends with what it found where nothing else comes', async () => {
    const endpoint = await stage.endpoint(receiver.url);
    await stage.emit(endpoint.accountId, 12);
    const outcome = await stage.drain(endpoint.id, { brief: true, mayLinger: true });
    expect(outcome).toMatchObject({ state: 'open', failing: false });
    expect(outcome.goesOn).toBeUndefined();
    expect(await stage.row(endpoint.id)).toMatchObject({ drainUntil: null, wakeSentAt: null });
    if (outcome.dueInMs === 0) await stage.drain(endpoint.id);
    expect(receiver.received).toHaveLength(12);
  });

  it('sends the whole event as a string where the endpoint wants that', async () => {
    const endpoint = await stage.endpoint(receiver.url, { dataFormat: 'string' });
    await stage.emit(endpoint.accountId, 1);
    await stage.drain(endpoint.id);
    const [{ headers, body, event }] = receiver.received as [Receiver['received'][number]];
    expect(Object.keys(event)).toEqual(['id', 'object', 'webhook_id', 'data']);
    expect(JSON.parse(event.data)).toMatchObject({ id: event.id, object: 'event', type: 'customer.created', data: { number: 0 } });
    expect(verifyWebhook({ headers, body, secrets: [endpoint.secret], format: 'string' }, { nowSeconds: Date.now() / 1000 })).toEqual({ valid: true });
  });
});

describe('a claim', () => {
  const claimed = async (endpointId: string): Promise<boolean> => (await claimEndpointsToWake(stage.db, 1000)).some(({ id }) => id === endpointId);

  it('gives an endpoint with due deliveries to one waker only, and to none while it is drained, paused or just woken', async () => {
    const endpoint = await stage.endpoint(receiver.url);
    expect(await claimed(endpoint.id)).toBe(false);
    await stage.emit(endpoint.accountId, 1);
    const claims = await Promise.all(Array.from({ length: 8 }, () => claimEndpointsToWake(stage.db, 1000)));
    expect(claims.flat().filter(({ id }) => id === endpoint.id)).toEqual([{ id: endpoint.id, accountId: endpoint.accountId, epoch: 0 }]);

    const { epoch } = (await beginDrain(stage.db, endpoint.id))!;
    await stage.update(endpoint.id, { wakeSentAt: null });
    expect(await claimed(endpoint.id)).toBe(false);
    await endDrain(stage.db, { endpointId: endpoint.id, epoch }, { closed: false });
    await stage.update(endpoint.id, { status: 'paused' });
    expect(await claimed(endpoint.id)).toBe(false);
    await stage.update(endpoint.id, { status: 'enabled' });
    expect(await claimed(endpoint.id)).toBe(true);
    expect(await claimed(endpoint.id)).toBe(false);
  });

  it('wakes a deleted endpoint until its dispatcher has ended', async () => {
    const endpoint = await stage.endpoint(receiver.url);
    await stage.update(endpoint.id, { deletedAt: new Date() });
    expect(await claimed(endpoint.id)).toBe(false);
    await stage.update(endpoint.id, { dispatcherOpen: true });
    expect(await claimed(endpoint.id)).toBe(true);
    await stage.drain(endpoint.id);
    expect(await claimed(endpoint.id)).toBe(false);
  });
});
