import { jest } from '@jest/globals';
import { connect } from '../../libs/db/client.js';
import { uuidOf } from '../../libs/views/ids.js';
import { cardOf, chargesOf, made, settled } from '../payments/shop.js';
import { becomes, invoicesOf, openStore, priceOf, subOf, subscribe, takenFor, wishFor, type Store } from '../subscriptions/store.js';
import { freshAccount } from '../support/account.js';
import { eventually, shared } from '../support/stack.js';
import { advanceTo, clockOf, isReady, onClock, toldOf, type Hall } from './hall.js';

jest.setTimeout(180_000);

let store: Store;
beforeAll(async () => {
  store = await openStore();
});

const day = 86_400_000;
const later = (from: string, ms: number) => new Date(Date.parse(from) + ms).toISOString();

/** Chooses another default card of the hall's customer. */
async function chooses(hall: Hall, card: string): Promise<void> {
  expect((await hall.admin.put(`/customers/${hall.customer}`, { default_payment_method_id: card })).status).toBe(201);
}

/** Start, status and time of payment of each invoice. */
async function billed(hall: Hall, id: string): Promise<[string, string, string | null][]> {
  return (await invoicesOf(hall, id)).map((invoice) => [invoice.period_start, invoice.status, invoice.paid_at]);
}

describe('a year on a clock', () => {
  it('with a trial, a card that fails in month 4 and another one in month 7: each fact at its own time', async () => {
    const hall = await onClock(store, '2030-01-31T10:00:00.000Z');
    const failing = await cardOf(hall, '4000000000009995');
    const { id, sub } = await subscribe(hall, { payment_method_id: null, trial_period_days: 14 });
    expect(sub).toMatchObject({ status: 'trialing', test_clock_id: hall.clock, created_at: '2030-01-31T10:00:00.000Z', trial_end: '2030-02-14T10:00:00.000Z' });
    await advanceTo(hall, '2030-04-30T00:00:00.000Z');
    expect(await billed(hall, id)).toEqual(['2030-02-14', '2030-03-14', '2030-04-14'].map((date) => [`${date}T10:00:00.000Z`, 'paid', `${date}T10:00:00.000Z`]));
    await chooses(hall, failing);
    await advanceTo(hall, '2030-05-20T00:00:00.000Z');
    expect(await subOf(hall, id)).toMatchObject({ status: 'active', billing_status: 'past_due', next_payment_attempt_at: '2030-05-21T10:00:00.000Z' });
    await chooses(hall, hall.card);
    await becomes(hall, id, { billing_status: 'current' });
    const may = (await invoicesOf(hall, id))[3]!;
    expect(may).toMatchObject({ status: 'paid', period_start: '2030-05-14T10:00:00.000Z', paid_at: '2030-05-20T00:00:00.000Z' });
    const tries = (await chargesOf(hall, may.latest_payment_intent_id)).map((charge) => [charge.created_at, charge.status]).sort();
    expect(tries).toEqual([
      ...['05-14T10', '05-14T16', '05-15T10', '05-17T10', '05-19T10'].map((at) => [`2030-${at}:00:00.000Z`, 'failed']),
      ['2030-05-20T00:00:00.000Z', 'succeeded'],
    ]);
    expect(await takenFor(hall, may)).toHaveLength(1);
    const clock = await advanceTo(hall, '2031-02-14T09:59:59.000Z');
    expect(clock.progress).toMatchObject({ percent: 100, waiting_for: null });
    expect(clock.progress.actions_done).toBeGreaterThanOrEqual(8 * 3);
    const all = await billed(hall, id);
    expect(all).toHaveLength(12);
    expect(all.at(-1)).toEqual(['2031-01-14T10:00:00.000Z', 'paid', '2031-01-14T10:00:00.000Z']);
  });

  it('with two failed months and their recovery in one call', async () => {
    const hall = await onClock(store, '2030-01-01T00:00:00.000Z');
    const simulate = { 'month:2030-03': 'do_not_honor, do_not_honor, approved', 'month:2030-06': 'insufficient_funds, insufficient_funds, insufficient_funds, approved' };
    const { id } = await subscribe(hall, { custom_fields: { simulate } });
    await advanceTo(hall, '2031-01-01T00:00:00.000Z');
    expect(await subOf(hall, id)).toMatchObject({ status: 'active', billing_status: 'current', current_period_end: '2031-02-01T00:00:00.000Z' });
    const invoices = await invoicesOf(hall, id);
    const tries = await Promise.all(invoices.map(async (invoice) => (await chargesOf(hall, invoice.latest_payment_intent_id)).length));
    expect(tries).toEqual([1, 1, 3, 1, 1, 4, 1, 1, 1, 1, 1, 1, 1]);
    expect([invoices[2]!.paid_at, invoices[5]!.paid_at]).toEqual(['2030-03-02T00:00:00.000Z', '2030-06-04T00:00:00.000Z']);
    const told = (await toldOf(hall, id)).map(({ type }) => type);
    expect(told.filter((type) => type === 'customer.subscription.dunning_recovered')).toHaveLength(2);
  });

  it('keeps an anchor on the 31st, through February and a leap day', async () => {
    const hall = await onClock(store, '2031-12-31T23:30:00.000Z');
    const { id } = await subscribe(hall, {}, { billing_interval_count: 1 });
    await advanceTo(hall, '2032-12-31T23:29:59.000Z');
    const ends = ['01-31', '02-29', '03-31', '04-30', '05-31', '06-30', '07-31', '08-31', '09-30', '10-31', '11-30'];
    expect((await billed(hall, id)).map(([start]) => start)).toEqual(['2031-12-31', ...ends.map((end) => `2032-${end}`)].map((date) => `${date}T23:30:00.000Z`));
  });
});

