import { cardOf, chargesOf, eventTypes, intentOf, openShop, pay, settled, type Shop } from '../payments/shop.js';
import { eventually } from '../support/stack.js';
import { applied, atProvider, theirId } from './provider.js';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop();
});

const paid = async (simulate?: string): Promise<{ id: string; charge: string; theirs: string }> => {
  const { body } = await pay(shop, { amount: 5_000, simulate });
  expect(body.status).toBe('succeeded');
  return { id: body.id, charge: body.charge_ids[0], theirs: await theirId(shop, body.id) };
};
const refundsOf = async (id: string) => (await shop.admin.post('/refunds/list', { payment_intent_id: id })).body.data;
const disputesOf = async (id: string) => (await shop.admin.post('/dispute/list', { payment_intent_id: id })).body.data;
const linesAbout = async (id: string) =>
  (await shop.admin.get('/attention?limit=100')).body.data.filter((line: { object_id: string }) => line.object_id === id);

describe('what the simulator calls back', () => {
  it('settles a pending payment', async () => {
    const { body } = await pay(shop, { simulate: 'pending_then_approved' });
    await settled(shop, body.id, 'succeeded');
    expect(await applied(shop, body.id, 1)).toMatchObject([{ eventType: 'payment.captured' }]);
  }, 180_000);

  it('duplicate_callback: twice the same event, stored once', async () => {
    const { id } = await paid('duplicate_callback');
    const rows = await applied(shop, id, 1);
    expect(rows).toHaveLength(1);
    expect(await eventTypes(shop, id)).toEqual(['payment_intent.created', 'payment_intent.succeeded']);
  }, 180_000);

  it('a callback that races the payment\'s own answer disturbs neither', async () => {
    for (let round = 0; round < 6; round += 1) {
      const answers = await Promise.all([1, 2].map(() => pay(shop, { simulate: 'duplicate_callback' })));
      expect(answers.map(({ status, body }) => [status, body.status])).toEqual([[201, 'succeeded'], [201, 'succeeded']]);
    }
  }, 180_000);

  it('reordered_callbacks: pending comes last and changes nothing', async () => {
    const { body } = await pay(shop, { simulate: 'reordered_callbacks' });
    const rows = await applied(shop, body.id, 2);
    expect(rows.map((row) => row.eventType)).toEqual(['payment.captured', 'payment.pending']);
    expect(rows[1]).toMatchObject({ result: 'nothing_new' });
    expect((await intentOf(shop, body.id)).status).toBe('succeeded');
  }, 180_000);

  it('late_callback: a lookup was first, and the callback changes nothing', async () => {
    const { body } = await pay(shop, { simulate: 'late_callback' });
    await settled(shop, body.id, 'succeeded');
    expect(await applied(shop, body.id, 1)).toMatchObject([{ result: 'nothing_new' }]);
    expect(await eventTypes(shop, body.id)).toEqual(['payment_intent.created', 'payment_intent.processing', 'payment_intent.succeeded']);
  }, 180_000);

  it('a challenge that was passed is known at once', async () => {
    const { body } = await pay(shop, { method: await cardOf(shop, '4000002760003184') });
    expect(body.status).toBe('requires_action');
    await fetch(body.next_action.redirect_url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"result":"passed"}' });
    await settled(shop, body.id, 'succeeded');
    expect(await applied(shop, body.id, 1)).toMatchObject([{ result: 'applied' }]);
  }, 180_000);
});

describe('a dispute', () => {
  it.each([['won', false], ['lost', true]] as const)('is opened and %s', async (end, disputed) => {
    const { id, charge } = await paid('disputed');
    const open = await eventually(async () => (await disputesOf(id))[0]);
    expect(open).toMatchObject({ object: 'dispute', status: 'open', charge_id: charge, amount_atom: 5_000, currency: 'eur', reason: 'fraudulent' });
    expect((await chargesOf(shop, id))[0].disputed).toBe(true);
    expect(await linesAbout(open.id)).toMatchObject([{ type: 'dispute_open', status: 'open' }]);
    await atProvider(shop, `disputes/${open.their_dispute_id}`, { status: end });
    await eventually(async () => (await disputesOf(id))[0].status === end);
    expect((await chargesOf(shop, id))[0].disputed).toBe(disputed);
    expect(await eventTypes(shop, open.id)).toEqual(['dispute.created', 'dispute.updated']);
    expect((await eventTypes(shop, charge)).slice(2)).toEqual(disputed ? ['charge.updated'] : ['charge.updated', 'charge.updated']);
    expect(await linesAbout(open.id)).toMatchObject([{ type: 'dispute_open', status: 'resolved', resolved_by: 'system' }]);
    expect((await shop.admin.get(`/dispute/${open.id}`)).body).toMatchObject({ id: open.id, status: end });
  }, 180_000);
});

