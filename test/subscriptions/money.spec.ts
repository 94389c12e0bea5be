import { jest } from '@jest/globals';
import { cardOf, chargesOf, pay } from '../payments/shop.js';
import { untilListed } from '../support/events.js';
import { eventually } from '../support/stack.js';
import { becomes, invoicesOf, openStore, subOf, subscribe, takenFor, type Store } from './store.js';

jest.setTimeout(180_000);

const laterDeclined = '4000000000000341';
const challenged = '4000002760003184';

let store: Store;
beforeEach(async () => {
  store = await openStore();
});

const post = (path: string, body: object = {}) => store.admin.post(path, body);
const read = async (path: string) => (await store.admin.get(path)).body;
const balance = async (): Promise<number> => (await read(`/customers/${store.customer}`)).balance_atoms[0]?.amount_atom ?? 0;

async function incomplete(card: string) {
  const { id, answer } = await subscribe(store, { payment_method_id: await cardOf(store, card) });
  const invoice = answer.body.invoices[0];
  await eventually(async () => (await read(`/invoices/${invoice.id}`)).latest_payment_intent_id);
  return { id, invoiceId: invoice.id as string, intentId: (await read(`/invoices/${invoice.id}`)).latest_payment_intent_id as string };
}

describe('a voided invoice', () => {
  it('takes its payment with it, so that nothing can be collected any more', async () => {
    const { id, invoiceId, intentId } = await incomplete(laterDeclined);
    expect((await post(`/subscriptions/${id}/cancel`, { cancel_unpaid_invoices: true })).status).toBe(200);
    expect(await read(`/invoices/${invoiceId}`)).toMatchObject({ status: 'void' });
    expect(await read(`/payment-intents/${intentId}`)).toMatchObject({ status: 'canceled' });
    expect((await post(`/payment-intents/${intentId}/confirm`, { payment_method_id: store.card })).status).toBe(409);
  });

  it('keeps no money of a challenge that is passed afterwards', async () => {
    const { id, invoiceId, intentId } = await incomplete(challenged);
    const { next_action: { redirect_url: challenge } } = await read(`/payment-intents/${intentId}`);
    const [, answer] = await Promise.all([
      post(`/subscriptions/${id}/cancel`, { cancel_unpaid_invoices: true }),
      fetch(challenge, { method: 'POST', redirect: 'manual', headers: { 'content-type': 'application/json' }, body: '{"result":"passed"}' }),
    ]);
    expect(answer.status).toBeLessThan(500);
    const invoice = await read(`/invoices/${invoiceId}`);
    // The bank's word came before the cancel: then the invoice was owed and is paid, once.
    if (invoice.status === 'paid') return expect(await takenFor(store, invoice)).toHaveLength(1);
    expect(invoice.status).toBe('void');
    await eventually(async () => {
      const { status, charge_ids: charges } = await read(`/payment-intents/${intentId}`);
      const [charge] = await Promise.all(charges.map((each: string) => read(`/charges/${each}`)));
      return status === 'canceled' || (status === 'succeeded' && charge.refunded);
    }, { timeoutMs: 60_000 });
    await eventually(async () => (await takenFor(store, invoice)).length === 0, { timeoutMs: 90_000 });
  });

  it('gives back the credit that it had used', async () => {
    const first = await subscribe(store);
    const { body } = await post(`/subscriptions/${first.id}/cancel`);
    const credit = body.balance_credit_amount_atom;
    expect(await balance()).toBe(credit);
    const { answer } = await subscribe(store, { payment_method_id: await cardOf(store, laterDeclined) }, { unit_amount_atom: 5_000 });
    expect(answer.body.invoices[0].applied_balance_amount_atom).toBe(credit);
    expect(await balance()).toBe(0);
    expect((await post(`/invoices/${answer.body.invoices[0].id}/void`)).status).toBe(200);
    expect(await balance()).toBe(credit);
  });
});

it('the payment of an owed invoice is not cancelled by itself, so that the invoice stays payable', async () => {
  const { invoiceId, intentId, id } = await incomplete(laterDeclined);
  const refused = await post(`/payment-intents/${intentId}/cancel`);
  expect([refused.status, refused.body.code]).toEqual([409, 'conflict']);
  expect(refused.body.detail).toContain(invoiceId);
  expect((await post(`/invoices/${invoiceId}/pay`, { payment_method_id: store.card })).body).toMatchObject({ status: 'paid' });
  await becomes(store, id, { status: 'active', billing_status: 'current' });
});

