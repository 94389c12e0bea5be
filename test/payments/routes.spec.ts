import { freshAccount } from '../support/account.js';
import { cardOf, eventTypes, made, openShop, pay, type Shop } from './shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});

const priority = (...processors: string[]) => ({ strategy: 'priority', processors });
const routeOf = (configuration: unknown, extra: object = {}) =>
  shop.admin.post('/payment-routes/', { name: 'route', route_configuration: configuration, ...extra });

describe('a route', () => {
  it('leads a payment by its first matching rule, and says so', async () => {
    const route = await made(
      routeOf({
        rules: [
          { name: 'large euro', when: { all: [{ field: 'currency', in: ['eur'] }, { field: 'amount_atom', gte: 50_000 }] }, then: priority(shop.b) },
          { name: 'amex', when: { field: 'card_brand', eq: 'american_express' }, then: priority(shop.b, shop.a) },
        ],
        default: priority(shop.a),
      }),
    );
    const large = await pay(shop, { amount: 50_000, extra: { payment_route_id: route } });
    const small = await pay(shop, { amount: 100, extra: { payment_route_id: route } });
    const decisions = await Promise.all([large, small].map((answer) => shop.admin.get(`/payment-intents/${answer.body.id}/decisions`)));
    expect(decisions[0]!.body).toEqual([expect.objectContaining({ rule: 'large euro', processor_id: shop.b, route_id: route, route_version: 1, outcome_class: 'approved' })]);
    expect(decisions[1]!.body).toEqual([expect.objectContaining({ rule: null, processor_id: shop.a, reason: expect.stringContaining('default') })]);
  });

  it('skips a connection that is disabled, with the reason', async () => {
    const c = await made(shop.admin.post('/payment-processors/', { name: 'C', kind: 'simulator' }));
    const route = await made(routeOf({ rules: [], default: priority(c, shop.a) }));
    const method = await cardOf(shop);
    await shop.admin.put(`/payment-processors/${c}`, { is_enabled: false });
    const { body } = await pay(shop, { method, extra: { payment_route_id: route } });
    const [decision] = (await shop.admin.get(`/payment-intents/${body.id}/decisions`)).body;
    expect(decision).toMatchObject({ processor_id: shop.a, skipped: [{ processor_id: c, reason: 'disabled' }], order: [shop.a] });
  });

  it('without a candidate answers 402 no_processor_available, without a charge, and explains it', async () => {
    const c = await made(shop.admin.post('/payment-processors/', { name: 'D', kind: 'simulator' }));
    const route = await made(routeOf({ rules: [], default: priority(c) }));
    await shop.admin.put(`/payment-processors/${c}`, { is_enabled: false });
    const { status, body } = await pay(shop, { extra: { payment_route_id: route } });
    expect(status).toBe(402);
    expect(body.code).toBe('no_processor_available');
    expect(body.charge_id).toBeUndefined();
    const [decision] = (await shop.admin.get(`/payment-intents/${body.payment_intent_id}/decisions`)).body;
    expect(decision).toMatchObject({ charge_id: null, skipped: [{ processor_id: c, reason: 'disabled' }] });
  });

  it('falls back on the classes it names, at most as often as it says', async () => {
    const route = await made(
      routeOf({ rules: [], default: { ...priority(shop.a, shop.b), fallback: { on: ['soft_decline'], max_attempts: 2 } } }),
    );
    const { status, body } = await pay(shop, { simulate: { [shop.a]: 'do_not_honor' }, extra: { payment_route_id: route } });
    expect([status, body.status]).toEqual([201, 'succeeded']);
    const decisions = (await shop.admin.get(`/payment-intents/${body.id}/decisions`)).body;
    expect(decisions.map((each: { processor_id: string }) => each.processor_id)).toEqual([shop.a, shop.b]);
    expect(decisions[1].reason).toContain('fallback after soft_decline');
    const hard = await pay(shop, { simulate: { [shop.a]: 'lost_card' }, extra: { payment_route_id: route } });
    expect(hard.status).toBe(402);
    expect((await shop.admin.get(`/payment-intents/${hard.body.payment_intent_id}/decisions`)).body).toHaveLength(1);
  });

  it('splits by the payment, and the same payment always goes the same way', async () => {
    const route = await made(
      routeOf({ rules: [], default: { strategy: 'split', weights: [{ processor: shop.a, percent: 70 }, { processor: shop.b, percent: 30 }] } }),
    );
    const evaluate = async (payment: string) =>
      (await shop.admin.post(`/payment-routes/${route}/evaluate`, { payment: { amount_atom: 1, currency: 'eur', payment_id: payment } })).body.order[0];
    const firsts = await Promise.all(Array.from({ length: 60 }, (_, index) => evaluate(`payment ${index}`)));
    const toA = firsts.filter((first) => first === shop.a).length;
    expect(toA).toBeGreaterThan(25);
    expect(toA).toBeLessThan(58);
    expect(await evaluate('payment 7')).toBe(firsts[7]);
  });
});

