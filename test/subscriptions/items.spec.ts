import { cardOf } from '../payments/shop.js';
import { freshAccount, type Answer } from '../support/account.js';
import { becomes, invoicesOf, openStore, priceOf, subEvents, subOf, subscribe, type Store } from './store.js';

const laterDeclined = '4000000000000341';
let store: Store;
let [big, yearly]: string[] = [];
const post = (path: string, body: object = {}, options = {}) => store.admin.post(path, body, options);
const put = (path: string, body: object = {}, options = {}) => store.admin.put(path, body, options);
const remove = (path: string, options = {}) => store.admin.delete(path, undefined, options);
beforeAll(async () => {
  store = await openStore({ settings: { a: { minimum_amounts: { nok: 50 } }, b: { minimum_amounts: { nok: 50 } } } });
  [big, yearly] = await Promise.all([
    priceOf(store, { name: 'Big', unit_amount_atom: 3_000 }), priceOf(store, { name: 'Yearly', unit_amount_atom: 10_000, billing_interval: 'year' }),
  ]);
});

const itemOf = async (id: string): Promise<Answer['body']> => (await subOf(store, id)).subscription_items[0];
const isStamp = new Set(['id', 'created_at', 'updated_at', 'period_start', 'subscription_item_id', 'invoice_id', 'proration_details_debit_invoice_item']);
/** The amounts and words of lines, without what names the row and the second. */
const billed = (lines: Answer['body'][]) =>
  lines.map((line) => Object.fromEntries(Object.entries(line).filter(([key]) => !isStamp.has(key)).map(([key, value]) => [key, key.endsWith('description') ? String(value).split(' from ')[0] : value])));
const amounts = (lines: Answer['body'][]): number[] => lines.map((line) => line.amount_atom);
const errorOf = ({ status, body }: Answer) => [status, body.errors?.[0]?.loc.slice(1).join('.') ?? body.code];

describe('with the next invoice', () => {
  it('a preview answers what the call then does; a key does it once', async () => {
    const { id } = await subscribe(store);
    const wish = { subscription_id: id, price_id: big, quantity: 2, description: 'seats', custom_fields: { team: 'a' } };
    const preview = await post('/subscription-items/', { ...wish, is_preview: true });
    expect([preview.status, (await subOf(store, id)).subscription_items.length]).toEqual([200, 1]);
    const done = await post('/subscription-items/', wish, { key: `add-${id}` });
    const again = await post('/subscription-items/', wish, { key: `add-${id}` });
    expect([done.status, again.text]).toEqual([200, done.text]);
    expect(done.body).toMatchObject({ object: 'subscription_item', quantity: 2, description: 'seats', custom_fields: { team: 'a' }, invoice: null, drop_at_end: false });
    expect(amounts(done.body.pending_invoice_items)).toEqual([6_000]);
    expect(billed(preview.body.pending_invoice_items)).toEqual(billed(done.body.pending_invoice_items));
    expect((await store.admin.get(`/invoice-items/${done.body.pending_invoice_items[0].id}`)).body).toMatchObject({ invoice_id: null, proration: true, subscription_item_id: done.body.id });
    expect((await subOf(store, id)).subscription_items).toHaveLength(2);
    expect((await subEvents(store, id)).at(-1)).toBe('updated');
    const next = (await store.admin.get(`/invoices/preview_next_invoice/${id}`)).body;
    expect(next.total_amount_atom).toBe(1_200 + 6_000 + 6_000);
    for (const [object, type] of [[done.body.id, 'subscription_item.created'], [done.body.pending_invoice_items[0].id, 'invoice_item.created']]) {
      const { body } = await post('/events/search', { object_id: object });
      expect(body.data.map((event: { type: string }) => event.type)).toEqual([type]);
    }
  });

  it('an item ends or begins with the period, visibly, and that is taken back', async () => {
    const { id } = await subscribe(store);
    const added = await post('/subscription-items/', { subscription_id: id, price_id: big, add_at_period_end: true });
    expect(added.body).toMatchObject({ add_at_period_end: true, invoice: null, pending_invoice_items: [] });
    const first = (await itemOf(id)).id;
    const dropped = await remove(`/subscription-items/${first}`);
    expect(dropped.body).toMatchObject({ subscription_item_id: first, drop_at_end: true, deleted_at: null, pending_invoice_items: [] });
    const upcoming = async () => amounts((await store.admin.get(`/invoices/preview_next_invoice/${id}`)).body.lines);
    expect(await upcoming()).toEqual([3_000]);
    expect((await put(`/subscription-items/${first}`, { drop_at_end: false })).body.drop_at_end).toBe(false);
    const gone = await remove(`/subscription-items/${added.body.id}?drop_at_end=false&proration_behavior=none`);
    expect([gone.body.drop_at_end, typeof gone.body.deleted_at]).toEqual([false, 'string']);
    expect((await store.admin.get(`/subscription-items/${added.body.id}`)).status).toBe(404);
    expect(await upcoming()).toEqual([1_200]);
  });
});

