import { connect } from '../../libs/db/client.js';
import { uuidOf } from '../../libs/views/ids.js';
import type { Answer } from '../support/account.js';
import { shared } from '../support/stack.js';
import { advanceTo, onClock, type Hall } from '../test-clocks/hall.js';
import { invoicesOf, openStore, priceOf, subOf, subscribe, type Store } from './store.js';

const begin = '2027-01-31T12:00:00.000Z';
const half = '2027-02-14T12:00:00.000Z';
let store: Store;
let [plan, small, week, year]: string[] = [];
beforeAll(async () => {
  store = await openStore();
  [plan, small, week, year] = await Promise.all([
    priceOf(store, { name: 'Plan', unit_amount_atom: 3_100 }), priceOf(store, { name: 'Small', unit_amount_atom: 1_000 }),
    priceOf(store, { name: 'Week', unit_amount_atom: 700, billing_interval: 'week' }), priceOf(store, { name: 'Year', unit_amount_atom: 36_500, billing_interval: 'year' }),
  ]);
});

const sent = { collection_method: 'send_invoice', net_d: 60, payment_method_id: undefined };
const sold = (price_id: string | undefined, quantity = 1) => ({ selected_product_price_quantity: [{ price_id, quantity }] });
const amounts = (lines: Answer['body'][]): number[] => lines.map((line) => line.amount_atom).sort((a, b) => a - b);
const linesOfNext = async (hall: Hall, id: string): Promise<number[]> => amounts((await hall.admin.get(`/invoices/preview_next_invoice/${id}`)).body.lines);
const entriesOf = async (hall: Hall): Promise<Answer['body'][]> => (await hall.admin.get(`/customers/${hall.customer}/balance-transactions`)).body;

/** Three bought on account, two given back halfway: nothing was paid, so their credit waits and pays nothing else. */
async function creditWaits(): Promise<{ hall: Hall; id: string; first: Answer['body']; other: Answer['body'] }> {
  const hall = await onClock(store, begin);
  const { id, sub, answer } = await subscribe(hall, { ...sent, ...sold(plan, 3) });
  await advanceTo(hall, half);
  const less = await hall.admin.put(`/subscription-items/${sub.subscription_items[0].id}`, { quantity: 1, proration_behavior: 'always_invoice' });
  expect(less.body.invoice).toMatchObject({ status: 'open', total_amount_atom: 1_550, credited_amount_atom: 0 });
  expect(amounts(less.body.pending_invoice_items)).toEqual([-4_650]);
  const other = await subscribe(hall, { ...sent, ...sold(small, 3) });
  expect(other.answer.body.invoices[0]).toMatchObject({ total_amount_atom: 3_000, due_amount_atom: 3_000, status: 'open' });
  expect(await entriesOf(hall)).toEqual([]);
  return { hall, id, first: answer.body.invoices[0], other: other.answer.body.invoices[0] };
}

it('a credit waits until what it gives back is paid, and goes with it where that is voided', async () => {
  const { hall, id, first } = await creditWaits();
  expect(await linesOfNext(hall, id)).toEqual([3_100]);
  expect((await hall.admin.post(`/invoices/${first.id}/void`, {})).status).toBe(200);
  expect(await linesOfNext(hall, id)).toEqual([3_100]);
  await advanceTo(hall, '2027-03-01T12:00:00.000Z');
  const all = await invoicesOf(hall, id);
  expect(all.find(({ billing_reason: reason }) => reason === 'subscription_cycle')).toMatchObject({ total_amount_atom: 3_100, due_amount_atom: 3_100, status: 'open' });
  const standing = all.filter(({ status }) => status !== 'void').reduce((sum, invoice) => sum + invoice.total_amount_atom, 0);
  expect(standing).toBe(1_550 + 3_100);
  expect(await entriesOf(hall)).toEqual([]);
}, 60_000);