describe('versions', () => {
  it('are made by updates, published, rolled back and listed', async () => {
    const route = await made(routeOf({ rules: [], default: priority(shop.a) }, { draft: true }));
    expect((await shop.admin.get(`/payment-routes/${route}`)).body).toMatchObject({ live_version: null, latest_version: 1, route_type: 'cit_mit_processors' });
    const second = await shop.admin.put(`/payment-routes/${route}`, { name: 'renamed', route_configuration: { rules: [], default: priority(shop.b) } });
    expect(second.body).toMatchObject({ name: 'renamed', live_version: 2, latest_version: 2, route_config: { default: { processors: [shop.b] } } });
    const back = await shop.admin.post(`/payment-routes/${route}/publish`, { version: 1 });
    expect(back.body).toMatchObject({ live_version: 1, route_config: { default: { processors: [shop.a] } } });
    const versions = await shop.admin.get(`/payment-routes/${route}/versions`);
    expect(versions.body.data.map((each: { version: number; is_live: boolean }) => [each.version, each.is_live])).toEqual([[2, false], [1, true]]);
    expect(await eventTypes(shop, route)).toEqual(['payment_route.created', 'payment_route.updated', 'payment_route.published']);
    expect((await shop.admin.post(`/payment-routes/${route}/publish`, { version: 9 })).status).toBe(422);
    const gone = await shop.admin.delete(`/payment-routes/${route}`);
    expect([gone.status, gone.body.payment_route_id]).toEqual([200, route]);
    expect((await shop.admin.get(`/payment-routes/${route}`)).status).toBe(404);
  });

  it('an OPERATOR drafts, an ADMIN publishes', async () => {
    const configuration = { rules: [], default: priority(shop.a) };
    expect((await shop.operator.post('/payment-routes/', { name: 'x', route_configuration: configuration })).status).toBe(403);
    const draft = await made(shop.operator.post('/payment-routes/', { name: 'x', route_configuration: configuration, draft: true }));
    expect((await shop.operator.post(`/payment-routes/${draft}/publish`, { version: 1 })).status).toBe(403);
    expect((await shop.readOnly.post('/payment-routes/', { name: 'x', route_configuration: configuration, draft: true })).status).toBe(403);
    expect((await shop.readOnly.get(`/payment-routes/${draft}`)).status).toBe(200);
    await shop.admin.delete(`/payment-routes/${draft}`);
  });

  it('an update keeps what it leaves out: without a document there is no new version', async () => {
    const route = await made(routeOf({ rules: [], default: priority(shop.a) }));
    const renamed = await shop.admin.put(`/payment-routes/${route}`, { name: 'renamed' });
    expect([renamed.status, renamed.body]).toMatchObject([200, { name: 'renamed', live_version: 1, latest_version: 1 }]);
    expect((await shop.admin.put(`/payment-routes/${route}`, {})).body).toEqual(renamed.body);
    const next = await shop.admin.put(`/payment-routes/${route}`, { route_configuration: { rules: [], default: priority(shop.b) } });
    expect(next.body).toMatchObject({ name: 'renamed', live_version: 2, latest_version: 2 });
    expect(await eventTypes(shop, route)).toEqual(['payment_route.created', 'payment_route.updated', 'payment_route.updated']);
    await shop.admin.delete(`/payment-routes/${route}`);
  });

  it('an OPERATOR renames drafts, not what is live', async () => {
    const route_configuration = { rules: [], default: priority(shop.a) };
    const draft = await made(shop.operator.post('/payment-routes/', { name: 'draft', route_configuration, draft: true }));
    expect((await shop.operator.put(`/payment-routes/${draft}`, { name: 'better' })).body).toMatchObject({ name: 'better', latest_version: 1 });
    const live = await made(routeOf(route_configuration));
    for (const body of [{ name: 'mine' }, { name: 'mine', draft: true }, { name: 'mine', route_configuration, draft: true }, { route_configuration }]) {
      const answer = await shop.operator.put(`/payment-routes/${live}`, body);
      expect([answer.status, answer.body.code]).toEqual([403, 'role_too_small']);
    }
    expect((await shop.operator.put(`/payment-routes/${live}`, { route_configuration, draft: true })).body).toMatchObject({ live_version: 1, latest_version: 2 });
    expect((await shop.admin.get(`/payment-routes/${live}`)).body.name).toBe('route');
    for (const route of [draft, live]) await shop.admin.delete(`/payment-routes/${route}`);
  });

  it('an evaluation names only what the account has', async () => {
    const path = `/payment-routes/${shop.route}/evaluate`;
    const payment = { amount_atom: 1, currency: 'eur' };
    const stranger = await openShop();
    const foreign = await cardOf(stranger);
    const own = await shop.readOnly.post(path, { payment: { ...payment, customer_id: shop.customer }, payment_method_id: await cardOf(shop) });
    expect([own.status, own.body.order.length]).toEqual([200, 2]);
    for (const id of [foreign, 'pm_stg_01h455vb4pex5vsknk084sn02q']) {
      const answer = await shop.readOnly.post(path, { payment, payment_method_id: id });
      expect([answer.status, answer.body.errors?.[0].loc]).toEqual([422, ['body', 'payment_method_id']]);
    }
    const answer = await shop.readOnly.post(path, { payment: { ...payment, customer_id: stranger.customer } });
    expect([answer.status, answer.body.errors?.[0].loc]).toEqual([422, ['body', 'payment', 'customer_id']]);
  });

  it('a strategy that comes later can be drafted, not published', async () => {
    const configuration = { rules: [], default: { strategy: 'success_rate', processors: [shop.a, shop.b] } };
    const refused = await routeOf(configuration);
    expect([refused.status, refused.body.errors[0].loc]).toEqual([422, ['body', 'route_configuration', 'default', 'strategy']]);
    const draft = await made(routeOf(configuration, { draft: true }));
    expect((await shop.admin.post(`/payment-routes/${draft}/publish`, { version: 1 })).status).toBe(422);
  });

  it('another account neither sees nor names it', async () => {
    const stranger = await freshAccount();
    expect((await stranger.admin.get(`/payment-routes/${shop.route}`)).status).toBe(404);
    expect((await stranger.admin.delete(`/payment-routes/${shop.route}`)).status).toBe(404);
    const answer = await stranger.admin.post('/payment-routes/', { name: 'x', route_configuration: { rules: [], default: priority(shop.a) } });
    expect([answer.status, answer.body.errors[0].loc]).toEqual([422, ['body', 'route_configuration', 'default', 'processors', 0]]);
  });
});

