import { eq } from 'drizzle-orm';
import { systemChange } from '../../libs/db/account.writes.js';
import { eventFooting, renderEvents } from '../../libs/db/event.writes.js';
import { transact } from '../../libs/db/change.js';
import { connect, type Database } from '../../libs/db/client.js';
import { newId } from '../../libs/db/mint.js';
import { writeNewPayment } from '../../libs/db/payment.batch.js';
import { intentById } from '../../libs/db/payment.queries.js';
import { paymentIntents } from '../../libs/db/schema/index.js';
import { createSecretBox } from '../../libs/db/secret.js';
import { advancePayment } from '../../libs/payments/advance-payment.js';
import { attemptMove, planAttempt } from '../../libs/payments/begin-attempt.js';
import { appliedMove } from '../../libs/payments/applied-move.js';
import { confirmIntent } from '../../libs/payments/confirm-intent.js';
import { createIntent, intentCreated, intentRow } from '../../libs/payments/create-intent.js';
import type { HeldPayment } from '../../libs/payments/held-payment.js';
import { changeOf } from '../../libs/payments/move-effects.js';
import { eventsOf } from '../../libs/payments/move-events.js';
import { createPaymentDeps } from '../../libs/payments/payment.deps.js';
import { parsePublicId, publicId } from '../../libs/views/ids.js';
import { openEngine, type Engine } from '../support/engine.js';
import { untilListed } from '../support/events.js';
import { openReceiver } from '../support/receiver.js';
import { eventually, shared } from '../support/stack.js';
import { cardOf, chargesOf, eventTypes, intentOf, ledgerOf, made, moneyTaken, openShop, pay, settled, type Shop } from './shop.js';

let shop: Shop;
let database: Database;
let engine: Engine;

beforeAll(async () => {
  database = connect(shared.databaseUrlStaging, { max: 4 });
  engine = await openEngine();
  shop = await openShop({ fallback: { on: ['soft_decline', 'processor_error', 'not_sent'], max_attempts: 2 } });
  await shop.admin.put('/account', { execution: 'inline' });
});
afterAll(async () => {
  await database?.close();
  await engine?.close();
});

const hasWorkflow = async (id: string) =>
  engine.client.workflow.getHandle(`payment/${id}`).describe().then(() => true, () => false);
const startOf = async (id: string) => {
  const { events } = await engine.client.workflow.getHandle(`payment/${id}`).fetchHistory();
  return events![0]!.workflowExecutionStartedEventAttributes!;
};
const inline = (wish: Parameters<typeof pay>[1] = {}) => pay(shop, { ...wish, extra: { execution: 'inline', ...wish?.extra } });

