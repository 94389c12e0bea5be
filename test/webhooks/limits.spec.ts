import { and, eq, sql } from 'drizzle-orm';
import { beginDrain, claimEndpointsToWake, reserveTurns, takeTurn } from '../../libs/db/drain.writes.js';
import { cancelDelivery } from '../../libs/db/delivery.writes.js';
import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import { newId } from '../../libs/db/mint.js';
import { webhookDeliveries } from '../../libs/db/schema/index.js';
import { lockEndpoint } from '../../libs/db/webhook-endpoint.queries.js';
import { updateEndpoint } from '../../libs/db/webhook-endpoint.writes.js';
import { pauseEndpoint, resumeEndpoint } from '../../libs/db/webhook-endpoint-status.writes.js';
import { openReceiver, status } from '../support/receiver.js';
import { eventually } from '../support/stack.js';
import { receiver, stage, useStage, type Endpoint } from './drain.stage.js';

useStage();

/** Most arrivals in any window of a second. */
function mostPerSecond(): number {
  const times = receiver.received.map(({ at }) => at).sort((a, b) => a - b);
  return Math.max(...times.map((from, index) => times.slice(index).filter((at) => at < from + 1000).length));
}

const rowOf = (endpoint: Endpoint) => transact(stage.db, systemChange('production', endpoint.accountId), (tx) => lockEndpoint(tx, endpoint.accountId, endpoint.id));

async function changed(endpoint: Endpoint, effect: typeof pauseEndpoint): Promise<void> {
  const change = systemChange('production', endpoint.accountId);
  await transact(stage.db, change, async (tx) => effect(tx, change, (await lockEndpoint(tx, endpoint.accountId, endpoint.id))!));
}

const due = (endpoint: Endpoint) => stage.db.update(webhookDeliveries).set({ nextAttemptAt: new Date() }).where(eq(webhookDeliveries.endpointId, endpoint.id));

describe('an endpoint\'s limits', () => {
  it('never begin more posts in a second than its rate, over drains that follow and that overlap', async () => {
    const ratePerSecond = 40;
    const endpoint = await stage.endpoint(receiver.url, { ratePerSecond });
    await stage.emit(endpoint.accountId, 80);
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 600);
    await stage.drain(endpoint.id, { deps: { stopping: stop.signal } });
    expect(receiver.received.length).toBeLessThan(40);
    for (let round = 0; round < 6 && new Set(receiver.ids()).size < 80; round += 1) await Promise.all([stage.drain(endpoint.id), stage.drain(endpoint.id)]);
    expect(new Set(receiver.ids()).size).toBe(80);
    expect(mostPerSecond()).toBeLessThanOrEqual(ratePerSecond * 1.25 + 2);
    expect(mostPerSecond()).toBeGreaterThan(ratePerSecond * 0.5);
  });

  it('hand no turn out twice, and lose at most what was reserved', async () => {
    const endpoint = await stage.endpoint(receiver.url, { ratePerSecond: 10 });
    const { epoch } = (await beginDrain(stage.db, endpoint.id))!;
    const take = (held = epoch) => reserveTurns(stage.db, { endpointId: endpoint.id, epoch: held }, { count: 5, ratePerSecond: 10 });
    const before = Date.now();
    const turns = (await Promise.all([take(), take(), take()])).map((ms) => ms!).sort((a, b) => a - b);
    expect([turns[1]! - turns[0]! > 300, turns[2]! - turns[1]! > 300]).toEqual([true, true]);
    expect((await stage.row(endpoint.id)).rateFreeAt!.getTime() - before).toBeGreaterThanOrEqual(1_490);
    expect(await take(epoch - 1)).toBeUndefined();
    await stage.update(endpoint.id, { rateFreeAt: new Date(Date.now() + 3_600_000) });
    expect(await take()).toBeLessThanOrEqual(2_000);
  });

  it('count a person\'s post, too: it takes the next turn, and none when two seconds are booked', async () => {
    const endpoint = await stage.endpoint(receiver.url, { ratePerSecond: 10 });
    const before = Date.now();
    const turns = [await takeTurn(stage.db, endpoint.id), await takeTurn(stage.db, endpoint.id), await takeTurn(stage.db, endpoint.id)];
    expect(turns.every((ms) => ms !== undefined && ms <= 200)).toBe(true);
    expect((await stage.row(endpoint.id)).rateFreeAt!.getTime()).toBeGreaterThanOrEqual(before + 299);
    const { epoch } = (await beginDrain(stage.db, endpoint.id))!;
    await reserveTurns(stage.db, { endpointId: endpoint.id, epoch }, { count: 5, ratePerSecond: 10 });
    expect((await stage.row(endpoint.id)).rateFreeAt!.getTime()).toBeGreaterThanOrEqual(before + 799);
    await stage.update(endpoint.id, { rateFreeAt: new Date(Date.now() + 9_000) });
    expect(await takeTurn(stage.db, endpoint.id)).toBeUndefined();
    await stage.update(endpoint.id, { rateFreeAt: new Date(Date.now() + 3_600_000) });
    expect(await takeTurn(stage.db, endpoint.id)).toBe(0);
    expect(await takeTurn(stage.db, (await stage.endpoint(receiver.url)).id)).toBe(0);
  });

  it('give way to other endpoints where slots are short, and lose nothing by it', async () => {
    const endpoint = await stage.endpoint(receiver.url, { ratePerSecond: 20 });
    await stage.emit(endpoint.accountId, 200);
    const began = performance.now();
    const outcome = await stage.drain(endpoint.id, { mayLinger: false });
    expect(performance.now() - began).toBeLessThan(8_000);
    expect(outcome).toMatchObject({ state: 'open', dueInMs: 0 });
    const rows = await stage.deliveries(endpoint.id);
    expect(rows.filter((row) => row.status === 'delivered')).toHaveLength(receiver.received.length);
    expect(rows.every((row) => row.attempts === (row.status === 'delivered' ? 1 : 0))).toBe(true);
  });

  it('never have more posts open than it allows', async () => {
    receiver.answer = (response) => { setTimeout(() => response.end(), 10); };
    const endpoint = await stage.endpoint(receiver.url, { maxInFlight: 2 });
    await stage.emit(endpoint.accountId, 12);
    await stage.drain(endpoint.id);
    expect(receiver.received).toHaveLength(12);
    expect(receiver.mostOpen).toBe(2);
  });
});

