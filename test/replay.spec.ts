import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { historyFromJSON, historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { bundleWorkflowCode, DefaultLogger, Runtime, Worker } from '@temporalio/worker';
import { cardOf, openShop, pay, settled, type Shop } from './payments/shop.js';
import { becomes, invoicesOf, openStore, subscribe, type Store } from './subscriptions/store.js';
import { openEngine, type Engine } from './support/engine.js';
import { openReceiver } from './support/receiver.js';
import { eventually } from './support/stack.js';
import { advanceTo, onClock } from './test-clocks/hall.js';

/** Histories that were recorded once and must replay for as long as such workflows may run. */
const recorded = resolve('test/histories');
/** `SIGNALBOX_RECORD=1` records one history per case that is not recorded yet. */
const recording = process.env.SIGNALBOX_RECORD === '1';

type WorkflowBundle = { codePath: string } | { code: string };

let shop: Shop;
let store: Store;
let engine: Engine;
let workflowBundle: WorkflowBundle;

beforeAll(async () => {
  Runtime.install({ logger: new DefaultLogger('WARN') });
  shop = await openShop();
  store = await openStore();
  engine = await openEngine();
  const dist = resolve(process.env.SIGNALBOX_DIST ?? 'dist');
  const codePath = join(dist, 'workflow-bundles', 'workflows.js');
  workflowBundle = existsSync(codePath) ? { codePath } : await bundleWorkflowCode({ workflowsPath: join(dist, 'workflows', 'index.js') });
}, 180_000);
afterAll(() => engine?.close());

interface Replayed {
  workflowId: string;
  error?: unknown;
}

async function replay(histories: { workflowId: string; history: unknown }[]): Promise<Replayed[]> {
  const results: Replayed[] = [];
  for await (const result of Worker.runReplayHistories({ workflowBundle, replayName: 'replay' }, histories as never)) {
    results.push({ workflowId: result.workflowId, error: result.error });
  }
  return results;
}

async function historyOf(workflowId: string): Promise<unknown> {
  return engine.client.workflow.getHandle(workflowId).fetchHistory();
}

function record(name: string, history: unknown): void {
  const file = join(recorded, `${name}.json`);
  if (!recording || existsSync(file)) return;
  mkdirSync(recorded, { recursive: true });
  writeFileSync(file, `${historyToJSON(history as never)}\n`);
}

describe('workflows replay', () => {
  it('every payment of this spec, in all its courses', async () => {
    const cases = {
      'payment-approved': () => pay(shop),
      'payment-refused': () => pay(shop, { simulate: 'do_not_honor' }),
      'payment-fallback': () => pay(shop, { simulate: { [shop.a]: 'processing_error' } }),
      'payment-unknown': () => pay(shop, { simulate: { [shop.a]: 'error_after_charge' } }),
      'payment-captured': async () => {
        const { body } = await pay(shop, { extra: { capture_method: 'manual' } });
        return shop.admin.post(`/payment-intents/${body.id}/capture`);
      },
      'payment-challenge-cancelled': async () => {
        const { body } = await pay(shop, { method: await cardOf(shop, '4000002760003184') });
        return shop.admin.post(`/payment-intents/${body.id}/cancel`);
      },
    };
    const histories: { workflowId: string; history: unknown }[] = [];
    for (const [name, run] of Object.entries(cases)) {
      const { body } = await run();
      const id = (body.payment_intent_id ?? body.id) as string;
      await settled(shop, id, 'succeeded', 'requires_payment_method', 'canceled');
      const workflowId = `payment/${id}`;
      await engine.client.workflow.getHandle(workflowId).result();
      const history = await historyOf(workflowId);
      record(name, history);
      histories.push({ workflowId, history });
    }
    expect((await replay(histories)).filter((result) => result.error)).toEqual([]);
  }, 180_000);

  it('every subscription of this spec, in all its courses', async () => {
    const admin = (method: 'put' | 'post', id: string, path: string, body: object = {}) => store.admin[method](`/subscriptions/${id}/${path}`, body);
    const cases = {
      'subscription-paused': async () => {
        const { id } = await subscribe(store);
        await admin('put', id, 'pause');
        await admin('put', id, 'resume');
        return id;
      },
      'subscription-trial': async () => {
        const { id } = await subscribe(store, { trial_end: new Date(Date.now() + 2_000).toISOString() });
        await becomes(store, id, { status: 'active', billing_status: 'current' });
        return id;
      },
      'subscription-steps-at-once': async () => {
        const { id } = await subscribe(store, { trial_end: new Date(Date.now() + 2_000).toISOString() });
        await becomes(store, id, { status: 'active', billing_status: 'current' });
        await admin('put', id, 'pause');
        await admin('put', id, 'resume');
        return id;
      },
      'subscription-declined': async () => {
        const { id } = await subscribe(store, { payment_method_id: await cardOf(store, '4000000000000341') });
        await store.admin.put(`/subscriptions/${id}`, { payment_method_id: store.card });
        await becomes(store, id, { billing_status: 'current' });
        return id;
      },
      // More than the credit of those that were cancelled before.
      'subscription-pays-at-once': async () => {
        const { id } = await subscribe(store, {}, { unit_amount_atom: 50_000 });
        await admin('put', id, 'pause');
        await admin('put', id, 'resume');
        return id;
      },
      'subscription-slow-processor': async () => {
        const { id } = await subscribe(store, { custom_fields: { simulate: 'delay_5s' } }, { unit_amount_atom: 500_000 });
        await becomes(store, id, { status: 'active', billing_status: 'current' });
        await eventually(async () => (await invoicesOf(store, id))[0]?.status === 'paid', { timeoutMs: 20_000 });
        return id;
      },
    };
    const histories: { workflowId: string; history: unknown }[] = [];
    for (const [name, run] of Object.entries(cases)) {
      const id = await run();
      expect((await admin('post', id, 'cancel')).status).toBe(200);
      const workflowId = `subscription/${id}`;
      await engine.client.workflow.getHandle(workflowId).result();
      const history = await historyOf(workflowId);
      record(name, history);
      histories.push({ workflowId, history });
    }
    expect((await replay(histories)).filter((result) => result.error)).toEqual([]);
  }, 180_000);

  it('a test clock and its subscription, whose year costs a handful of workflow tasks', async () => {
    const hall = await onClock(store, '2030-01-01T00:00:00.000Z');
    const { id } = await subscribe(hall);
    await advanceTo(hall, '2031-01-01T00:00:00.000Z');
    expect((await store.admin.post(`/subscriptions/${id}/cancel`)).status).toBe(200);
    const histories: { workflowId: string; history: unknown }[] = [];
    for (const [name, workflowId] of [['test-clock-advanced', `test-clock/${hall.clock}`], ['subscription-on-clock', `subscription/${id}`]] as const) {
      await engine.client.workflow.getHandle(workflowId).result();
      const history = await historyOf(workflowId);
      record(name, history);
      histories.push({ workflowId, history });
      const { events } = history as { events: { workflowTaskCompletedEventAttributes?: unknown }[] };
      expect(events.filter((event) => event.workflowTaskCompletedEventAttributes).length).toBeLessThan(90);
    }
    expect((await replay(histories)).filter((result) => result.error)).toEqual([]);
  }, 180_000);

  it('a job that recovers what an endpoint missed', async () => {
    const receiver = await openReceiver();
    try {
      const { id: endpoint } = (await store.admin.post('/webhook-endpoints/', { url: receiver.url, enabled_events: ['product.*'] })).body;
      await store.admin.post(`/webhook-endpoints/${endpoint}/disable`);
      const since = new Date().toISOString();
      await store.admin.post('/products/', { name: 'Missed', description: 'While nobody listened' });
      await store.admin.post(`/webhook-endpoints/${endpoint}/enable`);
      const { id } = (await store.admin.post(`/webhook-endpoints/${endpoint}/recover`, { since })).body;
      const workflowId = `webhook-job/${id}`;
      await engine.client.workflow.getHandle(workflowId).result();
      expect(receiver.received).toHaveLength(1);
      const history = await historyOf(workflowId);
      record('webhook-job-recovered', history);
      expect((await replay([{ workflowId, history }])).filter((result) => result.error)).toEqual([]);
    } finally {
      await receiver.close();
    }
  }, 180_000);

  it('an endpoint that hears an event is drained within a workflow task', async () => {
    const receiver = await openReceiver();
    try {
      const { id } = (await store.admin.post('/webhook-endpoints/', { url: receiver.url, enabled_events: ['product.created'] })).body;
      for (const name of ['First', 'Second']) {
        const heard = receiver.received.length;
        await store.admin.post('/products/', { name, description: 'Told at once' });
        await eventually(async () => {
          const { body } = await store.admin.get(`/webhook-deliveries?endpoint_id=${id}&status=delivered`);
          return body.data.length > heard;
        });
      }
      await store.admin.delete(`/webhook-endpoints/${id}`);
      const workflowId = `webhook-endpoint/${id}`;
      await engine.client.workflow.getHandle(workflowId).result();
      const history = await historyOf(workflowId);
      record('webhook-endpoint-in-task', history);
      const { events } = history as { events: { markerRecordedEventAttributes?: { markerName?: string } }[] };
      expect(events.some((event) => event.markerRecordedEventAttributes?.markerName === 'core_local_activity')).toBe(true);
      expect((await replay([{ workflowId, history }])).filter((result) => result.error)).toEqual([]);
    } finally {
      await receiver.close();
    }
  }, 180_000);

  it('an approved payment takes one workflow task', async () => {
    const { body } = await pay(shop);
    await engine.client.workflow.getHandle(`payment/${body.id}`).result();
    const { events } = (await historyOf(`payment/${body.id}`)) as { events: { workflowTaskCompletedEventAttributes?: unknown }[] };
    expect(events.filter((event) => event.workflowTaskCompletedEventAttributes)).toHaveLength(1);
  }, 180_000);

  it('every workflow that other specs have run on this stack', async () => {
    const histories: { workflowId: string; history: unknown }[] = [];
    const kinds = new Map<string, number>();
    for await (const execution of engine.client.workflow.list()) {
      const seen = kinds.get(execution.type) ?? 0;
      if (seen >= 200) continue;
      kinds.set(execution.type, seen + 1);
      histories.push({ workflowId: execution.workflowId, history: await engine.client.workflow.getHandle(execution.workflowId, execution.runId).fetchHistory() });
    }
    expect(histories.length).toBeGreaterThan(0);
    expect((await replay(histories)).filter((result) => result.error)).toEqual([]);
  }, 180_000);

  it('recorded histories of every kind of workflow', async () => {
    const files = existsSync(recorded) ? readdirSync(recorded).filter((name) => name.endsWith('.json')) : [];
    const histories = files.map((name) => ({
      workflowId: name,
      history: historyFromJSON(JSON.parse(readFileSync(join(recorded, name), 'utf8'))),
    }));
    const kinds = new Set(files.map((name) => /^(payment|subscription|test-clock|webhook-endpoint|webhook-job)/.exec(name)?.[1]));
    expect(kinds).toEqual(new Set(['payment', 'subscription', 'test-clock', 'webhook-endpoint', 'webhook-job']));
    expect((await replay(histories)).filter((result) => result.error)).toEqual([]);
  }, 180_000);
});
