import type { Answer } from '../support/account.js';
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
const entriesOf = async (hall: Hall): Promise<Answer['body'][]> => (await hall.admin.get(`/customers/${hall.customer}/balance-transactions`)).body;

/** Three bought on account, two given back halfway: their credit has paid something else since. */
async function creditWasUsed(): Promise<{ hall: Hall; id: string; first: Answer['body']; other: Answer['body'] }> {
  const hall = await onClock(store, begin);
  const { id, sub, answer } = await subscribe(hall, { ...sent, ...sold(plan, 3) });
  await advanceTo(hall, half);
  const less = await hall.admin.put(`/subscription-items/${sub.subscription_items[0].id}`, { quantity: 1, proration_behavior: 'always_invoice' });
  expect(less.body.invoice).toMatchObject({ status: 'paid', total_amount_atom: -3_100, credited_amount_atom: 3_100 });
  const other = await subscribe(hall, { ...sent, ...sold(small, 3) });
  expect(other.answer.body.invoices[0]).toMatchObject({ total_amount_atom: 3_000, due_amount_atom: 0, status: 'paid' });
  expect((await entriesOf(hall)).map(({ amount_atom, ending_balance_amount_atom }) => [amount_atom, ending_balance_amount_atom])).toEqual([[-3_000, 100], [3_100, 3_100]]);
  return { hall, id, first: answer.body.invoices[0], other: other.answer.body.invoices[0] };
}

it('a credit that was used is charged back with the next invoice where what it gave back is voided: no balance falls below nothing', async () => {
  const { hall, id, first, other } = await creditWasUsed();
  expect((await hall.admin.post(`/invoices/${first.id}/void`, {})).status).toBe(200);
  expect((await entriesOf(hall)).map(({ ending_balance_amount_atom: left }) => left)).toEqual([100, 3_100]);
  expect((await hall.admin.get(`/invoices/${other.id}`)).body).toMatchObject({ status: 'paid', due_amount_atom: 0 });
  const preview = (await hall.admin.get(`/invoices/preview_next_invoice/${id}`)).body;
  expect([amounts(preview.lines), preview.total_amount_atom]).toEqual([[3_100, 4_650], 7_750]);
  await advanceTo(hall, '2027-03-01T12:00:00.000Z');
  const all = await invoicesOf(hall, id);
  const renewal = all.find(({ billing_reason: reason }) => reason === 'subscription_cycle');
  expect(renewal).toMatchObject({ total_amount_atom: 7_750, due_amount_atom: 7_650, status: 'open' });
  expect(amounts(renewal.lines)).toEqual([3_100, 4_650]);
  const standing = all.filter(({ status }) => status !== 'void').reduce((sum, invoice) => sum + invoice.total_amount_atom, 0);
  expect(standing).toBe(1_550 + 3_100);
  expect((await entriesOf(hall))[0]).toMatchObject({ amount_atom: -100, ending_balance_amount_atom: 0, type: 'applied_to_invoice', invoice_id: renewal.id });
}, 60_000);

it('is still owed where the subscription ends, on a last invoice that is payable by hand', async () => {
  const { hall, id, first } = await creditWasUsed();
  expect((await hall.admin.post(`/invoices/${first.id}/void`, {})).status).toBe(200);
  const body = { cancel_unpaid_invoices: false, prorate: false };
  const preview = await hall.admin.post(`/subscriptions/${id}/cancel`, { ...body, is_preview: true });
  const done = await hall.admin.post(`/subscriptions/${id}/cancel`, body);
  expect([done.body.subscription.status, done.body.balance_credit_amount_atom, done.body.refund_amount_atom]).toEqual(['cancelled', 0, 0]);
  expect([preview.body.balance_credit_amount_atom, preview.body.refund_amount_atom]).toEqual([0, 0]);
  const last = (await invoicesOf(hall, id)).find(({ status }) => status === 'open');
  expect(last).toMatchObject({ total_amount_atom: 4_650, due_amount_atom: 4_550 });
  expect((await hall.admin.post(`/invoices/${last.id}/pay`, { paid_out_of_band: true })).body.status).toBe('paid');
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
