import { becomes, invoicesOf, openStore, subscribe, type Store } from '../subscriptions/store.js';
import { eventually } from '../support/stack.js';
import { eventTypes } from '../payments/shop.js';
import { atProvider, theirId } from './provider.js';

let store: Store;
beforeAll(async () => {
  store = await openStore();
});

describe('the payment of an invoice', () => {
  it('that is refunded at the provider is booked on the invoice, and taken back when the refund fails', async () => {
    const { id } = await subscribe(store);
    await becomes(store, id, { status: 'active' });
    const invoice = async () => (await invoicesOf(store, id))[0];
    const { id: invoiceId, latest_payment_intent_id: intent } = await invoice();
    const { refunds } = await atProvider(store, `payments/${await theirId(store, intent)}/refunds`, { amount: 500 });
    await eventually(async () => (await invoice()).refunded_amount_atom === 500);
    expect(await invoice()).toMatchObject({ status: 'paid' });
    const events = await eventTypes(store, invoiceId);
    expect(events.slice(events.indexOf('invoice.paid'))).toEqual(['invoice.paid', 'invoice.updated']);
    await atProvider(store, `refunds/${refunds[0].id}`, { status: 'failed' });
    await eventually(async () => (await invoice()).refunded_amount_atom === 0);
  }, 180_000);

  it('that is pending is settled by callback: the subscription becomes active', async () => {
    const { id } = await subscribe(store, { custom_fields: { simulate: 'pending_then_approved' } });
    await becomes(store, id, { status: 'active', billing_status: 'current' });
    expect((await invoicesOf(store, id))[0]).toMatchObject({ status: 'paid' });
  }, 180_000);
});