describe('the clock itself', () => {
  it('goes forward only, one advance at a time, and tells each step of its life', async () => {
    const frozen = '2029-03-01T00:00:00.000Z';
    const created = await store.operator.post('/test-clocks/', { name: 'spring', frozen_time: frozen }, { key: 'clock-1' });
    expect(created).toMatchObject({ status: 201, body: { object: 'test_clock', name: 'spring', status: 'ready', frozen_time: frozen, target_time: null, progress: { actions_done: 0, percent: 100, waiting_for: null }, failure_reason: null } });
    const clock = created.body.id as string;
    expect(clock).toMatch(/^clock_stg_/);
    expect((await store.operator.post('/test-clocks/', { name: 'spring', frozen_time: frozen }, { key: 'clock-1' })).body).toEqual(created.body);
    for (const bad of [frozen, '2028-01-01T00:00:00Z', 'soon', '2300-01-01T00:00:00Z', null]) {
      const refused = await store.operator.post(`/test-clocks/${clock}/advance`, { frozen_time: bad });
      expect([bad, refused.status, refused.body.errors?.[0]?.loc]).toEqual([bad, 422, ['body', 'frozen_time']]);
    }
    expect((await store.readOnly.post(`/test-clocks/${clock}/advance`, { frozen_time: '2029-04-01T00:00:00Z' })).status).toBe(403);
    const advance = () => store.operator.post(`/test-clocks/${clock}/advance`, { frozen_time: '2029-04-01T00:00:00Z' }, { key: 'advance-1' });
    const first = await advance();
    expect(first.body).toMatchObject({ status: 'advancing', frozen_time: frozen });
    await eventually(async () => (await clockOf(store, clock)).status === 'ready');
    expect((await advance()).body).toEqual(first.body);
    expect((await clockOf(store, clock)).frozen_time).toBe('2029-04-01T00:00:00.000Z');
    expect((await store.readOnly.get('/test-clocks?limit=100')).body.data.map((each: { id: string }) => each.id)).toContain(clock);
    expect((await store.readOnly.post('/test-clocks/list', { status: 'ready' })).body.data.map((each: { id: string }) => each.id)).toContain(clock);
    expect((await store.operator.delete(`/test-clocks/${clock}`)).body).toMatchObject({ test_clock_id: clock });
    expect((await store.operator.get(`/test-clocks/${clock}`)).status).toBe(404);
    expect((await toldOf(store, clock)).map(({ type, clock: at }) => [type, at])).toEqual([
      ['test_clock.created', frozen],
      ['test_clock.advancing', frozen],
      ['test_clock.ready', '2029-04-01T00:00:00.000Z'],
      ['test_clock.deleted', '2029-04-01T00:00:00.000Z'],
    ]);
  });

  it('takes customers at their creation only, of its own account, in staging only', async () => {
    const other = await freshAccount();
    const foreign = await made(other.admin.post('/test-clocks/', { frozen_time: '2030-01-01T00:00:00Z' }));
    for (const id of [foreign, 'clock_stg_x', store.customer]) {
      const refused = await store.admin.post('/customers/', { email: 'a@example.com', test_clock_id: id });
      expect([id, refused.status, refused.body.errors[0].loc]).toEqual([id, 422, ['body', 'test_clock_id']]);
    }
    const own = await made(store.admin.post('/test-clocks/', { frozen_time: '2030-01-01T00:00:00Z' }));
    expect((await store.admin.put(`/customers/${store.customer}`, { test_clock_id: own })).status).toBe(422);
    expect((await store.admin.get(`/test-clocks/${foreign}`)).status).toBe(404);
    const production = await freshAccount('production');
    for (const answer of await Promise.all([
      production.admin.post('/test-clocks/', { frozen_time: '2030-01-01T00:00:00Z' }),
      production.admin.get('/test-clocks'),
      production.admin.post('/test-clocks/list', {}),
      production.admin.get('/test-clocks/clock_prod_01h455vb4pex5vsknk084sn02q'),
      production.admin.post('/test-clocks/clock_prod_01h455vb4pex5vsknk084sn02q/advance', { frozen_time: '2030-01-01T00:00:00Z' }),
      production.admin.delete('/test-clocks/clock_prod_01h455vb4pex5vsknk084sn02q'),
    ])) expect([answer.status, answer.body.code]).toEqual([403, 'staging_only']);
    const refused = await production.admin.post('/customers/', { email: 'a@example.com', test_clock_id: own });
    expect([refused.status, refused.body.errors[0].loc]).toEqual([422, ['body', 'test_clock_id']]);
  });

  it('ends what lives on it when it is deleted, without money', async () => {
    const hall = await onClock(store, '2030-01-01T00:00:00.000Z');
    const { id } = await subscribe(hall);
    const failing = await subscribe(hall, { payment_method_id: await cardOf(hall, '4000000000009995'), trial_period_days: 1 });
    await advanceTo(hall, '2030-01-05T00:00:00.000Z');
    expect(await subOf(hall, failing.id)).toMatchObject({ billing_status: 'past_due' });
    await hall.admin.post(`/test-clocks/${hall.clock}/advance`, { frozen_time: '2030-01-05T01:00:00.000Z' });
    expect((await hall.admin.delete(`/test-clocks/${hall.clock}`)).status).toBe(200);
    await eventually(async () => (await hall.admin.get(`/customers/${hall.customer}`)).status === 404);
    expect(await subOf(hall, id)).toMatchObject({ status: 'cancelled', cancelled_at: expect.stringMatching(/^2030-01-05/) });
    expect((await invoicesOf(hall, failing.id)).map((invoice) => invoice.status)).toEqual(['void']);
    expect((await invoicesOf(hall, id))[0]).toMatchObject({ status: 'paid', refunded_amount_atom: 0 });
  });
});

