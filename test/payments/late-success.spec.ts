import type { Answer } from '../support/account.js';
import { untilListed } from '../support/events.js';
import { eventually } from '../support/stack.js';
import { declined } from './scripted-provider.js';
import { attemptsOf, closeProviders, openScriptedShop, scriptedCard, sell, type ScriptedShop } from './scripted-shop.js';

afterAll(closeProviders);

const captured = { status: 'captured', amount_authorized: 1_000, amount_captured: 1_000, decline: null };
const authorized = { status: 'authorized', amount_authorized: 1_000, amount_captured: 0, decline: null };

async function intentOf(shop: ScriptedShop, id: string): Promise<Answer['body']> {
  return (await shop.admin.get(`/payment-intents/${id}`)).body;
}

async function refundsOf(shop: ScriptedShop, intent: string): Promise<Answer['body'][]> {
  return (await shop.admin.post('/refunds/list', { payment_intent_id: intent })).body.data;
}

async function typesOf(shop: ScriptedShop, object: string): Promise<string[]> {
  await untilListed(shop.admin);
  const { body } = await shop.admin.get(`/events?object_id=${object}&limit=100`);
  return (body.data as { type: string; sequence: number }[]).sort((x, y) => x.sequence - y.sequence).map((event) => event.type);
}

/** The charge at A, once it shows what is expected of it. */
function chargeAtA(shop: ScriptedShop, intent: string, expected: object): Promise<Answer['body']> {
  return eventually(async () => {
    const charge = (await attemptsOf(shop, intent)).find((each) => each.payment_processor_id === shop.a);
    return Object.entries(expected).every(([field, value]) => charge[field] === value) ? charge : null;
  }, { timeoutMs: 90_000 });
}

/** A payment that A refused; then B took it, or nobody did. */
async function refusedAtA(options: { on: string[]; extra?: object }): Promise<{ shop: ScriptedShop; intent: string; reference: string }> {
  const shop = await openScriptedShop({ on: options.on });
  shop.providers.a.behave = declined('do_not_honor');
  const { body } = await sell(shop, { method: await scriptedCard(shop), ...options.extra });
  const intent = body.payment_intent_id ?? body.id;
  return { shop, intent, reference: `${intent}-1` };
}

describe('a success that the processor tells after it had refused', () => {
  it('counts while the payment is open and unpaid', async () => {
    const { shop, intent, reference } = await refusedAtA({ on: ['not_sent'] });
    expect((await intentOf(shop, intent)).status).toBe('requires_payment_method');
    await shop.providers.a.tell(reference, captured);
    const charge = await chargeAtA(shop, intent, { status: 'succeeded' });
    expect(charge).toMatchObject({ is_late: false, amount_atom_captured: 1_000, failure_code: null });
    expect(await intentOf(shop, intent)).toMatchObject({ status: 'succeeded', amount_atom_received: 1_000, decline_code: null });
    expect(await refundsOf(shop, intent)).toEqual([]);
    expect(await typesOf(shop, intent)).toEqual(['payment_intent.created', 'payment_intent.failed', 'payment_intent.succeeded']);
  });

  it('counts as an authorisation where only that was asked for', async () => {
    const { shop, intent, reference } = await refusedAtA({ on: ['not_sent'], extra: { capture_method: 'manual' } });
    await shop.providers.a.tell(reference, authorized);
    await chargeAtA(shop, intent, { status: 'succeeded', is_late: false });
    expect(await intentOf(shop, intent)).toMatchObject({ status: 'requires_capture', amount_atom_capturable: 1_000 });
  });

  it.each([
    ['paid elsewhere', 'succeeded'],
    ['cancelled', 'canceled'],
  ])('is refunded once and told where the payment was %s meanwhile', async (_what, status) => {
    const { shop, intent, reference } = await refusedAtA({ on: status === 'succeeded' ? ['soft_decline'] : ['not_sent'] });
    if (status === 'canceled') expect((await shop.admin.post(`/payment-intents/${intent}/cancel`)).status).toBe(200);
    expect((await intentOf(shop, intent)).status).toBe(status);
    await Promise.all([1, 2, 3].map(() => shop.providers.a.tell(reference, captured)));
    const charge = await chargeAtA(shop, intent, { is_late: true, refunded: true });
    const [refund, ...more] = await eventually(async () => {
      const refunds = await refundsOf(shop, intent);
      return refunds[0]?.status === 'succeeded' ? refunds : null;
    });
    expect(more).toEqual([]);
    expect(refund).toMatchObject({ charge_id: charge.id, amount_atom: 1_000, reason: 'duplicate' });
    expect(shop.providers.a.operations.filter(({ kind }) => kind === 'refund')).toEqual([{ kind: 'refund', reference, status: 'succeeded' }]);
    expect(shop.providers.a.taken).toEqual([]);
    expect(await intentOf(shop, intent)).toMatchObject({ status, amount_atom_refunded: 0 });
    expect(await typesOf(shop, charge.id)).toEqual(['charge.created', 'charge.failed', 'charge.succeeded', 'charge.refunded']);
    expect(await typesOf(shop, refund.id)).toEqual(['refund.created', 'refund.updated']);
    expect((await shop.admin.get('/attention?status=open')).body.data).toEqual([]);
  });

  it('is voided once and told where it was only authorised and the payment was made elsewhere', async () => {
    const { shop, intent, reference } = await refusedAtA({ on: ['soft_decline'], extra: { capture_method: 'manual' } });
    expect((await intentOf(shop, intent)).status).toBe('requires_capture');
    await Promise.all([1, 2, 3].map(() => shop.providers.a.tell(reference, authorized)));
    const charge = await eventually(async () => {
      const [first] = (await attemptsOf(shop, intent)).filter((each) => each.payment_processor_id === shop.a);
      return first.voided_at ? first : null;
    }, { timeoutMs: 90_000 });
    expect(charge).toMatchObject({ is_late: true, amount_atom_captured: 0 });
    expect(shop.providers.a.operations).toEqual([{ kind: 'void', reference, status: 'succeeded' }]);
    expect(await typesOf(shop, charge.id)).toEqual(['charge.created', 'charge.failed', 'charge.succeeded', 'charge.voided']);
    expect((await intentOf(shop, intent)).status).toBe('requires_capture');
    expect((await shop.admin.post(`/payment-intents/${intent}/capture`, {})).body.status).toBe('succeeded');
  });

  it.each([
    ['refund', {}, captured],
    ['void', { capture_method: 'manual' }, authorized],
  ])('is put on the attention list when its %s is refused', async (kind, extra, told) => {
    const { shop, intent, reference } = await refusedAtA({ on: ['soft_decline'], extra });
    shop.providers.a.refuse = { [kind]: { status: 422, body: { error: { code: 'processing_error' } } } };
    const before = (await intentOf(shop, intent)).status;
    await shop.providers.a.tell(reference, told);
    const line = await eventually(async () => (await shop.admin.get('/attention?status=open&type=operation_refused')).body.data[0]);
    expect(line).toMatchObject({ object_id: intent, actions: expect.arrayContaining([expect.any(String)]) });
    const charge = await chargeAtA(shop, intent, { is_late: true });
    expect(charge.status).toBe('succeeded');
    expect((await intentOf(shop, intent)).status).toBe(before);
    if (kind === 'refund') expect((await refundsOf(shop, intent)).map((refund) => refund.status)).toEqual(['failed']);
    expect(shop.providers.a.operations.filter((each) => each.kind === kind)).toEqual([{ kind, reference, status: 'refused' }]);
  });
});
