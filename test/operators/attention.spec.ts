import { jest } from '@jest/globals';
import { cardOf, chargesOf, intentOf, ledgerOf, moneyTaken, openShop, pay, settled, type Shop } from '../payments/shop.js';
import { freshAccount, type Answer } from '../support/account.js';
import { eventually, startStack, type PrivateStack } from '../support/stack.js';

jest.setTimeout(180_000);

let stack: PrivateStack;
let shop: Shop;

beforeAll(async () => {
  stack = await startStack({ extra: { PAYMENT_LOOKUP_SCHEDULE: '4,5' } });
  const account = await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
  const settings = { idempotency: false, settle_after_ms: 86_400_000 };
  shop = await openShop({ account, simulatorUrl: stack.simulator.url, settings: { a: settings, b: settings } });
});
afterAll(() => stack?.stop(), 180_000);

interface Stuck {
  intent: string;
  item: string;
  line: Answer['body'];
}

async function lineAbout(object: string, type = 'payment_exception'): Promise<Answer['body']> {
  return eventually(async () => {
    const { body } = await shop.admin.get(`/attention?status=open&type=${type}&limit=100`);
    return body.data.find((line: Answer['body']) => line.object_id === object);
  }, { timeoutMs: 90_000 });
}

/** A payment whose outcome could not be found out. `charged`: the provider took the money and was away when it was asked. */
async function stuck(charged: boolean, extra: object = {}): Promise<Stuck> {
  const method = await cardOf(shop);
  const simulate = charged ? 'error_after_charge' : 'error_before_charge';
  const answer = pay(shop, { method, simulate, extra });
  if (charged) {
    await eventually(async () => (await shop.admin.post('/charges/list', { payment_method_id: method })).body.data[0]?.outcome_class === 'unknown', { intervalMs: 20 });
    await stack.simulator.kill9();
  }
  const intent = (await answer).body.id as string;
  await settled(shop, intent, 'exception');
  if (charged) await stack.simulator.restart();
  const line = await lineAbout(intent);
  return { intent, item: line.id, line };
}

const resolve = (item: string, body: object, client = shop.admin) => client.post(`/attention/${item}/resolve`, body);