describe('an advance that cannot go on', () => {
  it('says why and tells it; after the repair it goes on to its target', async () => {
    const hall = await onClock(store, '2030-01-01T00:00:00.000Z');
    const { id } = await subscribe(hall);
    expect((await hall.admin.put(`/subscriptions/${id}/pause`, {})).status).toBe(200);
    const database = connect(shared.databaseUrlStaging, { max: 1 });
    try {
      await database.pool.query('update subscriptions set next_action_at = $1 where id = $2', ['2030-01-03T00:00:00Z', uuidOf(id)]);
    } finally {
      await database.close();
    }
    await hall.admin.post(`/test-clocks/${hall.clock}/advance`, { frozen_time: '2030-03-01T00:00:00.000Z' });
    const failed = await eventually(async () => {
      const clock = await clockOf(hall, hall.clock);
      return clock.status === 'internal_failure' ? clock : null;
    }, { timeoutMs: 90_000 });
    expect(failed).toMatchObject({ frozen_time: '2030-01-01T00:00:00.000Z', failure_reason: expect.stringContaining('does not happen') });
    expect((await hall.admin.put(`/subscriptions/${id}/resume`, {})).body.subscription).toMatchObject({ status: 'active' });
    await advanceTo(hall, '2030-03-15T00:00:00.000Z');
    expect(await invoicesOf(hall, id)).toHaveLength(3);
    expect((await toldOf(hall, hall.clock)).map(({ type }) => type.replace('test_clock.', ''))).toEqual(['created', 'advancing', 'internal_failure', 'advancing', 'ready']);
  });
});