it('is taken in by the next invoice once that is paid, and what is more than that invoice becomes balance', async () => {
  const { hall, id, first } = await creditWaits();
  expect((await hall.admin.post(`/invoices/${first.id}/pay`, { paid_out_of_band: true })).body.status).toBe('paid');
  expect(await linesOfNext(hall, id)).toEqual([-4_650, 3_100]);
  await advanceTo(hall, '2027-03-01T12:00:00.000Z');
  const renewal = (await invoicesOf(hall, id)).find(({ billing_reason: reason }) => reason === 'subscription_cycle');
  expect(renewal).toMatchObject({ total_amount_atom: -1_550, credited_amount_atom: 1_550, status: 'paid' });
  expect((await entriesOf(hall)).map(({ amount_atom }) => amount_atom)).toEqual([1_550]);
}, 60_000);

it('what an earlier version gave back of an unpaid invoice is charged back where that is voided', async () => {
  const { hall, id, first, other } = await creditWaits();
  expect((await hall.admin.post(`/invoices/${other.id}/pay`, { paid_out_of_band: true })).body.status).toBe('paid');
  const database = connect(shared.databaseUrlStaging, { max: 1, onError: () => undefined });
  const taken = await database.pool.query('update invoice_items set invoice_id = $1 where subscription_id = $2 and invoice_id is null', [uuidOf(other.id), uuidOf(id)]);
  await database.close();
  expect(taken.rowCount).toBe(1);
  expect((await hall.admin.post(`/invoices/${first.id}/void`, {})).status).toBe(200);
  expect(await linesOfNext(hall, id)).toEqual([3_100, 4_650]);
  const done = await hall.admin.post(`/subscriptions/${id}/cancel`, { cancel_unpaid_invoices: false, prorate: false });
  expect([done.body.subscription.status, done.body.balance_credit_amount_atom, done.body.refund_amount_atom]).toEqual(['cancelled', 0, 0]);
  expect((await invoicesOf(hall, id)).filter(({ total_amount_atom: total }) => total === 4_650)).toMatchObject([{ status: 'open', due_amount_atom: 4_650 }]);
}, 60_000);

it('a full refund returns the credit that paid a part of the period, as its preview says, once', async () => {
  const hall = await onClock(store, begin);
  const { id, sub } = await subscribe(hall, { ...sold(plan, 3), payment_method_id: hall.card });
  const item = sub.subscription_items[0].id;
  await advanceTo(hall, half);
  const less = await hall.admin.put(`/subscription-items/${item}`, { quantity: 2, proration_behavior: 'create_prorations' });
  expect(amounts(less.body.pending_invoice_items)).toEqual([-4_650, 3_100]);
  await advanceTo(hall, '2027-02-28T12:01:00.000Z');
  const renewal = (await invoicesOf(hall, id)).find(({ billing_reason: reason }) => reason === 'subscription_cycle');
  expect(renewal).toMatchObject({ status: 'paid', total_amount_atom: 6_200 - 1_550, paid_amount_atom: 4_650 });
  const once = await priceOf(hall, { price_type: 'one_time', billing_interval: undefined });
  expect((await hall.admin.post('/invoice-items/', { customer_id: hall.customer, price_id: once, amount_atom: -400, description: 'Goodwill' })).status).toBe(201);
  const more = await hall.admin.put(`/subscription-items/${item}`, { quantity: 3, proration_behavior: 'always_invoice' });
  const paid = more.body.invoice.total_amount_atom;
  expect([more.body.invoice.status, amounts(more.body.invoice.lines).includes(-400), paid > 2_000]).toEqual(['paid', true, true]);
  const preview = await hall.admin.post(`/subscriptions/${id}/cancel`, { full_refund: true, is_preview: true });
  const key = `refund-${Date.now()}`;
  const done = await hall.admin.post(`/subscriptions/${id}/cancel`, { full_refund: true }, { key });
  const again = await hall.admin.post(`/subscriptions/${id}/cancel`, { full_refund: true }, { key });
  for (const { body } of [preview, done, again]) expect([body.refund_amount_atom, body.balance_credit_amount_atom]).toEqual([4_650 + paid, 1_950]);
  expect((await entriesOf(hall)).map(({ amount_atom }) => amount_atom)).toEqual([1_950]);
}, 60_000);