describe('a payment that its request runs itself', () => {
  it('is answered final, tells every step in order, and needs no workflow', async () => {
    const { status, body } = await inline();
    expect([status, body.status, body.execution]).toEqual([201, 'succeeded', 'inline']);
    expect(body).toEqual(await intentOf(shop, body.id));
    expect(await eventTypes(shop, body.id)).toEqual(['payment_intent.created', 'payment_intent.succeeded']);
    expect(await eventTypes(shop, body.charge_ids[0])).toEqual(['charge.created', 'charge.succeeded']);
    expect(await moneyTaken(shop, body.id)).toHaveLength(1);
    expect(await hasWorkflow(body.id)).toBe(false);
  });

  it('goes to the next connection after a soft decline, and is declined when none is left', async () => {
    const paid = await inline({ simulate: { [shop.a]: 'do_not_honor' } });
    expect([paid.status, paid.body.charge_ids.length]).toEqual([201, 2]);
    const refused = await inline({ simulate: 'do_not_honor' });
    expect([refused.status, refused.body.code]).toEqual([402, 'do_not_honor']);
    expect(await eventTypes(shop, refused.body.payment_intent_id)).toEqual(['payment_intent.created', 'payment_intent.failed']);
    expect(await hasWorkflow(refused.body.payment_intent_id)).toBe(false);
  });

  it('without a candidate is 402 and rests, as by a workflow', async () => {
    const other = await openShop();
    await Promise.all([other.a, other.b].map((id) => other.admin.put(`/payment-processors/${id}`, { is_enabled: false })));
    await other.admin.put('/account', { execution: 'inline' });
    const method = await cardOf(shop);
    const stranger = await pay(other, { method });
    expect([stranger.status, stranger.body.errors[0].loc]).toEqual([422, ['body', 'payment_method_id']]);
    await other.admin.put(`/payment-processors/${other.a}`, { is_enabled: true });
    const card = await cardOf(other);
    await other.admin.put(`/payment-processors/${other.a}`, { is_enabled: false });
    const none = await pay(other, { method: card });
    expect([none.status, none.body.code, none.body.charge_id]).toEqual([402, 'no_processor_available', undefined]);
    expect((await intentOf(other, none.body.payment_intent_id)).status).toBe('requires_payment_method');
  });

  it('whose outcome is unknown gets a workflow that finds it out: one charge, ever', async () => {
    const { body } = await inline({ simulate: { [shop.a]: 'error_after_charge' } });
    const paid = await settled(shop, body.id, 'succeeded');
    expect(paid.charge_ids).toHaveLength(1);
    expect(await ledgerOf(shop, body.id)).toHaveLength(1);
  }, 180_000);

  it('whose outcome cannot be known within its caller\'s time is answered as processing; its workflow begins with the first lookup', async () => {
    const settings = { outcome: 'timeout_after_charge', total_timeout_ms: 5_000 };
    const late = await made(shop.admin.post('/payment-processors/', { name: 'late', kind: 'simulator', settings }));
    const route = await made(shop.admin.post('/payment-routes/', {
      name: 'late', route_configuration: { rules: [], default: { strategy: 'priority', processors: [late] } },
    }));
    const method = await cardOf(shop);
    const wish = (index: number) => ({ method, key: `late-${method}-${index}`, extra: { payment_route_id: route } });
    const answers = await Promise.all([0, 1, 2].map((index) => inline(wish(index))));
    expect(answers.map(({ status, body }) => [status, body.status])).toEqual(Array.from({ length: 3 }, () => [201, 'processing']));
    const ids = answers.map(({ body }) => body.id as string);
    for (const id of ids) await eventually(async () => (await intentById(database.db, parsePublicId('pi', 'staging', id)!))!.driver === 'workflow');
    for (const id of ids) await settled(shop, id, 'succeeded');
    for (const id of ids) expect(await ledgerOf(shop, id)).toHaveLength(1);
    const delays = await Promise.all(ids.map(async (id) => Number((await startOf(id)).firstWorkflowTaskBackoff?.seconds ?? 0)));
    expect(Math.max(...delays)).toBeGreaterThan(0);
    const again = await inline(wish(0));
    expect([again.status, again.body.id, again.body.status]).toEqual([201, ids[0], 'succeeded']);
    await shop.admin.delete(`/payment-routes/${route}`);
  }, 180_000);

  it('waits for its customer by a workflow', async () => {
    const method = await cardOf(shop, '4000002760003184');
    const { status, body } = await inline({ method });
    expect([status, body.status]).toEqual([201, 'requires_action']);
    await eventually(() => hasWorkflow(body.id));
  });

  it('asked for twenty times at once with one key is one payment', async () => {
    const method = await cardOf(shop);
    const key = `inline-${method}`;
    const answers = await Promise.all(Array.from({ length: 20 }, () => inline({ method, key })));
    const ids = new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.id));
    expect(ids.size).toBe(1);
    for (const { status, body } of answers) expect([201, 409]).toContain(status === 409 && body.code === 'idempotency_key_in_use' ? 409 : status);
    const again = await eventually(async () => {
      const answer = await inline({ method, key });
      return answer.status === 201 ? answer : null;
    });
    expect([...ids]).toEqual([again.body.id]);
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect((await shop.admin.post('/charges/list', { payment_method_id: method })).body.data).toHaveLength(1);
  });

  it('is heard by an endpoint that was made since the last payment, and by none that was disabled', async () => {
    const method = await cardOf(shop);
    await inline({ method });
    const receiver = await openReceiver();
    const endpoint = await made(shop.admin.post('/webhook-endpoints/', { url: receiver.url, enabled_events: ['payment_intent.*'] }));
    const heard = await inline({ method });
    await eventually(() => receiver.received.filter(({ event }) => event.data.id === heard.body.id).length === 2);
    await shop.admin.post(`/webhook-endpoints/${endpoint}/disable`, {});
    const unheard = await inline({ method });
    await untilListed(shop.admin);
    const { body } = await shop.admin.get(`/events?object_id=${unheard.body.id}`);
    const deliveries = await Promise.all((body.data as { id: string }[]).map(async ({ id }) => (await shop.admin.get(`/webhook-deliveries?event_id=${id}`)).body.data));
    expect(deliveries.flat()).toEqual([]);
    await receiver.close();
  });

  it('described while its call is under way keeps the description and tells it', async () => {
    const method = await cardOf(shop);
    const answer = inline({ method, simulate: { [shop.a]: 'delay_5s' } });
    const charge = await eventually(async () => (await shop.admin.post('/charges/list', { payment_method_id: method })).body.data[0]);
    const described = await shop.admin.put(`/payment-intents/${charge.payment_intent_id}`, { description: 'told meanwhile' });
    expect(described.status).toBe(200);
    const { body } = await answer;
    expect([body.status, body.description]).toEqual(['succeeded', 'told meanwhile']);
    await untilListed(shop.admin);
    const { body: events } = await shop.admin.get(`/events?object_id=${body.id}&type=payment_intent.succeeded`);
    expect((await shop.admin.get(`/events/${events.data[0].id}`)).body.data.description).toBe('told meanwhile');
    expect(await eventTypes(shop, body.id)).toEqual(['payment_intent.created', 'payment_intent.updated', 'payment_intent.succeeded']);
  }, 180_000);
});