describe('while a clock moves', () => {
  it('another one moves beside it, real time is not touched, and members act in order', async () => {
    const [first, second] = await Promise.all([onClock(store, '2030-01-01T00:00:00.000Z'), onClock(store, '2024-06-15T08:00:00.000Z')]);
    const weekly = { billing_interval: 'week' };
    const members = [await subscribe(first, {}, weekly), await subscribe(first, {}, weekly), await subscribe(first)];
    const lone = await subscribe(second, {}, weekly);
    const real = await subscribe(store);
    await Promise.all([advanceTo(first, '2030-03-01T00:00:00.000Z'), advanceTo(second, '2024-08-15T08:00:00.000Z')]);
    expect(await Promise.all(members.map(async ({ id }) => (await invoicesOf(first, id)).length))).toEqual([9, 9, 3]);
    expect(await invoicesOf(second, lone.id)).toHaveLength(9);
    expect((await subOf(store, real.id)).updated_at).toBe(real.sub.updated_at);
    expect(await invoicesOf(store, real.id)).toHaveLength(1);
    const told = (await Promise.all(members.map(({ id }) => toldOf(first, id)))).flat().sort((x, y) => (x.at < y.at ? -1 : x.at > y.at ? 1 : 0));
    expect(told.every(({ clock }) => clock !== null)).toBe(true);
    expect(told.map(({ clock }) => clock)).toEqual(told.map(({ clock }) => clock).sort());
    expect(told.every(({ at }) => Date.now() - Date.parse(at) < 600_000)).toBe(true);
    expect((await toldOf(store, real.id)).every(({ clock }) => clock === null)).toBe(true);
  });

  it('an unknown outcome holds it, its subscriptions take no commands, and nothing is lost when it becomes known', async () => {
    const hall = await onClock(store, '2030-01-01T00:00:00.000Z');
    const { id } = await subscribe(hall, { custom_fields: { simulate: 'approved' } });
    await hall.admin.put(`/subscriptions/${id}`, { custom_fields: { simulate: 'pending_then_approved' } });
    const wish = await wishFor(hall);
    expect((await hall.admin.post(`/test-clocks/${hall.clock}/advance`, { frozen_time: '2030-02-10T00:00:00Z' })).status).toBe(200);
    const refused = await Promise.all([
      hall.admin.put(`/subscriptions/${id}/pause`, {}),
      hall.admin.post(`/test-clocks/${hall.clock}/advance`, { frozen_time: '2031-02-10T00:00:00Z' }),
      hall.admin.post('/subscriptions/', wish),
    ]);
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(Array(3).fill([409, 'test_clock_advancing']));
    await isReady(hall, '2030-02-10T00:00:00.000Z');
    const [, february] = await invoicesOf(hall, id);
    expect(february).toMatchObject({ status: 'paid', period_start: '2030-02-01T00:00:00.000Z' });
    expect(await takenFor(hall, february)).toHaveLength(1);
    await settled(hall, february.latest_payment_intent_id, 'succeeded');
  });
});

