import { cardOf } from '../payments/shop.js';
import { advanceTo, onClock, type Hall } from '../test-clocks/hall.js';
import type { Answer } from '../support/account.js';
import { becomes, invoicesOf, openStore, priceOf, subscribe, type Store } from './store.js';

let store: Store;
let [plan, week]: string[] = [];
beforeAll(async () => {
  store = await openStore();
  [plan, week] = await Promise.all([
    priceOf(store, { name: 'Plan', unit_amount_atom: 3_100 }), priceOf(store, { name: 'Week', unit_amount_atom: 2_800, billing_interval: 'week' }),
  ]);
});

const amounts = (lines: Answer['body'][]): number[] => lines.map((line) => line.amount_atom).sort((a, b) => a - b);
const nextOf = async (hall: Hall, id: string): Promise<number[]> => amounts((await hall.admin.get(`/invoices/preview_next_invoice/${id}`)).body.lines);
const balanceOf = async (hall: Hall): Promise<number> => (await hall.admin.get(`/customers/${hall.customer}/balance-transactions`)).body[0]?.ending_balance_amount_atom ?? 0;
const byStart = async (hall: Hall, id: string): Promise<Answer['body'][]> => (await invoicesOf(hall, id)).sort((a, b) => Date.parse(a.period_start) - Date.parse(b.period_start));

async function choose(hall: Hall, card: string): Promise<void> {
  const chosen = await hall.admin.put(`/customers/${hall.customer}`, { default_payment_method_id: card });
  expect(chosen.status).toBe(201);
}

/** A renewal that fails, and ten of its 31 days later another interval: what its unused days cost was never paid, so it waits. */
async function changedUnpaid(): Promise<{ hall: Hall; id: string; unpaid: Answer['body'] }> {
  const hall = await onClock(store, '2027-01-31T12:00:00.000Z');
  const { id, sub } = await subscribe(hall, { payment_method_id: undefined, selected_product_price_quantity: [{ price_id: plan, quantity: 1 }] });
  await choose(hall, await cardOf(hall, '4000000000000341'));
  await advanceTo(hall, '2027-03-10T12:00:00.000Z');
  const [, unpaid] = await byStart(hall, id);
  expect(unpaid).toMatchObject({ status: 'past_due', total_amount_atom: 3_100 });
  const change = (body: object) => hall.admin.put(`/subscription-items/${sub.subscription_items[0].id}`, { price_id: week, ...body });
  const [preview, done] = [await change({ is_preview: true }), await change({})];
  for (const { body } of [preview, done]) {
    expect([body.invoice.total_amount_atom, amounts(body.invoice.lines), amounts(body.pending_invoice_items)]).toEqual([2_800, [2_800], [-2_100]]);
  }
  expect(await nextOf(hall, id)).toEqual([2_800]);
  return { hall, id, unpaid };
}

it('gives nothing back for an invoice that is written off, and what waited for it once somebody pays it after all', async () => {
  const { hall, id, unpaid } = await changedUnpaid();
  expect((await hall.admin.post(`/invoices/${unpaid.id}/mark_uncollectible`, {})).body.status).toBe('uncollectible');
  await choose(hall, hall.card);
  await becomes(hall, id, { status: 'active', billing_status: 'current' });
  await advanceTo(hall, '2027-03-18T12:00:00.000Z');
  const all = await byStart(hall, id);
  expect(all.map(({ status, total_amount_atom: total }) => [status, total])).toEqual([['paid', 3_100], ['uncollectible', 3_100], ['paid', 2_800], ['paid', 2_800]]);
  expect(await balanceOf(hall)).toBe(0);
  expect((await hall.admin.post(`/invoices/${unpaid.id}/pay`, { paid_out_of_band: true })).body.status).toBe('paid');
  expect(await nextOf(hall, id)).toEqual([-2_100, 2_800]);
}, 60_000);

it('takes the credit into the next invoice, once, where the old one is paid by hand', async () => {
  const { hall, id, unpaid } = await changedUnpaid();
  const byHand = await hall.admin.post('/invoices/', { customer_id: hall.customer, subscription_id: id, invoice_type: 'standard' });
  expect([byHand.status, byHand.body.errors?.[0]?.msg]).toEqual([422, 'No price is named and no line is pending']);
  expect((await hall.admin.post(`/invoices/${unpaid.id}/pay`, { paid_out_of_band: true })).body.status).toBe('paid');
  await choose(hall, hall.card);
  await becomes(hall, id, { status: 'active', billing_status: 'current' });
  expect(await nextOf(hall, id)).toEqual([-2_100, 2_800]);
  await advanceTo(hall, '2027-03-25T12:00:00.000Z');
  expect((await byStart(hall, id)).map(({ status, total_amount_atom: total }) => [status, total])).toEqual([
    ['paid', 3_100], ['paid', 3_100], ['paid', 2_800], ['paid', 700], ['paid', 2_800],
  ]);
}, 60_000);

it('gives it to the balance where the subscription ends first, beside a refund of the new period; drops it with a void or where nobody pays', async () => {
  const [paid, voided, owed] = await Promise.all([changedUnpaid(), changedUnpaid(), changedUnpaid()]);
  const end = ({ hall, id }: typeof paid, body: object = {}) => hall.admin.post(`/subscriptions/${id}/cancel`, { prorate: true, ...body });
  expect((await paid.hall.admin.post(`/invoices/${paid.unpaid.id}/pay`, { paid_out_of_band: true })).body.status).toBe('paid');
  await choose(paid.hall, paid.hall.card);
  await becomes(paid.hall, paid.id, { status: 'active', billing_status: 'current' });
  const preview = await end(paid, { full_refund: true, is_preview: true });
  const done = await end(paid, { full_refund: true });
  for (const { body } of [preview, done]) expect([body.refund_amount_atom, body.balance_credit_amount_atom]).toEqual([2_800, 2_100]);
  expect(await balanceOf(paid.hall)).toBe(2_100);
  expect((await voided.hall.admin.post(`/invoices/${voided.unpaid.id}/void`, {})).body.status).toBe('void');
  for (const each of [voided, owed]) {
    expect((await end(each)).body).toMatchObject({ balance_credit_amount_atom: 0, subscription: { status: 'cancelled' } });
    expect((await each.hall.admin.post('/invoice-items/list', { customer_id: each.hall.customer, pending: true })).body.data).toEqual([]);
    expect(await balanceOf(each.hall)).toBe(0);
  }
}, 60_000);
