import { eq } from 'drizzle-orm';
import { systemChange } from '../../libs/db/account.writes.js';
import { transact } from '../../libs/db/change.js';
import type { Tx } from '../../libs/db/client.js';
import { claimEndpointsToWake } from '../../libs/db/drain.writes.js';
import { events, webhookDeliveries } from '../../libs/db/schema/index.js';
import { lockEndpoint } from '../../libs/db/webhook-endpoint.queries.js';
import { disableEndpoint, enableEndpoint, noteArrival, pauseEndpoint, resumeEndpoint, tellOfFailingEndpoints } from '../../libs/db/webhook-endpoint-status.writes.js';
import { defaultSchedule } from '../../libs/webhooks/schedule.js';
import { openReceiver, status, type Receiver } from '../support/receiver.js';
import { openStage, type Endpoint, type Stage } from './drain.stage.js';

const hourMs = 3_600_000;

let stage: Stage;
let bad: Receiver;
let good: Receiver;

beforeAll(() => { stage = openStage(); });
afterAll(() => stage.close());
beforeEach(async () => {
  [bad, good] = await Promise.all([openReceiver(status(500)), openReceiver()]);
});
afterEach(() => Promise.all([bad.close(), good.close()]));

const tell = () => tellOfFailingEndpoints(stage.db, 'production', { afterMs: hourMs });

const failsForAnHour = (endpoint: Endpoint) => stage.update(endpoint.id, { failingSince: new Date(Date.now() - hourMs - 1_000) });

/** Types about an endpoint since it was made, and the endpoints that were to hear of each. */
async function told(endpoint: Endpoint): Promise<[string, string[]][]> {
  const rows = await stage.db.select().from(events).where(eq(events.objectId, endpoint.id)).orderBy(events.sequence);
  const heard = await Promise.all(rows.map(async ({ id, type }): Promise<[string, string[]]> => {
    const deliveries = await stage.db.select().from(webhookDeliveries).where(eq(webhookDeliveries.eventId, id));
    return [type.replace('webhook_endpoint.', ''), deliveries.map((delivery) => delivery.endpointId)];
  }));
  return heard.filter(([type]) => !['created', 'updated'].includes(type));
}

const claimed = async ({ id }: Endpoint) => (await claimEndpointsToWake(stage.db, 1000)).some((endpoint) => endpoint.id === id);

const dueNow = (endpoint: Endpoint) => stage.db.update(webhookDeliveries).set({ nextAttemptAt: new Date() }).where(eq(webhookDeliveries.endpointId, endpoint.id));

