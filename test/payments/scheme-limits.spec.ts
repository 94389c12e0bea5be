import { made } from './shop.js';
import { declined } from './scripted-provider.js';
import { attemptsOf, closeProviders, decisionsOf, openScriptedShop, scriptedCard, sell, trail, type ScriptedShop } from './scripted-shop.js';

afterAll(closeProviders);

/** Refused payments of one card at both connections, one after the other at each. */
async function refusals(shop: ScriptedShop, method: string, count: number): Promise<void> {
  for (let left = count; left > 0; left -= 5) {
    const answers = await Promise.all(Array.from({ length: Math.min(left, 5) }, (_, index) => sell(shop, { method, amount_atom: 1_000 + left + index, execution: 'inline' })));
    for (const { status } of answers) expect(status).toBe(402);
  }
}

async function refusingShop(on: string[] = ['not_sent']): Promise<ScriptedShop> {
  const shop = await openScriptedShop({ on });
  shop.providers.a.behave = declined('do_not_honor');
  shop.providers.b.behave = declined('do_not_honor');
  return shop;
}

function approve(shop: ScriptedShop): void {
  for (const provider of Object.values(shop.providers)) provider.behave = (payment) => payment;
}

describe('the schemes\' limits', () => {
  it.each([
    ['visa', 20],
    ['mastercard', 10],
  ])('stop a %s card after %i refusals, at every connection; another card may be used', async (brand, limit) => {
    const shop = await refusingShop();
    const method = await scriptedCard(shop, `${brand}:one`);
    await refusals(shop, method, limit);
    expect(shop.providers.a.payments.size).toBe(limit);
    approve(shop);
    const { status, body } = await sell(shop, { method });
    expect([status, body.code, body.charge_id]).toEqual([402, 'no_processor_available', undefined]);
    expect(await attemptsOf(shop, body.payment_intent_id)).toEqual([]);
    const [decision] = await decisionsOf(shop, body.payment_intent_id);
    expect(decision.skipped).toEqual([{ processor_id: shop.a, reason: 'scheme_limit' }, { processor_id: shop.b, reason: 'scheme_limit' }]);
    expect(decision.reason).toContain('the card scheme allows no more attempts with this card for now');
    expect((await sell(shop, { method: await scriptedCard(shop, `${brand}:another`) })).body.status).toBe('succeeded');
  }, 180_000);

  it('count what several connections refused together', async () => {
    const shop = await refusingShop(['soft_decline']);
    const method = await scriptedCard(shop, 'mastercard:one');
    await refusals(shop, method, 5);
    approve(shop);
    expect((await sell(shop, { method })).body.code).toBe('no_processor_available');
  }, 180_000);

  it('count the same card of several payment methods, at the connection that refused it', async () => {
    const shop = await refusingShop();
    for (const part of [7, 7, 6]) await refusals(shop, await scriptedCard(shop, 'visa:shared'), part);
    approve(shop);
    const { body } = await sell(shop, { method: await scriptedCard(shop, 'visa:shared') });
    expect(body.status).toBe('succeeded');
    expect(await trail(shop, body.id)).toEqual([['B', 'approved']]);
    const [decision] = await decisionsOf(shop, body.id);
    expect(decision.skipped).toEqual([{ processor_id: shop.a, reason: 'scheme_limit' }]);
    const fresh = await sell(shop, { method: await scriptedCard(shop, 'visa:fresh') });
    expect(await trail(shop, fresh.body.id)).toEqual([['A', 'approved']]);
  }, 180_000);

  it('do not count what never reached the issuer', async () => {
    const shop = await openScriptedShop({ on: ['not_sent'] });
    shop.providers.a.behave = declined('suspected_fraud');
    const method = await scriptedCard(shop, 'mastercard:one');
    await refusals(shop, method, 12);
    approve(shop);
    expect((await sell(shop, { method })).body.status).toBe('succeeded');
  }, 180_000);
});