describe('at once', () => {
  it('is invoiced with what waits and charged; less becomes credit', async () => {
    const { id } = await subscribe(store, {}, { currency: 'sek' });
    const { id: item } = await itemOf(id);
    await put(`/subscription-items/${item}`, { quantity: 2 });
    const wish = { price_id: await priceOf(store, { name: 'Big', currency: 'sek', unit_amount_atom: 3_000 }), quantity: 3, proration_behavior: 'always_invoice' };
    const preview = await put(`/subscription-items/${item}`, { ...wish, is_preview: true });
    const done = await put(`/subscription-items/${item}`, wish);
    expect(amounts(done.body.invoice.lines)).toEqual([-1_200, 2_400, -2_400, 9_000]);
    expect(billed(preview.body.invoice.lines)).toEqual(billed(done.body.invoice.lines));
    expect(done.body.invoice).toMatchObject({ status: 'paid', billing_reason: 'subscription_update', total_amount_atom: 7_800, paid_amount_atom: 7_800 });
    expect(await subOf(store, id)).toMatchObject({ status: 'active', billing_status: 'current', name: 'Big' });
    const less = await put(`/subscription-items/${item}`, { quantity: 1, proration_behavior: 'always_invoice' });
    expect(less.body.invoice).toMatchObject({ status: 'paid', due_amount_atom: 0, credited_amount_atom: 6_000, total_amount_atom: -6_000 });
    const balance = (await store.admin.get(`/customers/${store.customer}/balance-transactions`)).body;
    expect((balance.data ?? balance)[0]).toMatchObject({ amount_atom: 6_000, type: 'adjustment', invoice_id: less.body.invoice.id });
  });

  it('stands although its charge fails', async () => {
    const { id } = await subscribe(store, {}, { currency: 'usd' });
    const usd = await priceOf(store, { currency: 'usd', unit_amount_atom: 2_000 });
    await put(`/subscriptions/${id}`, { payment_method_id: await cardOf(store, laterDeclined) });
    const answer = await post('/subscription-items/', { subscription_id: id, price_id: usd, proration_behavior: 'always_invoice' });
    expect(answer.status).toBe(200);
    expect(await becomes(store, id, { status: 'active', billing_status: 'past_due' })).toMatchObject({ entitled: true });
    expect((await subOf(store, id)).subscription_items).toHaveLength(2);
    expect((await put(`/subscriptions/${id}`, { collection_method: 'send_invoice' })).status).toBe(409);
  });

  it('is carried where no processor takes so little, and every cent is there', async () => {
    const { id } = await subscribe(store, {}, { currency: 'nok' });
    const cents = await priceOf(store, { currency: 'nok', unit_amount_atom: 30 });
    const { body } = await post('/subscription-items/', { subscription_id: id, price_id: cents, proration_behavior: 'always_invoice' });
    const { invoice } = body;
    expect([invoice.status, invoice.due_amount_atom, invoice.latest_payment_intent_id]).toEqual(['paid', 0, null]);
    const next = (await store.admin.get(`/invoices/preview_next_invoice/${id}`)).body;
    expect(amounts(invoice.lines)).toEqual([30, -30]);
    expect(amounts(next.lines)).toEqual([1_200, 30, 30]);
    expect(next.lines.flatMap((line: Answer['body']) => line.carried_from_invoice_id ?? [])).toEqual([invoice.id]);
    const waiting = (await post('/invoice-items/list', { customer_id: store.customer, pending: true })).body.data.filter((line: Answer['body']) => line.subscription_id === id);
    expect(waiting).toMatchObject([{ amount_atom: 30, invoice_id: null, carried_from_invoice_id: invoice.id }]);
  });

  it('another interval begins a period now; with none it waits, and is taken back in one request', async () => {
    const { id } = await subscribe(store, {}, { currency: 'gbp' });
    const year = await priceOf(store, { currency: 'gbp', unit_amount_atom: 10_000, billing_interval: 'year' });
    const { id: item } = await itemOf(id);
    const later = await put(`/subscription-items/${item}`, { price_id: year, proration_behavior: 'none' });
    expect(later.body.drop_at_end).toBe(true);
    const replacement = (await subOf(store, id)).subscription_items.find((each: Answer['body']) => each.add_at_period_end);
    const back = await put(`/subscriptions/${id}`, { proration_behavior: 'none', items: [{ id: item, drop_at_end: false }, { id: replacement.id, delete: true }] });
    expect(back.body.subscriptions[0].subscription_items).toMatchObject([{ id: item, drop_at_end: false }]);
    const done = await put(`/subscriptions/${id}`, { description: 'a year', items: [{ id: item, price_id: year }] });
    expect(amounts(done.body.invoices[0].lines)).toEqual([10_000, -1_200]);
    const [sub] = done.body.subscriptions;
    expect(sub).toMatchObject({ billing_interval: 'year', description: 'a year', billing_status: 'current' });
    expect(Date.parse(sub.current_period_end) - Date.parse(sub.current_period_start)).toBeGreaterThan(364 * 86_400_000);
  });
});