describe('a mistake in the document', () => {
  const rule = (when: unknown, then: unknown = undefined) => ({ rules: [{ name: 'r', when, then: then ?? priority(shop.a) }], default: priority(shop.a) });
  it.each([
    ['an unknown field', () => rule({ field: 'colour', eq: 'red' }), ['rules', 0, 'when', 'field']],
    ['no operator', () => rule({ field: 'currency' }), ['rules', 0, 'when']],
    ['text for an amount', () => rule({ all: [{ field: 'amount_atom', eq: 'x' }] }), ['rules', 0, 'when', 'all', 0, 'eq']],
    ['an upper-case currency', () => rule({ field: 'currency', in: ['EUR'] }), ['rules', 0, 'when', 'in', 0]],
    ['an unknown operator', () => rule({ field: 'currency', like: 'e' }), ['rules', 0, 'when', 'like']],
    ['a class that never falls back', () => ({ rules: [], default: { ...priority(shop.a), fallback: { on: ['hard_decline'], max_attempts: 2 } } }), ['default', 'fallback', 'on', 0]],
    ['weights that are not 100', () => ({ rules: [], default: { strategy: 'split', weights: [{ processor: shop.a, percent: 99 }] } }), ['default', 'weights']],
    ['no connection', () => ({ rules: [], default: priority() }), ['default', 'processors']],
    ['an unknown connection', () => ({ rules: [], default: priority('processor_stg_01m7yy0fcbfvmvgrw3c8x3mb0m') }), ['default', 'processors', 0]],
    ['no default', () => ({ rules: [] }), ['default']],
    ['an unknown key', () => ({ rules: [], default: priority(shop.a), extra: 1 }), ['extra']],
  ])('%s is 422 and names its path', async (_what, configuration, path) => {
    const { status, body } = await routeOf(configuration());
    expect(status).toBe(422);
    expect(body.errors.map((error: { loc: unknown[] }) => error.loc)).toContainEqual(['body', 'route_configuration', ...path]);
  });
});