describe('a payment whose outcome nobody knows', () => {
  it('is listed with its age and the exact calls', async () => {
    const { line, item, intent } = await stuck(false);
    expect(line).toMatchObject({ type: 'payment_exception', age_seconds: expect.any(Number), reason: expect.any(String) });
    for (const action of ['look_again', 'mark_succeeded', 'mark_failed', 'void', 'refund']) {
      expect(line.actions).toContainEqual(expect.stringContaining(`POST /attention/${item}/resolve {"action": "${action}"`));
    }
    expect(line.actions).toContainEqual(expect.stringContaining(`/payment-intents/${intent}/decisions`));
    expect(line.actions.find((each: string) => each.includes('mark_failed'))).toMatch(/a second time/);
  });

  it('is asked for again, and stays where the processor does not know it', async () => {
    const { item } = await stuck(false);
    const answer = await resolve(item, { action: 'look_again' });
    expect([answer.status, answer.body.status]).toEqual([200, 'open']);
    expect(answer.body.details.last_look).toMatchObject({ found: 'The processor does not know the attempt.', by: expect.stringMatching(/^tok_/) });
  });

  it('heals when it is asked for again and the processor took the money', async () => {
    const { item, intent } = await stuck(true);
    const answer = await resolve(item, { action: 'look_again', resolution: 'The provider was away' });
    expect(answer.body).toMatchObject({ status: 'resolved', resolved_by: expect.stringMatching(/^tok_/), resolution: expect.stringContaining('The provider was away') });
    expect(await settled(shop, intent, 'succeeded')).toMatchObject({ amount_atom_received: 1_000 });
    expect(await moneyTaken(shop, intent)).toHaveLength(1);
  });

  it('is failed only with the risk confirmed, by an ADMIN, once; then it may be paid again', async () => {
    const { item, intent } = await stuck(false);
    const bare = await resolve(item, { action: 'mark_failed' });
    expect([bare.status, bare.body.errors[0].loc]).toEqual([422, ['body', 'confirm']]);
    expect(bare.body.errors[0].msg).toMatch(/second time/);
    expect((await resolve(item, { action: 'mark_failed', confirm: true }, shop.operator)).status).toBe(403);
    const [key, body] = ['mark-failed', { action: 'mark_failed', confirm: true, resolution: 'Provider says no' }];
    const first = await shop.admin.post(`/attention/${item}/resolve`, body, { key });
    const again = await shop.admin.post(`/attention/${item}/resolve`, body, { key });
    expect([first.status, again.text]).toEqual([200, first.text]);
    expect(await settled(shop, intent, 'requires_payment_method')).toMatchObject({ decline_code: 'processing_error' });
    expect((await chargesOf(shop, intent))[0].processor_message).toMatch(/^mark_failed by tok_.*Provider says no$/);
    expect((await resolve(item, { action: 'mark_failed', confirm: true })).status).toBe(409);
    const paid = await shop.admin.post(`/payment-intents/${intent}/confirm`, { payment_method_id: await cardOf(shop) });
    expect([200, 402]).toContain(paid.status);
  });

  it('is not failed where the processor took the money, and not succeeded where it did not', async () => {
    const [taken, untouched] = [await stuck(true), await stuck(false)];
    const failed = await resolve(taken.item, { action: 'mark_failed', confirm: true });
    expect([failed.status, failed.body.code, failed.body.detail]).toEqual([409, 'conflict', expect.stringContaining('approved')]);
    const made = await resolve(untouched.item, { action: 'mark_succeeded', processor_payment_id: 'sim_pay_none' });
    expect([made.status, made.body.detail]).toEqual([409, expect.stringContaining('does not know')]);
    expect((await resolve(untouched.item, { action: 'refund' })).status).toBe(409);
    for (const { item, intent } of [taken, untouched]) {
      expect((await shop.admin.get(`/attention/${item}`)).body.status).toBe('open');
      expect((await intentOf(shop, intent)).status).toBe('exception');
    }
    const [payment] = await ledgerOf(shop, taken.intent);
    const right = await resolve(taken.item, { action: 'mark_succeeded', processor_payment_id: payment!.id });
    expect(right.body.status).toBe('resolved');
    await settled(shop, taken.intent, 'succeeded');
  });

  it('is a person\'s word while the processor cannot be asked', async () => {
    const { item, intent } = await stuck(false);
    await stack.simulator.kill9();
    try {
      expect((await resolve(item, { action: 'mark_succeeded', processor_payment_id: 'from-their-dashboard' })).body.status).toBe('resolved');
      await settled(shop, intent, 'succeeded');
      expect((await chargesOf(shop, intent))[0]).toMatchObject({ processor_payment_id: 'from-their-dashboard' });
    } finally {
      await stack.simulator.restart();
    }
  });

  it.each([
    ['refund', {}, 'amount_refunded'],
    ['void', { capture_method: 'manual' }, 'status'],
  ])('is given back by %s, and can be paid again', async (action, extra, field) => {
    const { item, intent } = await stuck(true, extra);
    const other = action === 'refund' ? 'void' : 'refund';
    expect((await resolve(item, { action: other })).status).toBe(409);
    expect((await resolve(item, { action })).body.status).toBe('resolved');
    await settled(shop, intent, 'requires_payment_method');
    expect((await ledgerOf(shop, intent)).map((payment) => payment[field as 'status'])).toEqual([action === 'refund' ? 1_000 : 'voided']);
    expect(await moneyTaken(shop, intent)).toEqual([]);
  });

  it('is not closed by a note, by nonsense or by others', async () => {
    const { item } = await stuck(false);
    const wrong = async (body: object, field: string) => {
      const answer = await resolve(item, body);
      expect([answer.status, answer.body.errors?.[0]?.loc]).toEqual([422, ['body', field]]);
    };
    await wrong({ resolution: 'Never mind' }, 'action');
    await wrong({ action: 'shrug' }, 'action');
    await wrong({ action: 'mark_succeeded' }, 'processor_payment_id');
    await wrong({ action: 'void', processor_payment_id: 'x' }, 'processor_payment_id');
    await wrong({ confirm: true }, 'confirm');
    const stranger = await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
    expect((await stranger.admin.post(`/attention/${item}/resolve`, { action: 'look_again' })).status).toBe(404);
  });
});