describe('a full refund gives what its preview says', () => {
  it('for an invoice that was paid by another way: credit', async () => {
    const { id, invoiceId } = await incomplete(laterDeclined);
    await post(`/invoices/${invoiceId}/pay`, { paid_out_of_band: true });
    await becomes(store, id, { status: 'active' });
    const preview = await post(`/subscriptions/${id}/cancel`, { full_refund: true, is_preview: true });
    const done = await post(`/subscriptions/${id}/cancel`, { full_refund: true });
    expect([preview.status, done.status]).toEqual([200, 200]);
    for (const { body } of [preview, done]) expect(body).toMatchObject({ refund_amount_atom: 0, balance_credit_amount_atom: 1_200 });
  });

  it('also a moment after an equal partial refund', async () => {
    const { id } = await subscribe(store);
    const [invoice] = await invoicesOf(store, id);
    await post('/refunds/', { payment_intent_id: invoice.latest_payment_intent_id, amount_atom: 600 });
    const { status, body } = await post(`/subscriptions/${id}/cancel`, { full_refund: true });
    expect([status, body.refund_amount_atom]).toEqual([200, 600]);
    await eventually(async () => (await takenFor(store, invoice)).length === 0);
  });
});

it('a challenge that is replaced by another method is not taken for a failure', async () => {
  const { id, invoiceId } = await incomplete(challenged);
  await store.admin.put(`/subscriptions/${id}`, { payment_method_id: store.card });
  await becomes(store, id, { status: 'active', billing_status: 'current' });
  const invoice = await read(`/invoices/${invoiceId}`);
  expect(invoice).toMatchObject({ status: 'paid' });
  expect(await takenFor(store, invoice)).toHaveLength(1);
  expect(await subOf(store, id)).toMatchObject({ next_payment_attempt_at: null });
});

it('a card that was refused for good is never tried again with the same payment', async () => {
  const { body } = await pay(store, { simulate: 'lost_card' });
  const id = body.payment_intent_id;
  const again = await post(`/payment-intents/${id}/confirm`);
  expect([again.status, again.body.code]).toEqual([402, 'lost_card']);
  expect(await chargesOf(store, id)).toHaveLength(1);
});

it('what is written on a payment during its call is in the events that follow, and stays', async () => {
  const { body: intent } = await post('/payment-intents/', {
    amount_atom: 900, currency: 'eur', customer_id: store.customer, payment_method_id: store.card, metadata: { a: 'old' }, custom_fields: { simulate: 'delay_5s' },
  });
  const paid = post(`/payment-intents/${intent.id}/confirm`);
  await eventually(async () => (await read(`/payment-intents/${intent.id}`)).status === 'processing');
  expect((await store.admin.put(`/payment-intents/${intent.id}`, { metadata: { a: 'new' }, description: 'd2' })).status).toBe(200);
  expect((await paid).body).toMatchObject({ status: 'succeeded', metadata: { a: 'new' }, description: 'd2' });
  await untilListed(store.admin);
  const { data } = await read(`/events?object_id=${intent.id}&limit=10`);
  const success = data.find((event: { type: string }) => event.type === 'payment_intent.succeeded');
  expect(success.data).toMatchObject({ metadata: { a: 'new' }, description: 'd2' });
  expect(success.data_previous).not.toHaveProperty('metadata');
});

it('a deleted customer is charged no more', async () => {
  const { body: intent } = await post('/payment-intents/', { amount_atom: 900, currency: 'eur', customer_id: store.customer, payment_method_id: store.card });
  expect((await store.admin.delete(`/customers/${store.customer}`)).status).toBe(200);
  expect((await post(`/payment-intents/${intent.id}/confirm`)).status).toBe(409);
  expect(await chargesOf(store, intent.id)).toHaveLength(0);
});

it('a detached method is nobody\'s default', async () => {
  await store.admin.put(`/customers/${store.customer}`, { default_payment_method_id: store.card });
  await post(`/payment-methods/${store.card}/detach`);
  expect(await read(`/customers/${store.customer}`)).toMatchObject({ default_payment_method_id: null });
});