it('also where all of it happens in one second', async () => {
  const hall = await onClock(store, begin);
  const { id, sub } = await subscribe(hall, { ...sold(plan), payment_method_id: hall.card });
  const item = sub.subscription_items[0].id;
  const less = await hall.admin.put(`/subscription-items/${item}`, { price_id: small, proration_behavior: 'create_prorations' });
  expect(amounts(less.body.pending_invoice_items)).toEqual([-3_100, 1_000]);
  const changed = await hall.admin.put(`/subscription-items/${item}`, { price_id: week });
  expect(changed.body.invoice).toMatchObject({ status: 'paid', total_amount_atom: -2_400, credited_amount_atom: 2_400 });
  const done = await hall.admin.post(`/subscriptions/${id}/cancel`, { full_refund: true });
  expect([done.body.refund_amount_atom, done.body.balance_credit_amount_atom]).toEqual([0, 700]);
  expect((await entriesOf(hall))[0]).toMatchObject({ ending_balance_amount_atom: 3_100 });
}, 60_000);

it('also what was billed for the interval before, paid after it and used by a change', async () => {
  const hall = await onClock(store, begin);
  const { id, sub, answer } = await subscribe(hall, { ...sent, ...sold(plan) });
  const item = sub.subscription_items[0].id;
  await advanceTo(hall, half);
  const changed = await hall.admin.put(`/subscription-items/${item}`, { price_id: week });
  expect(changed.body.invoice).toMatchObject({ status: 'open', total_amount_atom: 700 });
  for (const invoice of [answer.body.invoices[0], changed.body.invoice]) await hall.admin.post(`/invoices/${invoice.id}/pay`, { paid_out_of_band: true });
  const more = await hall.admin.put(`/subscription-items/${item}`, { quantity: 3, proration_behavior: 'always_invoice' });
  expect([more.body.invoice.status, amounts(more.body.invoice.lines)]).toEqual(['paid', [-1_550, -700, 2_100]]);
  const done = await hall.admin.post(`/subscriptions/${id}/cancel`, { full_refund: true });
  expect([done.body.refund_amount_atom, done.body.balance_credit_amount_atom]).toEqual([0, 2_100]);
  expect((await entriesOf(hall))[0]).toMatchObject({ ending_balance_amount_atom: 2_100 + 150 });
}, 60_000);

it.each([['week', 'another interval ends earlier'], ['year', 'another interval ends later']])('a full refund gives back the current period only, where a new one began (%s: %s)', async (unit) => {
  const hall = await onClock(store, begin);
  const { id, sub } = await subscribe(hall, { ...sold(plan), payment_method_id: hall.card });
  await advanceTo(hall, half);
  const changed = await hall.admin.put(`/subscription-items/${sub.subscription_items[0].id}`, { price_id: unit === 'week' ? week : year, quantity: unit === 'week' ? 4 : 1 });
  const price = unit === 'week' ? 2_800 : 36_500;
  expect(changed.body.invoice).toMatchObject({ status: 'paid', total_amount_atom: price - 1_550 });
  const preview = await hall.admin.post(`/subscriptions/${id}/cancel`, { full_refund: true, is_preview: true });
  const done = await hall.admin.post(`/subscriptions/${id}/cancel`, { full_refund: true });
  for (const { body } of [preview, done]) expect([body.refund_amount_atom, body.balance_credit_amount_atom]).toEqual([price - 1_550, 1_550]);
  expect((await subOf(hall, id)).status).toBe('cancelled');
  expect((await entriesOf(hall))[0]).toMatchObject({ amount_atom: 1_550, ending_balance_amount_atom: 1_550 });
}, 60_000);
