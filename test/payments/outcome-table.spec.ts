import { eq } from 'drizzle-orm';
import { connect, type Database } from '../../libs/db/client.js';
import { charges } from '../../libs/db/schema/index.js';
import { parsePublicId } from '../../libs/views/ids.js';
import type { Answer } from '../support/account.js';
import { eventually, shared } from '../support/stack.js';
import { declined, silent, type Behaviour } from './scripted-provider.js';
import { attemptsOf, closeProviders, decisionsOf, openScriptedShop, scriptedCard, sell, trail, type ScriptedShop } from './scripted-shop.js';

afterAll(closeProviders);

async function intentOf(shop: ScriptedShop, id: string): Promise<Answer['body']> {
  return (await shop.admin.get(`/payment-intents/${id}`)).body;
}

function becomes(shop: ScriptedShop, id: string, status: string): Promise<Answer['body']> {
  return eventually(async () => {
    const intent = await intentOf(shop, id);
    return intent.status === status ? intent : null;
  }, { timeoutMs: 60_000 });
}

const confirm = (shop: ScriptedShop, id: string, method: string) => shop.admin.post(`/payment-intents/${id}/confirm`, { payment_method_id: method });

/** A shop whose route allows another connection after every class that may be allowed. */
async function shopWhere(behaviour: Behaviour, options: Parameters<typeof openScriptedShop>[0] = {}): Promise<ScriptedShop> {
  const shop = await openScriptedShop(options);
  shop.providers.a.behave = behaviour;
  return shop;
}

describe('approved', () => {
  it('is the end: nothing is asked elsewhere', async () => {
    const shop = await shopWhere((payment) => payment);
    const { status, body } = await sell(shop);
    expect([status, body.status]).toEqual([201, 'succeeded']);
    expect(await trail(shop, body.id)).toEqual([['A', 'approved']]);
    expect(shop.providers.b.payments.size).toBe(0);
  });
});

describe('pending', () => {
  const pending: Behaviour = (payment) => ({ ...payment, status: 'pending', amount_authorized: 0, amount_captured: 0 });

  it('is never tried elsewhere; the callback decides', async () => {
    const shop = await shopWhere(pending);
    const { body } = await sell(shop);
    expect(body.status).toBe('processing');
    expect(await shop.providers.a.tell(`${body.id}-1`, { status: 'captured', amount_authorized: 1_000, amount_captured: 1_000 })).toBe(200);
    await becomes(shop, body.id, 'succeeded');
    expect(await trail(shop, body.id)).toEqual([['A', 'approved']]);
  });

  it('is found out by lookup where no callback comes', async () => {
    const shop = await shopWhere(pending);
    const { body } = await sell(shop);
    Object.assign(shop.providers.a.payments.get(`${body.id}-1`)!, { status: 'declined', decline: { code: 'insufficient_funds' } });
    expect((await becomes(shop, body.id, 'requires_payment_method')).decline_code).toBe('insufficient_funds');
    expect(await trail(shop, body.id)).toEqual([['A', 'insufficient_funds']]);
  }, 180_000);

  describe('beyond the method\'s limit', () => {
    let database: Database;
    beforeAll(() => {
      database = connect(shared.databaseUrlStaging, { max: 1 });
    });
    afterAll(() => database.close());

    it.each([
      [9, 'processing'],
      [16, 'exception'],
    ])('after %i days is %s', async (days, status) => {
      const shop = await shopWhere(pending);
      const { body } = await sell(shop);
      const [charge] = await attemptsOf(shop, body.id);
      const id = parsePublicId('ch', 'staging', charge.id)!;
      await database.db.update(charges).set({ createdAt: new Date(Date.now() - days * 86_400_000), lookups: 6 }).where(eq(charges.id, id));
      const read = async () => (await database.db.select().from(charges).where(eq(charges.id, id)))[0]!;
      const { version } = await read();
      await eventually(async () => (await read()).version > version, { timeoutMs: 90_000 });
      expect((await intentOf(shop, body.id)).status).toBe(status);
      expect(await trail(shop, body.id)).toEqual([['A', 'pending']]);
    }, 180_000);
  });
});

