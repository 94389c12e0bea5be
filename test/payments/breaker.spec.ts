import type { Answer } from '../support/account.js';
import { eventually, shared } from '../support/stack.js';
import { cardOf, chargesOf, eventTypes, moneyTaken, openShop, pay, settled, type Shop } from './shop.js';

const least = 20;
/** Routed and sent by the API's own process, whose breaker is the one that is watched here. */
const inline = { execution: 'inline' };

async function open(settings: { a?: object; b?: object }): Promise<Shop & { method: string }> {
  const shop = await openShop({ settings });
  return { ...shop, method: await cardOf(shop) };
}

function payments(shop: Shop & { method: string }, count: number): Promise<Answer[]> {
  return Promise.all(Array.from({ length: count }, () => pay(shop, { method: shop.method, extra: inline })));
}

async function connection(shop: Shop, id: string): Promise<Answer['body']> {
  return (await shop.admin.get(`/payment-processors/${id}`)).body;
}

function degraded(shop: Shop, id: string): Promise<Answer['body']> {
  return eventually(async () => {
    const found = await connection(shop, id);
    return found.degraded_at === null ? null : found;
  });
}

async function decisionOf(shop: Shop, intentId: string): Promise<Answer['body']> {
  return (await shop.admin.get(`/payment-intents/${intentId}/decisions`)).body[0];
}

async function attention(shop: Shop, status: string): Promise<Answer['body'][]> {
  return (await shop.admin.get(`/attention?status=${status}&type=processor_degraded`)).body.data;
}

describe.each([
  ['processing_error', 'processor_error'],
  ['connection_refused', 'not_sent'],
])('a connection that answers %s', (outcome, outcomeClass) => {
  let shop: Shop & { method: string };
  beforeAll(async () => {
    shop = await open({ a: { outcome } });
  });

  it('is tried for each payment, until enough of its calls have failed', async () => {
    for (const { status, body } of await payments(shop, least)) {
      expect(status).toBe(201);
      const charges = await chargesOf(shop, body.id);
      expect(charges.map((charge) => [charge.payment_processor_id, charge.outcome_class])).toEqual([[shop.a, outcomeClass], [shop.b, 'approved']]);
    }
    const found = await degraded(shop, shop.a);
    expect(found.health).toMatchObject({ status: 'degraded', since: found.degraded_at, error_rate: 1, samples: least });
    expect((await connection(shop, shop.b)).health).toMatchObject({ status: 'ok', since: null, error_rate: 0, samples: least });
  }, 180_000);

  it('is then set aside: payments go to the next one at once, and each decision says why', async () => {
    const { body } = await pay(shop, { method: shop.method, extra: inline });
    expect((await chargesOf(shop, body.id)).map((charge) => charge.payment_processor_id)).toEqual([shop.b]);
    const decision = await decisionOf(shop, body.id);
    expect(decision).toMatchObject({
      order: [shop.b],
      skipped: [{ processor_id: shop.a, reason: 'set_aside' }],
      set_aside: [{ processor_id: shop.a, since: expect.any(String), samples: least, bad: least, tried: 'no' }],
    });
    expect(decision.reason).toContain(`${shop.a} skipped: its calls fail or take too long, so it is set aside`);
  });

  it('is set aside for an imagined payment too, which changes nothing', async () => {
    const path = `/payment-routes/${shop.route}/evaluate`;
    const imagined = await shop.readOnly.post(path, { payment: { amount_atom: 1000, currency: 'usd' }, payment_method_id: shop.method });
    expect(imagined.body).toMatchObject({ order: [shop.b], skipped: [{ processor_id: shop.a, reason: 'set_aside' }], set_aside: [{ processor_id: shop.a, tried: 'no' }] });
    const anyMethod = await shop.readOnly.post(path, { payment: { amount_atom: 1000, currency: 'usd' } });
    expect(anyMethod.body.order).toEqual([shop.b]);
    expect((await connection(shop, shop.a)).health).toMatchObject({ status: 'degraded', samples: least });
  });

  it('is set aside in every process', async () => {
    const { body } = await pay(shop, { method: shop.method, extra: { execution: 'workflow' } });
    expect((await chargesOf(shop, body.id)).map((charge) => charge.payment_processor_id)).toEqual([shop.b]);
    const metrics = await (await fetch(`${shared.workerStagingUrl}/metrics`)).text();
    const gauge = (id: string) => new RegExp(`signalbox_processor_set_aside\\{processor_id="${id}".*\\} (\\d)`).exec(metrics)?.[1];
    expect([gauge(shop.a), gauge(shop.b)]).toEqual(['1', '0']);
  });

  it('is told once, by event and on the attention list', async () => {
    expect(await eventTypes(shop, shop.a)).toEqual(['payment_processor.created', 'payment_processor.degraded']);
    const lines = await attention(shop, 'open');
    expect(lines).toMatchObject([{ object_id: shop.a, details: { samples: least, bad: least } }]);
    expect(await attention(shop, 'resolved')).toEqual([]);
  });

  it('is probed with a few payments, and brought back once it works', async () => {
    await shop.admin.put(`/payment-processors/${shop.a}`, { settings: {} });
    let paid = 0;
    let there = 0;
    await eventually(async () => {
      for (const { status, body } of await payments(shop, 10)) {
        expect(status).toBe(201);
        paid += 1;
        if ((await chargesOf(shop, body.id))[0].payment_processor_id === shop.a) there += 1;
      }
      return (await connection(shop, shop.a)).degraded_at === null;
    }, { timeoutMs: 60_000 });
    expect(there).toBeLessThan(paid / 4);
    expect(await eventTypes(shop, shop.a)).toEqual([
      'payment_processor.created', 'payment_processor.degraded', 'payment_processor.updated', 'payment_processor.recovered',
    ]);
    expect(await attention(shop, 'open')).toEqual([]);
    expect(await attention(shop, 'resolved')).toMatchObject([{ object_id: shop.a, resolved_by: 'system' }]);
    const [next] = await payments(shop, 1);
    expect((await chargesOf(shop, next!.body.id)).map((charge) => charge.payment_processor_id)).toEqual([shop.a]);
  }, 180_000);
});