describe('an ordered endpoint', () => {
  it('gets one object\'s events strictly in sequence, beside those of others, also when one of them fails', async () => {
    const arrived: number[] = [];
    let failures = 0;
    const [slow, quick] = [newId(), newId()];
    const endpoint = await stage.endpoint(receiver.url, { ordered: true, enabledEvents: ['customer.*'] });
    receiver.answer = (response, { event }) => {
      if (event.sequence === 2 && failures < 1) {
        failures += 1;
        return response.writeHead(500).end();
      }
      arrived.push(event.sequence);
      return response.end();
    };
    await stage.emitInOrder(endpoint.accountId, slow, 4);
    await stage.drainAll(endpoint.id, { deps: { schedule: [0, 3600] } });
    expect(arrived).toEqual([1]);
    await stage.emitInOrder(endpoint.accountId, quick, 1);
    await stage.drainAll(endpoint.id, { deps: { schedule: [0, 3600] } });
    expect(arrived).toEqual([1, 1]);
    expect(await stage.drain(endpoint.id)).toMatchObject({ dueInMs: expect.any(Number) });
    const waiting = (await stage.deliveries(endpoint.id)).filter((row) => row.status === 'pending');
    expect(waiting.map(({ sequence, attempts }) => [sequence, attempts])).toEqual([[2, 1], [3, 0], [4, 0]]);
    expect(new Set(waiting.map((row) => row.nextAttemptAt!.getTime())).size).toBe(1);
    expect((await claimEndpointsToWake(stage.db, 1000)).some(({ id }) => id === endpoint.id)).toBe(false);

    await due(endpoint);
    await stage.drainAll(endpoint.id);
    expect(arrived).toEqual([1, 1, 2, 3, 4]);
  });

  it('goes on at once when what stood before is cancelled, or when the order is given up', async () => {
    receiver.answer = status(500);
    const endpoint = await stage.endpoint(receiver.url, { ordered: true, enabledEvents: ['customer.*'] });
    await stage.emitInOrder(endpoint.accountId, newId(), 3);
    const deps = { schedule: [0, 3600, 3600] };
    await stage.drain(endpoint.id, { deps });
    const change = systemChange('production', endpoint.accountId);
    const first = (await stage.deliveries(endpoint.id))[0]!;
    await transact(stage.db, change, (tx) => cancelDelivery(tx, first.id));
    await stage.drain(endpoint.id, { deps });
    expect(receiver.received.map(({ event }) => event.sequence)).toEqual([1, 2]);
    await transact(stage.db, change, async (tx) => updateEndpoint(tx, change, (await lockEndpoint(tx, endpoint.accountId, endpoint.id))!, { ordered: false }));
    await stage.drain(endpoint.id, { deps });
    expect(receiver.received.map(({ event }) => event.sequence)).toEqual([1, 2, 3]);
  });
});