describe('action_required', () => {
  const challenge: Behaviour = (payment) => ({
    ...payment, status: 'requires_action', amount_authorized: 0, amount_captured: 0, redirect_url: 'https://bank.example/challenge',
  });

  it('waits for the customer where the route says nothing', async () => {
    const shop = await shopWhere(challenge, { on: ['not_sent'] });
    const { body } = await sell(shop);
    expect(body).toMatchObject({ status: 'requires_action', next_action: { redirect_url: 'https://bank.example/challenge' } });
    expect(await trail(shop, body.id)).toEqual([['A', 'action_required']]);
    expect(shop.providers.a.operations).toEqual([]);
  });

  it('is cancelled, and once that is confirmed tried elsewhere by the route\'s policy', async () => {
    const shop = await shopWhere(challenge);
    const { body } = await sell(shop);
    await becomes(shop, body.id, 'succeeded');
    expect(await trail(shop, body.id)).toEqual([['A', 'action_required'], ['B', 'approved']]);
    expect(shop.providers.a.operations).toEqual([{ kind: 'void', reference: `${body.id}-1`, status: 'succeeded' }]);
    expect(shop.providers.a.taken).toEqual([]);
  });

  it.each([
    ['is not confirmed', 'reset' as const],
    ['is refused', { status: 422, body: { error: { code: 'not_voidable' } } }],
  ])('is not tried elsewhere while the cancel %s', async (_what, reply) => {
    const shop = await shopWhere(challenge);
    shop.providers.a.refuse.void = reply;
    const { body } = await sell(shop);
    await eventually(() => Promise.resolve(shop.providers.a.operations.length > 0));
    expect(['processing', 'requires_action']).toContain((await intentOf(shop, body.id)).status);
    expect(shop.providers.b.payments.size).toBe(0);
    expect(await trail(shop, body.id)).toEqual([['A', 'action_required']]);
  }, 180_000);
});

describe('soft_decline', () => {
  it('is tried elsewhere by the route\'s policy', async () => {
    const shop = await shopWhere(declined('do_not_honor'));
    const { body } = await sell(shop);
    expect(body.status).toBe('succeeded');
    expect(await trail(shop, body.id)).toEqual([['A', 'soft_decline'], ['B', 'approved']]);
  });

  it('is not tried elsewhere where the route does not name it, and may be confirmed again later', async () => {
    const shop = await shopWhere(declined('do_not_honor'), { on: ['not_sent'] });
    const method = await scriptedCard(shop);
    const { status, body } = await sell(shop, { method });
    expect([status, body.code]).toEqual([402, 'do_not_honor']);
    expect(await trail(shop, body.payment_intent_id)).toEqual([['A', 'soft_decline']]);
    shop.providers.a.behave = (payment) => payment;
    expect((await confirm(shop, body.payment_intent_id, method)).body.status).toBe('succeeded');
  });

  it('with a code that is in no table is not tried elsewhere now, whatever the route says, and may be confirmed again later', async () => {
    const shop = await shopWhere(declined('purple_monday'));
    const method = await scriptedCard(shop);
    const { status, body } = await sell(shop, { method });
    expect([status, body.code]).toEqual([402, 'generic_decline']);
    const [charge] = await attemptsOf(shop, body.payment_intent_id);
    expect(charge).toMatchObject({ outcome_class: 'soft_decline', failure_code: 'generic_decline', processor_code: 'purple_monday' });
    expect(await trail(shop, body.payment_intent_id)).toEqual([['A', 'soft_decline']]);
    shop.providers.a.behave = (payment) => payment;
    expect((await confirm(shop, body.payment_intent_id, method)).body.status).toBe('succeeded');
  });
});

describe.each<[string, string]>([
  ['insufficient_funds', 'insufficient_funds'],
  ['authentication_required', 'authentication_required'],
  ['risk_refused', 'suspected_fraud'],
])('%s', (outcomeClass, code) => {
  it('is not tried elsewhere, whatever the route says', async () => {
    const shop = await shopWhere(declined(code));
    const { status, body } = await sell(shop, { off_session: true });
    expect([status, body.code]).toEqual([402, code]);
    expect(await trail(shop, body.payment_intent_id)).toEqual([['A', outcomeClass]]);
    expect((await intentOf(shop, body.payment_intent_id)).status).toBe('requires_payment_method');
    expect(shop.providers.b.payments.size).toBe(0);
  });
});

describe('hard_decline', () => {
  it('is never tried again with this method, neither elsewhere nor later; with another one it is', async () => {
    const shop = await shopWhere(declined('stolen_card'));
    const method = await scriptedCard(shop);
    const { status, body } = await sell(shop, { method });
    expect([status, body.code]).toEqual([402, 'stolen_card']);
    const again = await confirm(shop, body.payment_intent_id, method);
    expect([again.status, again.body.code]).toEqual([402, 'stolen_card']);
    expect(await trail(shop, body.payment_intent_id)).toEqual([['A', 'hard_decline']]);
    shop.providers.a.behave = (payment) => payment;
    expect((await confirm(shop, body.payment_intent_id, await scriptedCard(shop, 'visa:another'))).body.status).toBe('succeeded');
  });
});