describe('what a person does at the provider', () => {
  it('a refund is booked out of band, once', async () => {
    const { id, charge, theirs } = await paid();
    await atProvider(shop, `payments/${theirs}/refunds`, { amount: 1_200 });
    const [refund] = await eventually(async () => ((await refundsOf(id)).length > 0 ? refundsOf(id) : null));
    expect(refund).toMatchObject({ status: 'succeeded', amount_atom: 1_200, reason: 'manual_out_of_band', refunded_out_of_band: true });
    expect(await eventTypes(shop, refund.id)).toEqual(['refund.created']);
    expect((await eventTypes(shop, charge)).filter((type) => type === 'charge.refunded')).toHaveLength(1);
    expect(await intentOf(shop, id)).toMatchObject({ status: 'succeeded', amount_atom_refunded: 1_200, refund_ids: [refund.id] });
    await atProvider(shop, `payments/${theirs}/refunds`, { amount: 800 });
    await eventually(async () => (await intentOf(shop, id)).amount_atom_refunded === 2_000);
    expect(await refundsOf(id)).toHaveLength(2);
    const tooMuch = await shop.admin.post('/refunds/', { charge_id: charge, amount_atom: 3_001 });
    expect(tooMuch.body.code).toBe('refund_exceeds_captured');
    const rest = await shop.admin.post('/refunds/', { charge_id: charge });
    expect(rest.body).toMatchObject({ status: 'succeeded', amount_atom: 3_000 });
  }, 180_000);

  it('a refund that is pending there reserves its amount, and gives it back when it fails', async () => {
    const { id, charge, theirs } = await paid();
    await atProvider(shop, `payments/${theirs}/refunds`, { amount: 4_000, settles: 'failed' });
    await eventually(async () => (await refundsOf(id))[0]?.status === 'pending');
    expect((await chargesOf(shop, id))[0].refunded_amount_atom).toBe(4_000);
    expect((await shop.admin.post('/refunds/', { charge_id: charge, amount_atom: 1_001 })).body.code).toBe('refund_exceeds_captured');
    const refund = await eventually(async () => (await refundsOf(id)).find((each: { status: string }) => each.status === 'failed'));
    expect((await chargesOf(shop, id))[0].refunded_amount_atom).toBe(0);
    expect(await eventTypes(shop, refund.id)).toEqual(['refund.created', 'refund.updated']);
  }, 180_000);

  it('an authorisation that is voided cancels the payment', async () => {
    const { body } = await pay(shop, { extra: { capture_method: 'manual' } });
    await atProvider(shop, `payments/${await theirId(shop, body.id)}/void`);
    expect(await settled(shop, body.id, 'canceled')).toMatchObject({ amount_atom_capturable: 0 });
    const [charge] = await chargesOf(shop, body.id);
    expect(charge.voided_at).toEqual(expect.any(String));
    expect((await eventTypes(shop, charge.id)).at(-1)).toBe('charge.voided');
  }, 180_000);

  it('a capture that nobody asked for here counts, and is reported', async () => {
    const { body } = await pay(shop, { amount: 5_000, extra: { capture_method: 'manual' } });
    await atProvider(shop, `payments/${await theirId(shop, body.id)}/capture`, { amount: 2_000 });
    expect(await settled(shop, body.id, 'succeeded')).toMatchObject({ amount_atom_received: 2_000, amount_atom_capturable: 0 });
    expect(await linesAbout(body.id)).toMatchObject([{ type: 'captured_elsewhere', status: 'open' }]);
  }, 180_000);
});