describe('a receiver that asks for silence', () => {
  it('by 429 with Retry-After is left alone as a whole until then: a storm costs a handful of attempts, and nothing is lost', async () => {
    receiver.answer = status(429, { 'retry-after': '3600' });
    const endpoint = await stage.endpoint(receiver.url);
    await stage.emit(endpoint.accountId, 150);
    const { dueInMs } = await stage.drain(endpoint.id);
    expect(receiver.received.length).toBeLessThanOrEqual(20);
    expect(dueInMs).toBeGreaterThan(3_590_000);
    const posted = receiver.received.length;
    await stage.drain(endpoint.id, { failing: true });
    await stage.drain(endpoint.id);
    expect(receiver.received).toHaveLength(posted);
    expect((await claimEndpointsToWake(stage.db, 1000)).some(({ id }) => id === endpoint.id)).toBe(false);
    expect((await stage.row(endpoint.id)).heldUntil!.getTime()).toBeGreaterThan(Date.now() + 3_590_000);

    receiver.answer = status(200);
    await changed(endpoint, pauseEndpoint);
    await changed(endpoint, resumeEndpoint);
    await due(endpoint);
    await stage.drain(endpoint.id, { failing: true });
    await stage.drain(endpoint.id);
    const rows = await stage.deliveries(endpoint.id);
    expect(rows.every((row) => row.status === 'delivered' && row.attempts <= 2)).toBe(true);
  });

  it('fails at once: a page of deliveries does not lose an attempt each', async () => {
    receiver.answer = status(500);
    const endpoint = await stage.endpoint(receiver.url);
    await stage.emit(endpoint.accountId, 150);
    expect(await stage.drain(endpoint.id)).toMatchObject({ failing: true });
    expect(receiver.received.length).toBeLessThanOrEqual(20);
  });

  it('gets it from the moment that its answer is on record, also when the process dies right then', async () => {
    const endpoint = await stage.endpoint(receiver.url);
    let answers = 0;
    receiver.answer = (response, received) => {
      answers += 1;
      if (answers === 1) status(503, { 'retry-after': '60' })(response, received);
    };
    await stage.emit(endpoint.accountId, 2);
    const dies = new AbortController();
    const drain = stage.drain(endpoint.id, { cancelled: dies.signal });
    await eventually(async () => answers === 2 && (await stage.deliveries(endpoint.id)).some(({ attempts }) => attempts === 1));
    expect((await stage.row(endpoint.id)).heldUntil!.getTime()).toBeGreaterThan(Date.now() + 50_000);
    dies.abort();
    await drain;
    expect((await stage.drain(endpoint.id)).dueInMs).toBeGreaterThan(50_000);
    expect(receiver.received).toHaveLength(2);
  });

  it('does not bind another address of the endpoint', async () => {
    const elsewhere = await openReceiver();
    const endpoint = await stage.endpoint(receiver.url);
    const change = systemChange('production', endpoint.accountId);
    receiver.answer = (response, received) => {
      const moved = transact(stage.db, change, async (tx) => updateEndpoint(tx, change, (await lockEndpoint(tx, endpoint.accountId, endpoint.id))!, { url: elsewhere.url }));
      void moved.then(() => status(429, { 'retry-after': '3600' })(response, received));
    };
    await stage.emit(endpoint.accountId, 1);
    await stage.drain(endpoint.id);
    expect((await stage.row(endpoint.id)).heldUntil).toBeNull();
    await elsewhere.close();
  });
});

describe('a change of an endpoint', () => {
  it('holds for the rest of a page that is under way', async () => {
    const endpoint = await stage.endpoint(receiver.url, { maxInFlight: 1, enabledEvents: ['customer.*'] });
    let paused: Promise<void> | null = null;
    receiver.answer = (response) => {
      paused ??= changed(endpoint, pauseEndpoint);
      void paused.then(() => setTimeout(() => response.end(), 20));
    };
    await stage.emit(endpoint.accountId, 60);
    await stage.drain(endpoint.id);
    expect(receiver.received.length).toBeLessThan(10);
    const rows = await stage.db.select().from(webhookDeliveries).where(and(eq(webhookDeliveries.endpointId, endpoint.id), sql`status = 'pending'`));
    expect(rows).toHaveLength(60 - receiver.received.length);
    expect((await rowOf(endpoint))!.status).toBe('paused');
  });
});