describe('who runs the first step', () => {
  it('is said by the request, else by the route, else by the account', async () => {
    const method = await cardOf(shop);
    const route = await made(shop.admin.post('/payment-routes/', {
      name: 'durable', execution: 'workflow', route_configuration: { rules: [], default: { strategy: 'priority', processors: [shop.a] } },
    }));
    const byAccount = await pay(shop, { method, extra: { payment_route_id: shop.route } });
    const byRoute = await pay(shop, { method, extra: { payment_route_id: route } });
    const byRequest = await pay(shop, { method, extra: { payment_route_id: route, execution: 'inline' } });
    expect([byAccount, byRoute, byRequest].map(({ body }) => body.execution)).toEqual(['inline', 'workflow', 'inline']);
    expect(await Promise.all([byAccount, byRoute, byRequest].map(({ body }) => hasWorkflow(body.id)))).toEqual([false, true, false]);
    const changed = await shop.admin.put(`/payment-routes/${route}`, { execution: null });
    expect([changed.status, changed.body.execution]).toEqual([200, null]);
    expect((await pay(shop, { method, extra: { payment_route_id: route } })).body.execution).toBe('inline');
    const refused = await shop.operator.put(`/payment-routes/${route}`, { execution: 'workflow', draft: true });
    expect([refused.status, refused.body.code]).toEqual([403, 'role_too_small']);
    const wrong = await shop.admin.put(`/payment-routes/${route}`, { execution: 'later' });
    expect([wrong.status, wrong.body.errors[0].loc]).toEqual([422, ['body', 'execution']]);
    await shop.admin.delete(`/payment-routes/${route}`);
  });
});

const deadProcess = () => {
  const [id, key] = shared.secretKeysStaging.split(',')[0]!.split(':');
  const secrets = createSecretBox([{ id: id!, key: Buffer.from(key!, 'base64') }]);
  return createPaymentDeps({ db: database.db, environment: 'staging', secrets, simulatorUrl: shared.simulatorUrl, owner: 'dead' });
};

async function inlineWish(of: typeof shop) {
  const uuid = (kind: 'cus' | 'pm' | 'route', value: string) => parsePublicId(kind, 'staging', value)!;
  return {
    id: newId(), customerId: uuid('cus', of.customer), amountAtom: 900, currency: 'eur', paymentMethodId: uuid('pm', await cardOf(of)),
    paymentRouteId: uuid('route', of.route), confirm: true, execution: 'inline', driver: 'api',
  } as const;
}