describe('a connection that hangs', () => {
  it('is set aside while its calls still run; each of them is still found out, there and nowhere else', async () => {
    const shop = await open({ a: { outcome: 'timeout_after_charge', total_timeout_ms: 6_000 } });
    let answers = 0;
    const hanging = payments(shop, least).then((all) => {
      answers = all.length;
      return all;
    });
    await eventually(async () => {
      const { body } = await pay(shop, { method: shop.method, simulate: { [shop.a]: 'approved' }, extra: inline });
      return (await decisionOf(shop, body.id)).skipped.some((each: { reason: string }) => each.reason === 'set_aside');
    }, { timeoutMs: 20_000, intervalMs: 500 });
    expect(answers).toBe(0);
    for (const { status, body } of await hanging) {
      expect(status).toBe(201);
      await settled(shop, body.id, 'succeeded');
      expect((await chargesOf(shop, body.id)).map((charge) => [charge.payment_processor_id, charge.outcome_class])).toEqual([[shop.a, 'approved']]);
      expect(await moneyTaken(shop, body.id)).toHaveLength(1);
    }
    expect(await eventTypes(shop, shop.a)).toContain('payment_processor.degraded');
  }, 180_000);

  it('is not hidden from captures and refunds', async () => {
    const shop = await open({});
    const paid = await pay(shop, { method: shop.method });
    const held = await pay(shop, { method: shop.method, extra: { capture_method: 'manual' } });
    await shop.admin.put(`/payment-processors/${shop.a}`, { settings: { outcome: 'connection_refused' } });
    await payments(shop, least);
    await degraded(shop, shop.a);
    await shop.admin.put(`/payment-processors/${shop.a}`, { settings: {} });
    const captured = await shop.admin.post(`/payment-intents/${held.body.id}/capture`, {});
    expect([captured.status, captured.body.status]).toEqual([200, 'succeeded']);
    const refunded = await shop.admin.post('/refunds/', { charge_id: paid.body.charge_ids[0], amount_atom: 400 });
    expect(refunded.status).toBe(201);
    expect((await connection(shop, shop.a)).health.status).toBe('degraded');
  }, 180_000);
});

describe('connections that are all set aside', () => {
  it('are tried in the route\'s order, as if there were no breaker', async () => {
    const shop = await open({ a: { outcome: 'processing_error' }, b: { outcome: 'rate_limited' } });
    await payments(shop, least);
    await degraded(shop, shop.a);
    await degraded(shop, shop.b);
    const { status, body } = await pay(shop, { method: shop.method, extra: inline });
    expect([status, body.code]).toEqual([402, 'processor_rate_limited']);
    expect((await chargesOf(shop, body.payment_intent_id)).map((charge) => charge.payment_processor_id)).toEqual([shop.a, shop.b]);
    expect((await attention(shop, 'open')).map((line) => line.object_id).sort()).toEqual([shop.a, shop.b].sort());
    await shop.admin.delete(`/payment-processors/${shop.b}`);
    expect((await attention(shop, 'open')).map((line) => line.object_id)).toEqual([shop.a]);
    expect(await decisionOf(shop, body.payment_intent_id)).toMatchObject({
      order: [shop.a, shop.b],
      skipped: [],
      set_aside: [{ processor_id: shop.a, tried: 'all_are_set_aside' }, { processor_id: shop.b, tried: 'all_are_set_aside' }],
    });
  }, 180_000);
});

describe('issuers that refuse', () => {
  it('say nothing against the connection', async () => {
    const shop = await open({ a: { outcome: 'do_not_honor' } });
    const methods = await Promise.all(Array.from({ length: 3 }, () => cardOf(shop)));
    for (const method of methods) {
      await Promise.all(Array.from({ length: 10 }, () => pay(shop, { method, extra: inline })));
    }
    expect(await connection(shop, shop.a)).toMatchObject({ degraded_at: null, health: { status: 'ok', error_rate: 0, samples: 30 } });
  }, 180_000);
});
