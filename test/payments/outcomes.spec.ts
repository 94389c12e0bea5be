import { cardOf, chargesOf, eventTypes, intentOf, moneyTaken, openShop, pay, settled, type Shop } from './shop.js';

let shop: Shop;
beforeAll(async () => {
  shop = await openShop({ settings: { a: { total_timeout_ms: 4_000 }, b: { total_timeout_ms: 4_000 } } });
});

describe('a payment that is approved', () => {
  it('is succeeded, with one charge, one capture at the provider, and its events in order', async () => {
    const { status, body } = await pay(shop, { amount: 4_200 });
    expect(status).toBe(201);
    expect(body).toMatchObject({ object: 'payment_intent', status: 'succeeded', amount_atom: 4_200, amount_atom_received: 4_200, payment_processor_name: 'foobar' });
    const [charge, ...more] = await chargesOf(shop, body.id);
    expect(more).toEqual([]);
    expect(charge).toMatchObject({ status: 'succeeded', outcome_class: 'approved', payment_processor_id: shop.a, amount_atom_captured: 4_200 });
    expect(body.charge_ids).toEqual([charge.id]);
    expect(await eventTypes(shop, body.id)).toEqual(['payment_intent.created', 'payment_intent.succeeded']);
    expect(await eventTypes(shop, charge.id)).toEqual(['charge.created', 'charge.succeeded']);
    expect(await moneyTaken(shop, body.id)).toHaveLength(1);
  });

  it('runs inline as well, with the same result', async () => {
    const { status, body } = await pay(shop, { extra: { execution: 'inline' } });
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'succeeded', execution: 'inline' });
    expect(await moneyTaken(shop, body.id)).toHaveLength(1);
  });
});

describe('a payment that is refused', () => {
  it.each([
    ['do_not_honor', 'soft_decline'],
    ['issuer_unavailable', 'soft_decline'],
    ['velocity_exceeded', 'soft_decline'],
    ['incorrect_cvc', 'soft_decline'],
    ['insufficient_funds', 'insufficient_funds'],
    ['lost_card', 'hard_decline'],
    ['stolen_card', 'hard_decline'],
    ['expired_card', 'hard_decline'],
    ['suspected_fraud', 'risk_refused'],
    ['authentication_required', 'authentication_required'],
  ])('%s answers 402 with that code, class %s, and no other connection is tried', async (outcome, outcomeClass) => {
    const { status, body } = await pay(shop, { simulate: outcome });
    expect(status).toBe(402);
    expect(body).toMatchObject({ code: outcome, payment_intent_id: expect.stringMatching(/^pi_stg_/), charge_id: expect.stringMatching(/^ch_stg_/) });
    const intent = await intentOf(shop, body.payment_intent_id);
    expect(intent).toMatchObject({ status: 'requires_payment_method', decline_code: outcome });
    const charges = await chargesOf(shop, intent.id);
    expect(charges).toHaveLength(1);
    expect(charges[0]).toMatchObject({ id: body.charge_id, status: 'failed', outcome_class: outcomeClass, failure_code: outcome });
    expect(await eventTypes(shop, intent.id)).toEqual(['payment_intent.created', 'payment_intent.failed']);
    expect(await moneyTaken(shop, intent.id)).toEqual([]);
  });

  it('can be paid with another method afterwards', async () => {
    const refused = await pay(shop, { method: await cardOf(shop, '4000000000000341') });
    expect(refused.status).toBe(402);
    const { status, body } = await shop.admin.post(`/payment-intents/${refused.body.payment_intent_id}/confirm`, {
      payment_method_id: await cardOf(shop),
    });
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'succeeded', decline_code: null });
    expect(body.charge_ids).toHaveLength(2);
    expect(await moneyTaken(shop, body.id)).toHaveLength(1);
  });
});

describe('a refusal that says "nothing was created"', () => {
  it.each([
    ['processing_error', 'processor_error'],
    ['misconfigured', 'processor_error'],
    ['rate_limited', 'processor_error'],
    ['connection_refused', 'not_sent'],
  ])('%s at A leads to B', async (outcome, outcomeClass) => {
    const { status, body } = await pay(shop, { simulate: { [shop.a]: outcome } });
    expect(status).toBe(201);
    expect(body.status).toBe('succeeded');
    const charges = await chargesOf(shop, body.id);
    expect(charges.map((charge) => [charge.payment_processor_id, charge.outcome_class])).toEqual([
      [shop.a, outcomeClass],
      [shop.b, 'approved'],
    ]);
    expect(await moneyTaken(shop, body.id)).toHaveLength(1);
  });

  it('everywhere ends in 402 with the last code', async () => {
    const { status, body } = await pay(shop, { simulate: 'processing_error' });
    expect(status).toBe(402);
    expect(body.code).toBe('processing_error');
    expect(await chargesOf(shop, body.payment_intent_id)).toHaveLength(2);
  });
});