describe('a card that its scheme forbids for good', () => {
  const visa = { brand: 'visa', response_code: '46' };
  const mastercard = { brand: 'mastercard', advice_code: '03' };

  it.each([
    ['visa', visa, '46'],
    ['mastercard', mastercard, '03'],
    ['mastercard', { brand: 'mastercard', advice_code: '21' }, '21'],
  ])('%s after %j is not tried elsewhere, and never again', async (brand, network, code) => {
    const shop = await refusingShop(['soft_decline']);
    shop.providers.a.behave = declined('do_not_honor', network);
    const method = await scriptedCard(shop, `${brand}:one`);
    const refused = await sell(shop, { method });
    expect([refused.status, refused.body.code]).toEqual([402, 'do_not_honor']);
    expect(await trail(shop, refused.body.payment_intent_id)).toEqual([['A', 'soft_decline']]);
    const [charge] = await attemptsOf(shop, refused.body.payment_intent_id);
    expect(charge).toMatchObject({ retry_advice: 'never', network_advice_code: code });
    expect((await decisionsOf(shop, refused.body.payment_intent_id))[0].reason).toContain('the card scheme forbids every further attempt with this card');
    approve(shop);
    for (const again of [
      await shop.admin.post(`/payment-intents/${refused.body.payment_intent_id}/confirm`, { payment_method_id: method }),
      await sell(shop, { method }),
    ]) {
      expect([again.status, again.body.code]).toEqual([402, 'no_processor_available']);
      const decision = (await decisionsOf(shop, again.body.payment_intent_id)).at(-1);
      expect(decision).toMatchObject({ charge_id: null, order: [] });
      expect(decision.skipped).toEqual([{ processor_id: shop.a, reason: 'never_again' }, { processor_id: shop.b, reason: 'never_again' }]);
    }
  });

  it('is not tried at that connection as another payment method either', async () => {
    const shop = await refusingShop();
    shop.providers.a.behave = declined('do_not_honor', visa);
    await sell(shop, { method: await scriptedCard(shop, 'visa:closed') });
    approve(shop);
    const { body } = await sell(shop, { method: await scriptedCard(shop, 'visa:closed') });
    expect(await trail(shop, body.id)).toEqual([['B', 'approved']]);
    expect((await decisionsOf(shop, body.id))[0].skipped).toEqual([{ processor_id: shop.a, reason: 'never_again' }]);
  });

  it('is not tried again by dunning, neither where it was refused nor where no attempt could begin', async () => {
    const shop = await refusingShop(['soft_decline']);
    const method = await scriptedCard(shop, 'visa:closed');
    shop.providers.a.behave = declined('do_not_honor', visa);
    const refused = await subscribe(shop, method);
    const barred = await subscribe(shop, method);
    expect(await stands(shop, refused)).toEqual({ billing_status: 'incomplete', next_payment_attempt_at: null });
    expect(await stands(shop, barred)).toEqual({ billing_status: 'incomplete', next_payment_attempt_at: null });
    expect([shop.providers.a.payments.size, shop.providers.b.payments.size]).toEqual([1, 0]);
  }, 180_000);

  it('is told apart from a soft decline, which dunning tries again', async () => {
    const shop = await refusingShop();
    const id = await subscribe(shop, await scriptedCard(shop));
    expect(await stands(shop, id)).toEqual({ billing_status: 'incomplete', next_payment_attempt_at: expect.any(String) });
  }, 180_000);
});

async function subscribe({ admin, customer }: ScriptedShop, method: string): Promise<string> {
  const product = await made(admin.post('/products/', { name: 'Plan', description: 'A plan' }));
  const price = await made(admin.post('/prices/', {
    product_id: product, price_type: 'recurring', pricing_model: 'standard', currency: 'eur', unit_amount_atom: 1_200, billing_interval: 'month', is_active: true,
  }));
  const answer = await admin.post('/subscriptions/', {
    customer_id: customer, selected_product_price_quantity: [{ price_id: price, quantity: 1 }], payment_method_id: method,
  });
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.created[0].id;
}

async function stands({ admin }: ScriptedShop, id: string): Promise<object> {
  const { billing_status, next_payment_attempt_at } = (await admin.get(`/subscriptions/${id}`)).body;
  return { billing_status, next_payment_attempt_at };
}