describe('partial_approval', () => {
  const partial: Behaviour = (payment) => ({ ...payment, status: 'authorized', amount_authorized: 600, amount_captured: 0 });

  it('is voided, and once that is confirmed tried elsewhere by the route\'s policy', async () => {
    const shop = await shopWhere(partial);
    const { body } = await sell(shop);
    expect((await becomes(shop, body.id, 'succeeded')).amount_atom_received).toBe(1_000);
    expect(await trail(shop, body.id)).toEqual([['A', 'partial_approval'], ['B', 'approved']]);
    expect(shop.providers.a.operations).toEqual([{ kind: 'void', reference: `${body.id}-1`, status: 'succeeded' }]);
  });

  it('is voided and then refused where the route does not name it', async () => {
    const shop = await shopWhere(partial, { on: ['not_sent'] });
    const { status, body } = await sell(shop);
    expect([status, body.code]).toEqual([402, 'partial_approval']);
    expect(await trail(shop, body.payment_intent_id)).toEqual([['A', 'partial_approval']]);
    expect(shop.providers.a.taken).toEqual([]);
  });

  it('is not tried elsewhere when the void is refused: a person must look', async () => {
    const shop = await shopWhere(partial);
    shop.providers.a.refuse.void = { status: 422, body: { error: { code: 'not_voidable' } } };
    const { body } = await sell(shop);
    await becomes(shop, body.id, 'exception');
    expect(await trail(shop, body.id)).toEqual([['A', 'partial_approval']]);
    expect(shop.providers.b.payments.size).toBe(0);
    const lines = (await shop.admin.get('/attention?status=open')).body.data;
    expect(lines).toMatchObject([{ object_id: body.id }]);
  });
});

describe('not_sent', () => {
  it('is tried elsewhere, and later', async () => {
    const shop = await shopWhere((payment) => payment);
    await shop.admin.put(`/payment-processors/${shop.a}`, { settings: { base_url: 'http://127.0.0.1:9' } });
    const method = await scriptedCard({ ...shop, a: shop.b, b: shop.a });
    const { body } = await sell(shop, { method });
    expect(body.status).toBe('succeeded');
    expect(await trail(shop, body.id)).toEqual([['A', 'not_sent'], ['B', 'approved']]);
  });
});

describe('processor_error', () => {
  it('is tried elsewhere, and later', async () => {
    const shop = await shopWhere(() => ({ status: 422, body: { error: { code: 'processing_error' } } }));
    const method = await scriptedCard(shop);
    const { body } = await sell(shop, { method });
    expect(body.status).toBe('succeeded');
    expect(await trail(shop, body.id)).toEqual([['A', 'processor_error'], ['B', 'approved']]);
    shop.providers.b.behave = shop.providers.a.behave;
    const refused = await sell(shop, { method });
    expect([refused.status, refused.body.code]).toEqual([402, 'processing_error']);
    shop.providers.b.behave = (payment) => payment;
    expect((await confirm(shop, refused.body.payment_intent_id, method)).body.status).toBe('succeeded');
  });
});

describe('mismatch', () => {
  it.each<[string, object]>([
    ['amount', { amount: 900, amount_authorized: 900, amount_captured: 900 }],
    ['currency', { currency: 'usd' }],
    ['reference', { reference: 'another' }],
    ['amount approved', { amount_authorized: 1_100, amount_captured: 1_100 }],
  ])('of the %s is an exception at once: never elsewhere, and a person is told', async (_what, change) => {
    const shop = await shopWhere((payment) => ({ ...payment, ...change }));
    const { status, body } = await sell(shop);
    expect([status, body.status]).toEqual([201, 'exception']);
    expect(await trail(shop, body.id)).toEqual([['A', 'mismatch']]);
    expect(shop.providers.b.payments.size).toBe(0);
    expect((await shop.admin.get('/attention?status=open&type=payment_exception')).body.data).toMatchObject([{ object_id: body.id }]);
    const again = await confirm(shop, body.id, await scriptedCard(shop));
    expect(again.status).toBe(409);
  });
});

describe('unknown', () => {
  it.each([
    ['a reset', true, 'succeeded'],
    ['a reset before anything happened', false, 'processing'],
  ])('after %s is looked up, and never tried elsewhere', async (_what, charged, status) => {
    const shop = await openScriptedShop({ settings: { idempotency_window_ms: 0 } });
    shop.providers.a.behave = silent(shop.providers.a, { charged });
    const { body } = await sell(shop);
    await becomes(shop, body.id, status);
    expect((await attemptsOf(shop, body.id))[0].outcome_class).toBe(charged ? 'approved' : 'unknown');
    expect((await trail(shop, body.id)).map(([where]) => where)).toEqual(['A']);
    expect(shop.providers.b.payments.size).toBe(0);
  }, 180_000);

  it('is what 500, 502, 408, 409, 425 and 499 mean, also in the provider\'s own format', async () => {
    await Promise.all([500, 502, 408, 409, 425, 499].map(async (status) => {
      const shop = await shopWhere(() => ({ status, body: { error: { code: 'processing_error' } } }), { settings: { idempotency_window_ms: 0 } });
      const { body } = await sell(shop, { execution: 'inline' });
      expect({ status, intent: body.status }).toEqual({ status, intent: 'processing' });
      expect(await trail(shop, body.id)).toEqual([['A', 'unknown']]);
      expect(shop.providers.b.payments.size).toBe(0);
      expect((await decisionsOf(shop, body.id))[0].reason).toContain('outcome unknown');
    }));
  }, 180_000);
});