describe('what a person does on a clock', () => {
  it('is told with both times: a customer, and an invoice by hand that falls due', async () => {
    const hall = await onClock(store, '2030-01-01T00:00:00.000Z');
    const price = await priceOf(hall, { price_type: 'one_time', billing_interval: null });
    const body = { customer_id: hall.customer, selected_product_price_quantity: [{ price_id: price, quantity: 1 }], collection_method: 'send_invoice', net_d: 14, finalize_invoice_immediately: true };
    const { body: invoice } = await hall.admin.post('/invoices/', body);
    expect(invoice).toMatchObject({ status: 'open', due_date: '2030-01-15T00:00:00.000Z' });
    await advanceTo(hall, '2030-02-01T00:00:00.000Z');
    expect((await toldOf(hall, invoice.id)).map(({ type, clock }) => [type, clock]).at(-1)).toEqual(['invoice.past_due', '2030-01-15T00:00:00.000Z']);
    expect((await toldOf(hall, hall.customer)).map(({ clock }) => clock)).toEqual(Array(2).fill('2030-01-01T00:00:00.000Z'));
    const paid = await hall.admin.post(`/invoices/${invoice.id}/pay`, {});
    expect(paid.body).toMatchObject({ status: 'paid', paid_at: '2030-02-01T00:00:00.000Z' });
    expect((await toldOf(hall, paid.body.latest_payment_intent_id)).map(({ clock }) => clock)).toEqual(expect.arrayContaining(['2030-02-01T00:00:00.000Z']));
    expect((await toldOf(hall, paid.body.latest_payment_intent_id)).every(({ clock }) => clock === '2030-02-01T00:00:00.000Z')).toBe(true);
  });

  it('is dated by the clock: a line taken off a draft, and a payment on the hosted page', async () => {
    const hall = await onClock(store, '2030-01-01T00:00:00.000Z');
    const price = await priceOf(hall, { price_type: 'one_time', billing_interval: null });
    const body = { customer_id: hall.customer, selected_product_price_quantity: [{ price_id: price, quantity: 1 }], collection_method: 'send_invoice' };
    const draft = (await hall.admin.post('/invoices/', body)).body;
    await advanceTo(hall, '2030-01-02T00:00:00.000Z');
    expect((await hall.admin.delete(`/invoice-items/${draft.lines[0].id}`)).status).toBe(200);
    expect((await hall.admin.get(`/invoices/${draft.id}`)).body).toMatchObject({ status: 'draft', total_amount_atom: 0, updated_at: '2030-01-02T00:00:00.000Z' });

    const open = (await hall.admin.post('/invoices/', { ...body, finalize_invoice_immediately: true })).body;
    const form = new URLSearchParams({ try: '0', number: '4242424242424242', expiry: '12 / 40', cvc: '123' });
    expect((await fetch(open.hosted_invoice_url, { method: 'POST', redirect: 'manual', body: form })).status).toBe(303);
    const paid = (await hall.admin.get(`/invoices/${open.id}`)).body;
    expect(paid).toMatchObject({ status: 'paid', paid_at: '2030-01-02T00:00:00.000Z' });
    const intent = (await hall.admin.get(`/payment-intents/${paid.latest_payment_intent_id}`)).body;
    expect([intent.created_at, intent.updated_at]).toEqual(Array(2).fill('2030-01-02T00:00:00.000Z'));
  });

  it('happens at its time: previews, pauses with kept time, automatic resumption, cancellation', async () => {
    const hall = await onClock(store, '2030-01-01T00:00:00.000Z');
    const { id } = await subscribe(hall);
    await advanceTo(hall, '2030-01-11T00:00:00.000Z');
    const wish = { resumption_date: '2030-01-21T00:00:00Z' };
    const preview = await hall.admin.put(`/subscriptions/${id}/pause`, { ...wish, is_preview: true });
    const paused = await hall.admin.put(`/subscriptions/${id}/pause`, wish);
    expect(paused.body).toMatchObject({ status: 'paused', paused_at: '2030-01-11T00:00:00.000Z', updated_at: '2030-01-11T00:00:00.000Z' });
    expect(paused.body).toEqual(preview.body);
    await advanceTo(hall, '2030-01-25T00:00:00.000Z');
    expect(await subOf(hall, id)).toMatchObject({ status: 'active', current_period_end: later('2030-01-21T00:00:00.000Z', 21 * day) });
    const cancelled = await hall.admin.post(`/subscriptions/${id}/cancel`, {});
    expect(cancelled.body.subscription).toMatchObject({ status: 'cancelled', cancelled_at: '2030-01-25T00:00:00.000Z' });
    expect(cancelled.body.balance_credit_amount_atom).toBe(Math.round((1_200 * 17) / 31));
    const told = await toldOf(hall, id);
    expect(told.map(({ type, clock }) => [type.replace('customer.subscription.', ''), clock])).toEqual(expect.arrayContaining([
      ['created', '2030-01-01T00:00:00.000Z'],
      ['paused', '2030-01-11T00:00:00.000Z'],
      ['resumed', '2030-01-21T00:00:00.000Z'],
      ['canceled', '2030-01-25T00:00:00.000Z'],
    ]));
  });
});
