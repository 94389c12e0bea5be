import type { Answer } from '../support/account.js';
import { advanceTo, onClock, type Hall } from '../test-clocks/hall.js';
import { invoicesOf, openStore, priceOf, subOf, subscribe } from './store.js';

let hall: Hall;
let [plan, small, year]: string[] = [];
beforeAll(async () => {
  const store = await openStore();
  hall = await onClock(store, '2027-01-31T12:00:00.000Z');
  [plan, small, year] = await Promise.all([
    priceOf(store, { name: 'Plan', unit_amount_atom: 3_100 }), priceOf(store, { name: 'Small', unit_amount_atom: 997 }),
    priceOf(store, { name: 'Year', unit_amount_atom: 36_500, billing_interval: 'year' }),
  ]);
});

const change = (item: string, body: object): Promise<Answer> => hall.admin.put(`/subscription-items/${item}`, body);
const minted = new Set(['id', 'invoice_number', 'invoice_id', 'hosted_invoice_url', 'latest_payment_intent_id', 'created_at', 'updated_at', 'status', 'finalized_at', 'paid_at', 'paid_amount_atom', 'remaining_amount_atom']);

/** Without what only a stored row has: its ids, and that it was paid meanwhile. */
function drawn(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(drawn);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).filter(([key]) => !minted.has(key)).map(([key, each]) => [key, drawn(each)]));
}
const newestOf = async (id: string): Promise<Answer['body']> => (await invoicesOf(hall, id)).sort((a, b) => Date.parse(b.period_start) - Date.parse(a.period_start))[0];
const amounts = (lines: Answer['body'][]): number[] => lines.map((line) => line.amount_atom);

it('previews equal results to the cent and second, changes of one moment are charged apart, and renewals take in what waits', async () => {
  const { id, sub } = await subscribe(hall, { payment_method_id: hall.card, selected_product_price_quantity: [{ price_id: plan, quantity: 1 }] });
  const item = sub.subscription_items[0].id;
  expect(sub.billing_anchor).toBe('2027-01-31T12:00:00.000Z');
  await advanceTo(hall, '2027-02-14T12:00:00.000Z');

  for (const [body, expected] of [
    [{ quantity: 3, proration_behavior: 'create_prorations' }, [-1_550, 4_650]],
    [{ price_id: small, quantity: 7, proration_behavior: 'create_prorations' }, [-4_650, 3_490]],
  ] as const) {
    const preview = await change(item, { ...body, is_preview: true });
    const done = await change(item, body);
    expect([done.status, amounts(done.body.pending_invoice_items)]).toEqual([200, expected]);
    expect(drawn(preview.body)).toEqual(drawn(done.body));
  }
  for (const [quantity, total] of [[8, 1_940 + 498], [9, 498]] as const) {
    const body = { quantity, proration_behavior: 'always_invoice' };
    const preview = await change(item, { ...body, is_preview: true });
    const done = await change(item, body);
    expect([done.body.invoice.status, done.body.invoice.total_amount_atom]).toEqual(['paid', total]);
    expect(drawn(preview.body)).toEqual(drawn(done.body));
  }
  await change(item, { quantity: 1, proration_behavior: 'create_prorations' });
  await advanceTo(hall, '2027-03-01T12:00:00.000Z');
  const renewal = await newestOf(id);
  expect(renewal).toMatchObject({ billing_reason: 'subscription_cycle', status: 'paid', credited_amount_atom: 2_991, period_end: '2027-03-31T12:00:00.000Z' });
  expect(amounts(renewal.lines).sort((a, b) => a - b)).toEqual([-4_486, 498, 997]);
  const sum = (await invoicesOf(hall, id)).reduce((total, invoice) => total + invoice.total_amount_atom, 0);
  expect(sum).toBe(1_550 + 498 + 997);
}, 180_000);

it('another interval at the moment of creation is a period of its own; with none it waits for the renewal', async () => {
  const { id, sub } = await subscribe(hall, { payment_method_id: hall.card, selected_product_price_quantity: [{ price_id: plan, quantity: 1 }] });
  const item = sub.subscription_items[0].id;
  const done = await change(item, { price_id: year });
  expect([done.body.invoice.status, amounts(done.body.invoice.lines)]).toEqual(['paid', [36_500, -3_100]]);
  expect(await subOf(hall, id)).toMatchObject({ current_period_end: '2028-03-01T12:00:00.000Z', billing_status: 'current' });
  const back = await change(item, { price_id: plan, proration_behavior: 'always_invoice' });
  expect(back.body.invoice).toMatchObject({ status: 'paid', total_amount_atom: 3_100 - 36_500, credited_amount_atom: 33_400 });
  await change(item, { price_id: year, proration_behavior: 'none' });
  expect(await subOf(hall, id)).toMatchObject({ billing_interval: 'month', subscription_items: [{ drop_at_end: true }, { add_at_period_end: true }] });
  await advanceTo(hall, '2027-04-02T12:00:00.000Z');
  const after = await subOf(hall, id);
  expect(after).toMatchObject({ billing_interval: 'year', current_period_end: '2028-04-01T12:00:00.000Z', name: 'Year' });
  expect(after.subscription_items).toMatchObject([{ price_id: year, add_at_period_end: false }]);
}, 180_000);

it('a voided invoice lets what it had taken in wait again', async () => {
  const { id, sub } = await subscribe(hall, { payment_method_id: hall.card, selected_product_price_quantity: [{ price_id: plan, quantity: 4 }] });
  const item = sub.subscription_items[0].id;
  await hall.admin.put(`/subscriptions/${id}`, { collection_method: 'send_invoice', net_d: 60 });
  await change(item, { quantity: 1 });
  await advanceTo(hall, '2027-05-03T12:00:00.000Z');
  const renewal = await newestOf(id);
  const taken = amounts(renewal.lines).sort((a, b) => a - b);
  expect([renewal.status, taken]).toEqual(['paid', [-12_400, 3_100, 3_100]]);
  await change(item, { quantity: 2 });
  await advanceTo(hall, '2027-06-03T12:00:00.000Z');
  const open = await newestOf(id);
  const own = amounts(open.lines).sort((a, b) => a - b);
  expect(own.length).toBe(3);
  expect(open.status).toBe('open');
  expect((await hall.admin.post(`/invoices/${open.id}/void`, {})).status).toBe(200);
  const next = (await hall.admin.get(`/invoices/preview_next_invoice/${id}`)).body;
  expect(amounts(next.lines).sort((a, b) => a - b)).toEqual(own);
}, 180_000);

it('a removed item ends at the time of the clock, in a preview as in the result', async () => {
  const { id } = await subscribe(hall, { payment_method_id: hall.card, selected_product_price_quantity: [{ price_id: plan, quantity: 1 }, { price_id: small, quantity: 1 }] });
  const { frozen_time: now } = (await hall.admin.get(`/test-clocks/${hall.clock}`)).body;
  const [, item] = (await subOf(hall, id)).subscription_items;
  const preview = await hall.admin.delete(`/subscription-items/${item.id}`, { drop_at_end: false, is_preview: true });
  const done = await hall.admin.delete(`/subscription-items/${item.id}`, { drop_at_end: false });
  expect([preview.body.deleted_at, done.body.deleted_at]).toEqual([now, now]);
  expect(drawn(preview.body)).toEqual(drawn(done.body));
}, 180_000);