describe('an outcome that is not known', () => {
  it.each(['timeout_after_charge', 'error_after_charge', 'malformed_answer'])(
    '%s is found out by the identical request, and one charge is made',
    async (outcome) => {
      const { status, body } = await pay(shop, { simulate: { [shop.a]: outcome } });
      expect(status).toBe(201);
      const intent = await settled(shop, body.id, 'succeeded', 'exception', 'requires_payment_method');
      expect(intent).toMatchObject({ status: 'succeeded', charge_ids: [expect.any(String)] });
      expect(await moneyTaken(shop, body.id)).toHaveLength(1);
      expect(await eventTypes(shop, intent.charge_ids[0])).toEqual(['charge.created', 'charge.pending', 'charge.succeeded']);
    },
    180_000,
  );

  it.each(['timeout_before_charge', 'error_before_charge'])(
    '%s stays processing: no other connection is tried, and nothing else may be done with the payment',
    async (outcome) => {
      const { status, body } = await pay(shop, { simulate: { [shop.a]: outcome } });
      expect(status).toBe(201);
      expect(body.status).toBe('processing');
      expect(body.charge_ids).toHaveLength(1);
      const again = await shop.admin.post(`/payment-intents/${body.id}/confirm`, { payment_method_id: await cardOf(shop) });
      expect([again.status, again.body.code]).toEqual([409, 'payment_in_flight']);
      const cancel = await shop.admin.post(`/payment-intents/${body.id}/cancel`);
      expect([cancel.status, cancel.body.code]).toEqual([409, 'payment_in_flight']);
      expect(await moneyTaken(shop, body.id)).toEqual([]);
    },
    30_000,
  );

  it('the same idempotency key waits again and answers with the outcome', async () => {
    const method = await cardOf(shop);
    const wish = { simulate: { [shop.a]: 'error_after_charge' }, key: `k-${method}`, method };
    const first = await pay(shop, wish);
    const second = first.body.status === 'processing' ? await pay(shop, wish) : first;
    expect(second.status).toBe(201);
    expect(second.body).toMatchObject({ id: first.body.id, status: 'succeeded' });
  }, 180_000);
});

describe('an outcome that comes later', () => {
  it('pending_then_approved is processing, then succeeded', async () => {
    const { status, body } = await pay(shop, { simulate: 'pending_then_approved' });
    expect(status).toBe(201);
    expect(body.status).toBe('processing');
    expect((await settled(shop, body.id, 'succeeded')).amount_atom_received).toBe(1_000);
    expect(await eventTypes(shop, body.id)).toEqual(['payment_intent.created', 'payment_intent.processing', 'payment_intent.succeeded']);
  }, 180_000);

  it('pending_then_declined is processing, then refused', async () => {
    const { body } = await pay(shop, { simulate: 'pending_then_declined' });
    const intent = await settled(shop, body.id, 'requires_payment_method');
    expect(intent.decline_code).toEqual(expect.any(String));
    expect(await moneyTaken(shop, body.id)).toEqual([]);
  }, 180_000);
});

describe('a challenge', () => {
  const challenge = async (card = '4000002760003184') => {
    const { status, body } = await pay(shop, { method: await cardOf(shop, card), extra: { return_url: 'https://shop.example/back' } });
    expect(status).toBe(201);
    expect(body).toMatchObject({ status: 'requires_action', next_action: { type: 'redirect', redirect_url: expect.stringContaining('/challenges/') } });
    return body;
  };
  const answer = (intent: { next_action: { redirect_url: string } }, result: string) =>
    fetch(intent.next_action.redirect_url, { method: 'POST', redirect: 'manual', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ result }) });

  it('passed is succeeded', async () => {
    const intent = await challenge();
    await answer(intent, 'passed');
    await settled(shop, intent.id, 'succeeded');
    expect(await moneyTaken(shop, intent.id)).toHaveLength(1);
  }, 180_000);

  it('passed with a card that lacks the money is refused', async () => {
    const intent = await challenge('4000008260003178');
    await answer(intent, 'passed');
    expect((await settled(shop, intent.id, 'requires_payment_method')).decline_code).toBe('insufficient_funds');
  }, 180_000);

  it('is cancelled at its processor before another method is tried', async () => {
    const intent = await challenge();
    const { status, body } = await shop.admin.post(`/payment-intents/${intent.id}/confirm`, { payment_method_id: await cardOf(shop) });
    expect(status).toBe(200);
    expect(body.status).toBe('succeeded');
    const charges = await chargesOf(shop, intent.id);
    expect(charges.map((charge) => charge.status)).toEqual(['failed', 'succeeded']);
    await answer(intent, 'passed');
    expect(await moneyTaken(shop, intent.id)).toHaveLength(1);
  }, 180_000);

  it('can be cancelled', async () => {
    const intent = await challenge();
    const { status, body } = await shop.admin.post(`/payment-intents/${intent.id}/cancel`);
    expect(status).toBe(200);
    expect(body.status).toBe('canceled');
    await answer(intent, 'passed');
    expect(await moneyTaken(shop, intent.id)).toEqual([]);
  }, 180_000);
});

describe('less approved than asked', () => {
  it('is cancelled at the processor, then refused', async () => {
    const { status, body } = await pay(shop, { simulate: { [shop.a]: 'partial_approval' } });
    expect(status).toBe(402);
    expect(body.code).toBe('partial_approval');
    expect(await moneyTaken(shop, body.payment_intent_id)).toEqual([]);
  });
});