describe('a process that dies after its payment ended unknown and before that was handed over', () => {
  it('leaves it to the sweeper, which gives it a workflow: one charge', async () => {
    const deps = deadProcess();
    const change = systemChange('staging', shop.id);
    const wish = { ...await inlineWish(shop), customFields: { simulate: 'error_after_charge' } };
    const intent = await transact(database.db, change, (tx) => createIntent(tx, change, wish));
    const ended = await advancePayment(deps, { intentId: intent.id, driver: 'api' });
    expect(ended).toMatchObject({ state: 'waiting', status: 'processing', outcomeClass: 'unknown' });
    const payment = publicId('pi', 'staging', intent.id);
    await eventually(async () => (await intentById(database.db, intent.id))!.driver === 'workflow', { timeoutMs: 90_000 });
    await settled(shop, payment, 'succeeded');
    expect(await ledgerOf(shop, payment)).toHaveLength(1);
  }, 180_000);
});

describe('a payment that had a workflow and is confirmed again by a process that dies before it sends anything', () => {
  it('is found by the sweeper as soon as one that never had any: one charge', async () => {
    const refused = await inline({ simulate: 'do_not_honor' });
    expect(refused.status).toBe(402);
    const payment = refused.body.payment_intent_id as string;
    const id = parsePublicId('pi', 'staging', payment)!;
    const paymentMethodId = parsePublicId('pm', 'staging', await cardOf(shop))!;
    const change = systemChange('staging', shop.id);
    await database.db.update(paymentIntents).set({ driver: 'workflow', simulate: null }).where(eq(paymentIntents.id, id));
    await transact(database.db, change, (tx) => confirmIntent(tx, change, { intentId: id, paymentMethodId }));
    await settled(shop, payment, 'succeeded');
    expect(await hasWorkflow(payment)).toBe(true);
    expect(await moneyTaken(shop, payment)).toHaveLength(1);
  }, 180_000);
});

describe('a process that dies after its payment was written and before anything was sent', () => {
  it('leaves it to the sweeper, which gives it a workflow: one charge', async () => {
    const deps = deadProcess();
    const change = systemChange('staging', shop.id);
    const wish = await inlineWish(shop);
    const intent = intentRow(change, wish);
    const held: HeldPayment = {
      lease: { intentId: intent.id, token: 1, confirmedAt: performance.now(), lost: false }, origin: change, clock: Date.now, intent,
      charges: [], operations: [], refunds: [], evidence: [], callbacks: [], disputes: [], lookupOffsets: deps.lookupOffsets, kinds: new Map(),
      released: false, footing: null,
    };
    const plan = await planAttempt(deps, held);
    if (plan.target === null) throw new Error('no plan');
    const { move, options } = attemptMove(deps, held, plan);
    const after = appliedMove(held, move, intent.createdAt, options.processorKind);
    const { subscribers } = await eventFooting(database.db, shop.id, []);
    const events = renderEvents(change, [intentCreated(change, intent)], { sequences: new Map(), subscribers });
    const begun = renderEvents(changeOf('staging', held), eventsOf(held, after, { move, environment: 'staging' }), events.footing);
    await writeNewPayment(database.db, change, {
      owner: 'dead', subscribers, intent: after.intent, charge: { row: after.charges[0]!, callLimitMs: options.callLimitMs, target: after.intent },
      events: { ...begun, events: [...events.events, ...begun.events], deliveries: [...events.deliveries, ...begun.deliveries] },
    });
    const payment = publicId('pi', 'staging', intent.id);
    await eventually(async () => (await intentById(database.db, intent.id))!.driver === 'workflow', { timeoutMs: 90_000 });
    await settled(shop, payment, 'succeeded');
    expect(await chargesOf(shop, payment)).toHaveLength(1);
    expect(await ledgerOf(shop, payment)).toHaveLength(1);
  }, 180_000);
});