describe('a refund of ours that takes its time', () => {
  const begin = async (simulate: string) => {
    const { id, charge } = await paid();
    await shop.admin.put(`/payment-intents/${id}`, { custom_fields: { simulate } });
    const { status, body } = await shop.admin.post('/refunds/', { charge_id: charge, amount_atom: 2_000 });
    expect([status, body.status]).toEqual([201, 'pending']);
    return { id, charge, refund: body.id as string };
  };
  const statusOf = async (refund: string) => (await shop.admin.get(`/refunds/${refund}`)).body.status;

  it('is pending, then succeeded', async () => {
    const { id, charge, refund } = await begin('pending_then_approved');
    const pending = (await shop.admin.get(`/refunds/${refund}`)).body;
    expect(pending).toMatchObject({ status: 'pending', processor_refund_id: expect.any(String) });
    expect((await intentOf(shop, id)).amount_atom_refunded).toBe(0);
    await eventually(async () => (await statusOf(refund)) === 'succeeded');
    expect(await eventTypes(shop, refund)).toEqual(['refund.created', 'refund.updated', 'refund.updated']);
    expect((await intentOf(shop, id)).amount_atom_refunded).toBe(2_000);
    expect((await chargesOf(shop, id))[0].refunded_amount_atom).toBe(2_000);
    expect((await applied(shop, id, 1)).map((row) => row.eventType)).toEqual(['refund.succeeded']);
    expect((await shop.admin.put(`/payment-intents/${id}`, { custom_fields: null })).status).toBe(200);
    expect((await shop.admin.post('/refunds/', { charge_id: charge })).body).toMatchObject({ status: 'succeeded', amount_atom: 3_000 });
  }, 180_000);

  it('is pending, then failed: its amount is free again', async () => {
    const { id, charge, refund } = await begin('pending_then_declined');
    await eventually(async () => (await statusOf(refund)) === 'failed');
    expect((await shop.admin.get(`/refunds/${refund}`)).body.attempt_error_message).toContain('closed');
    expect(await eventTypes(shop, refund)).toEqual(['refund.created', 'refund.updated', 'refund.updated']);
    expect((await chargesOf(shop, id))[0].refunded_amount_atom).toBe(0);
    await shop.admin.put(`/payment-intents/${id}`, { custom_fields: null });
    expect((await shop.admin.post('/refunds/', { charge_id: charge })).body).toMatchObject({ status: 'succeeded', amount_atom: 5_000 });
  }, 180_000);

  it('that was made and comes back is failed, and a person is told', async () => {
    const { id, charge } = await paid();
    const { body: refund } = await shop.admin.post('/refunds/', { charge_id: charge, amount_atom: 700 });
    expect(refund.status).toBe('succeeded');
    await atProvider(shop, `refunds/${refund.processor_refund_id}`, { status: 'failed' });
    await eventually(async () => (await statusOf(refund.id)) === 'failed');
    expect(await intentOf(shop, id)).toMatchObject({ amount_atom_refunded: 0 });
    expect((await chargesOf(shop, id))[0].refunded_amount_atom).toBe(0);
    expect(await linesAbout(id)).toMatchObject([{ type: 'refund_returned' }]);
  }, 180_000);

  it('at a connection without idempotency is found out by lookup, and made once', async () => {
    const plain = await openShop({ settings: { a: { idempotency: false } } });
    const { body } = await pay(plain, { amount: 5_000 });
    await plain.admin.put(`/payment-intents/${body.id}`, { custom_fields: { simulate: 'error_after_charge' } });
    const refund = await plain.admin.post('/refunds/', { payment_intent_id: body.id, amount_atom: 900 });
    expect(refund.body.status).toBe('pending');
    await eventually(async () => (await plain.admin.get(`/refunds/${refund.body.id}`)).body.status === 'succeeded', { timeoutMs: 90_000 });
    const ledger = await fetch(`${plain.simulatorUrl}/ledger?reference=${body.id}-1-refund-1`);
    expect(((await ledger.json()) as { data: unknown[] }).data).toHaveLength(1);
  }, 180_000);
});