describe('an endpoint that only fails', () => {
  it('for an hour is told of once, to the others and the attention list, also by several workers; and again when it recovers', async () => {
    const failing = await stage.endpoint(bad.url);
    const other = await stage.endpoint(good.url, { accountId: failing.accountId, enabledEvents: ['webhook_endpoint.*'] });
    await stage.emit(failing.accountId, 4);
    await stage.drain(failing.id, { deps: { schedule: [0, 3600, 3600] } });
    await tell();
    expect(await told(failing)).toEqual([]);

    await failsForAnHour(failing);
    await Promise.all([tell(), tell(), tell()]);
    expect(await told(failing)).toEqual([['failing', [other.id]]]);
    expect(await stage.attention(failing.accountId)).toMatchObject([{ type: 'webhook_endpoint_failing', objectId: failing.id, resolvedAt: null }]);
    await stage.drain(other.id);
    expect(good.received.map(({ event }) => [event.type, event.data.is_failing])).toEqual([['webhook_endpoint.failing', true]]);

    bad.answer = status(200);
    await dueNow(failing);
    await stage.drain(failing.id, { failing: true });
    expect(await told(failing)).toEqual([['failing', [other.id]], ['recovered', [other.id]]]);
    expect(await stage.row(failing.id)).toMatchObject({ failingToldAt: null, failingSince: null });
    expect((await stage.attention(failing.accountId)).every((line) => line.resolvedAt !== null)).toBe(true);
    await tell();
    expect(await told(failing)).toHaveLength(2);
  });

  it('is well again when a person\'s post arrives, or somebody resumes it: what waited for its next retry goes out', async () => {
    const failing = await stage.endpoint(bad.url, { enabledEvents: ['customer.*'] });
    const other = await stage.endpoint(good.url, { accountId: failing.accountId, enabledEvents: ['webhook_endpoint.*'] });
    const deps = { schedule: [0, 3600, 3600] };
    const change = systemChange('production', failing.accountId);
    const effects: ((tx: Tx) => Promise<unknown>)[] = [
      (tx) => noteArrival(tx, change, failing.id),
      async (tx) => {
        const paused = await pauseEndpoint(tx, change, (await lockEndpoint(tx, failing.accountId, failing.id))!);
        return resumeEndpoint(tx, change, paused);
      },
    ];
    for (const effect of effects) {
      bad.answer = status(500);
      await stage.emit(failing.accountId, 30);
      for (const slow of [false, true]) await stage.drain(failing.id, { deps, failing: slow });
      expect(await claimed(failing)).toBe(false);
      await failsForAnHour(failing);
      await tell();
      await transact(stage.db, change, effect);
      expect(await stage.row(failing.id)).toMatchObject({ consecutiveFailures: 0 });
      expect(await claimed(failing)).toBe(true);
      bad.answer = status(200);
      for (const slow of [true, false]) await stage.drain(failing.id, { deps, failing: slow });
      expect((await stage.deliveries(failing.id)).filter((row) => row.status === 'pending' && row.attempts === 0)).toEqual([]);
    }
    expect((await told(failing)).filter(([type]) => ['failing', 'recovered'].includes(type))).toEqual([
      ['failing', [other.id]], ['recovered', [other.id]], ['failing', [other.id]], ['recovered', [other.id]],
    ]);
  });

  it('is not told of for a single failure, while it is paused, or before the hour', async () => {
    const failing = await stage.endpoint(bad.url);
    await stage.emit(failing.accountId, 1);
    await stage.drain(failing.id, { deps: { schedule: [0, 3600] } });
    await failsForAnHour(failing);
    await tell();
    await stage.update(failing.id, { consecutiveFailures: 3, status: 'paused' });
    await tell();
    expect(await told(failing)).toEqual([]);
  });

  it('is disabled after 5 days, by 410 or by hand, which the others hear; its line gives way to the new one, and enabling begins anew', async () => {
    const failing = await stage.endpoint(bad.url);
    const other = await stage.endpoint(good.url, { accountId: failing.accountId, enabledEvents: ['webhook_endpoint.*'] });
    await stage.emit(failing.accountId, 3);
    await stage.drain(failing.id);
    await failsForAnHour(failing);
    await tell();
    bad.answer = status(410);
    await dueNow(failing);
    await stage.drain(failing.id, { failing: true });
    expect(await told(failing)).toEqual([['failing', [other.id]], ['disabled', [other.id]]]);
    const open = (await stage.attention(failing.accountId)).filter((line) => line.resolvedAt === null);
    expect(open.map(({ type }) => type)).toEqual(['webhook_endpoint_disabled']);

    const change = systemChange('production', failing.accountId);
    const row = () => transact(stage.db, change, async (tx) => (await lockEndpoint(tx, failing.accountId, failing.id))!);
    await transact(stage.db, change, async (tx) => enableEndpoint(tx, change, await row()));
    expect(await stage.row(failing.id)).toMatchObject({ status: 'enabled', consecutiveFailures: 0, failingSince: null, failingToldAt: null });
    const byHand = systemChange('production', failing.accountId);
    await transact(stage.db, byHand, async (tx) => disableEndpoint(tx, byHand, await row(), 'requested'));
    expect((await told(failing)).map(([type, heard]) => [type, heard.filter((id) => id !== failing.id)])).toEqual([
      ['failing', [other.id]], ['disabled', [other.id]], ['enabled', [other.id]], ['disabled', [other.id]],
    ]);
  });

  it('and another that only fails do not feed each other: what is told of them comes to an end', async () => {
    const schedule = [0, 0, 0];
    const one = await stage.endpoint(bad.url);
    const two = await stage.endpoint(`${bad.url}2`, { accountId: one.accountId });
    await stage.emit(one.accountId, 2);
    const counts: number[] = [];
    for (let round = 0; round < 8; round += 1) {
      for (const endpoint of [one, two]) {
        await dueNow(endpoint);
        const { consecutiveFailures } = await stage.row(endpoint.id);
        await stage.drain(endpoint.id, { deps: { schedule }, failing: consecutiveFailures >= 3 });
        await failsForAnHour(endpoint);
      }
      await tell();
      counts.push((await stage.eventTypes(one.accountId)).length);
    }
    expect(counts.at(-1)).toBe(counts.at(-3));
    expect((await stage.eventTypes(one.accountId)).filter((type) => type === 'webhook_endpoint.failing')).toHaveLength(2);
    for (const endpoint of [one, two]) expect((await stage.deliveries(endpoint.id)).filter((row) => row.status === 'pending')).toEqual([]);
  });
});

describe('an endpoint that is down for the whole schedule', () => {
  const schedule = defaultSchedule.map((seconds) => seconds / 10_000_000);

  async function drainUntilIdle(endpoint: Endpoint): Promise<void> {
    for (let round = 0; round < 30; round += 1) {
      const { consecutiveFailures } = await stage.row(endpoint.id);
      const { dueInMs } = await stage.drain(endpoint.id, { deps: { schedule }, failing: consecutiveFailures >= 3 });
      if (dueInMs === null) return;
    }
  }

  it('gets each webhook eleven times, then it is exhausted and said so, once', async () => {
    const endpoint = await stage.endpoint(bad.url, { enabledEvents: ['customer.created'] });
    await stage.emit(endpoint.accountId, 1);
    await drainUntilIdle(endpoint);
    expect(bad.received).toHaveLength(11);
    expect(new Set(bad.ids()).size).toBe(1);
    expect(await stage.deliveries(endpoint.id)).toMatchObject([{ status: 'exhausted', attempts: 11 }]);
    expect((await stage.eventTypes(endpoint.accountId)).filter((type) => type === 'webhook_delivery.exhausted')).toHaveLength(1);
    expect(await stage.attention(endpoint.accountId)).toMatchObject([{ type: 'webhook_deliveries_exhausted' }]);
  });

  it('and is up again for the last attempt loses nothing', async () => {
    bad.answer = (response) => response.writeHead(bad.received.length >= 11 ? 200 : 503).end();
    const endpoint = await stage.endpoint(bad.url, { enabledEvents: ['customer.created'] });
    await stage.emit(endpoint.accountId, 1);
    await drainUntilIdle(endpoint);
    expect(await stage.deliveries(endpoint.id)).toMatchObject([{ status: 'delivered', attempts: 11 }]);
    expect(await stage.row(endpoint.id)).toMatchObject({ consecutiveFailures: 0, failingSince: null });
  });
});