describe('several at once', () => {
  it('add, change and remove with one preview of all', async () => {
    const { id } = await subscribe(store, {}, { currency: 'chf' });
    const [one, two] = await Promise.all([priceOf(store, { currency: 'chf', unit_amount_atom: 500 }), priceOf(store, { currency: 'chf', unit_amount_atom: 700 })]);
    const { id: item } = await itemOf(id);
    const wish = { items: [{ id: item, delete: true }, { price_id: one, quantity: 4 }, { price_id: two, add_at_period_end: true }], net_d: 7, collection_method: 'send_invoice' };
    const preview = await put(`/subscriptions/${id}`, { ...wish, is_preview: true, preview_renewal_invoices: true });
    const done = await put(`/subscriptions/${id}`, { ...wish, preview_renewal_invoices: true });
    expect(done.status).toBe(200);
    expect(amounts(done.body.pending_invoice_items)).toEqual([-1_200, 2_000]);
    expect(billed(preview.body.pending_invoice_items)).toEqual(billed(done.body.pending_invoice_items));
    expect(amounts(preview.body.renewal_invoices[0].lines)).toEqual([2_000, 700, -1_200, 2_000]);
    expect(billed(preview.body.renewal_invoices[0].lines)).toEqual(billed(done.body.renewal_invoices[0].lines));
    expect(done.body.subscriptions[0]).toMatchObject({ collection_method: 'send_invoice', net_d: 7 });
    const cancelled = await post(`/subscriptions/${id}/cancel`);
    expect(cancelled.body.subscription.status).toBe('cancelled');
    const last = (await invoicesOf(store, id)).find(({ billing_reason: reason }) => reason === 'subscription_update');
    expect([last.status, last.total_amount_atom, cancelled.body.balance_credit_amount_atom]).toEqual(['paid', -1_200, 1_200]);
  });

  it('a first invoice may wait for its payment by hand', async () => {
    const { id, sub, answer } = await subscribe(store, { skip_invoice_payment: true });
    expect([sub.status, sub.billing_status, answer.body.invoices[0].status]).toEqual(['trialing', 'incomplete', 'open']);
    expect((await put(`/subscription-items/${(await itemOf(id)).id}`, { quantity: 2 })).status).toBe(409);
    expect((await post(`/invoices/${answer.body.invoices[0].id}/pay`, { payment_method_id: store.card })).status).toBe(200);
    await becomes(store, id, { status: 'active', billing_status: 'current' });
    const body = { customer_id: store.customer, selected_product_price_quantity: [{ price_id: big, quantity: 1 }], trial_period_days: 3, skip_invoice_payment: true };
    expect(errorOf(await post('/subscriptions/', body))).toEqual([422, 'skip_invoice_payment']);
  });
});

describe('refusals', () => {
  it('name the field, the role, the account or the state', async () => {
    const { id } = await subscribe(store);
    const { id: item } = await itemOf(id);
    const dollars = await priceOf(store, { currency: 'usd' });
    const once = await priceOf(store, { price_type: 'one_time', billing_interval: undefined });
    const add = (body: object) => post('/subscription-items/', { subscription_id: id, price_id: big, ...body });
    expect(errorOf(await add({ price_id: dollars }))).toEqual([422, 'price_id']);
    expect(errorOf(await add({ price_id: yearly, is_preview: true }))).toEqual([422, 'price_id']);
    expect(errorOf(await add({ price_id: once }))).toEqual([422, 'price_id']);
    expect(errorOf(await add({ subscription_id: id.replace(/.$/, (last: string) => (last === '0' ? '1' : '0')) }))).toEqual([422, 'subscription_id']);
    expect(errorOf(await put(`/subscriptions/${id}`, { items: [{ id: item, quantity: 2 }, { price_id: yearly }] }))).toEqual([422, 'items.1.price_id']);
    expect(errorOf(await put(`/subscriptions/${id}`, { items: [{ id: item, quantity: 2 }, { id: item, quantity: 3 }] }))).toEqual([422, 'items.1.id']);
    expect(errorOf(await put(`/subscriptions/${id}`, { new_period_end: '2040-01-01T00:00:00Z' }))).toEqual([422, 'new_period_end']);
    expect(errorOf(await remove(`/subscription-items/${item}?drop_at_end=false`))).toEqual([409, 'conflict']);
    const stranger = (await freshAccount()).admin;
    for (const [client, status] of [[store.readOnly, 403], [stranger, 404]] as const) {
      expect((await client.put(`/subscription-items/${item}`, { quantity: 2 })).status).toBe(status);
      expect((await client.delete(`/subscription-items/${item}`)).status).toBe(status);
    }
    await put(`/subscriptions/${id}/pause`);
    for (const extra of [{}, { is_preview: true }]) expect((await put(`/subscription-items/${item}`, { quantity: 2, ...extra })).status).toBe(409);
    expect((await put(`/subscription-items/${item}`, { quantity: 2, proration_behavior: 'none' })).body).toMatchObject({ quantity: 2, pending_invoice_items: [] });
    await post(`/subscriptions/${id}/cancel`);
    expect((await put(`/subscription-items/${item}`, { quantity: 3 })).status).toBe(409);
  });
});
