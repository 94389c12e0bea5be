import { jest } from '@jest/globals';
import { cardOf, chargesOf } from '../payments/shop.js';
import { becomes, invoicesOf, openStore, priceOf, subEvents, subOf, subscribe, takenFor, wishFor, type Store } from './store.js';

jest.setTimeout(180_000);

let store: Store;
beforeAll(async () => {
  store = await openStore();
});

const day = 86_400_000;
const inFuture = (ms: number) => new Date(Date.now() + ms).toISOString();

describe('a subscription without a trial', () => {
  it('is active after the first payment through the route, with one charge and its events in order', async () => {
    const { id, answer, sub } = await subscribe(store);
    expect(sub).toMatchObject({ object: 'subscription', status: 'active', billing_status: 'current', entitled: true, currency: 'eur' });
    expect(answer.body.processors_used).toEqual([store.a]);
    const [invoice] = answer.body.invoices;
    expect(invoice).toMatchObject({ status: 'paid', billing_reason: 'subscription_create', total_amount_atom: 1_200, paid_amount_atom: 1_200 });
    expect(invoice.lines).toHaveLength(1);
    expect(invoice.lines[0]).toMatchObject({ amount_atom: 1_200, proration: false, subscription_id: id });
    expect(await subEvents(store, id)).toEqual(['created', 'activated']);
    expect(await takenFor(store, invoice)).toHaveLength(1);
    expect(await subOf(store, id)).toEqual(sub);
  });

  it('numbers the invoices of an account without gaps', async () => {
    await subscribe(store);
    await subscribe(store);
    const { body } = await store.admin.post('/invoices/list', {});
    const numbers = (body.data as { invoice_number: number }[]).map((invoice) => invoice.invoice_number).sort((a, b) => a - b);
    expect(numbers).toEqual(numbers.map((_, index) => index + 1));
  });

  it('is incomplete after a decline, answers 200, and is active once its invoice is paid by hand', async () => {
    const bad = await cardOf(store, '4000000000000341');
    const { id, answer, sub } = await subscribe(store, { payment_method_id: bad });
    expect(sub).toMatchObject({ status: 'trialing', billing_status: 'incomplete', entitled: false });
    const [invoice] = answer.body.invoices;
    expect(invoice).toMatchObject({ status: 'past_due', remaining_amount_atom: 1_200 });
    expect(Date.parse(sub.next_payment_attempt_at) - Date.parse(sub.created_at)).toBeGreaterThan(5.9 * 3_600_000);

    const again = await store.admin.post(`/invoices/${invoice.id}/pay`, {});
    expect(again.status).toBe(402);
    expect(again.body).toMatchObject({ code: 'do_not_honor', payment_intent_id: invoice.latest_payment_intent_id, charge_id: expect.stringMatching(/^ch_stg_/) });

    const paid = await store.admin.post(`/invoices/${invoice.id}/pay`, { payment_method_id: store.card });
    expect(paid.status).toBe(200);
    expect(paid.body).toMatchObject({ status: 'paid', latest_payment_intent_id: invoice.latest_payment_intent_id });
    await becomes(store, id, { status: 'active', billing_status: 'current' });
    expect(await takenFor(store, paid.body)).toHaveLength(1);
    expect((await store.admin.post(`/invoices/${invoice.id}/pay`, {})).status).toBe(409);
  });

  it('retries at once when an incomplete one gets another method', async () => {
    const { id } = await subscribe(store, { payment_method_id: await cardOf(store, '4000000000000341') });
    const { status } = await store.admin.put(`/subscriptions/${id}`, { payment_method_id: store.card });
    expect(status).toBe(200);
    await becomes(store, id, { status: 'active', billing_status: 'current' });
  });

  it('refuses money due without a payment method, and takes none when nothing is due', async () => {
    const refused = await store.admin.post('/subscriptions/', await wishFor(store, { payment_method_id: null }));
    expect(refused.status).toBe(422);
    expect(refused.body.code).toBe('payment_method_required');
    const { sub, answer } = await subscribe(store, { payment_method_id: null }, { unit_amount_atom: 0 });
    expect(sub).toMatchObject({ status: 'active', billing_status: 'current' });
    expect(answer.body.invoices[0]).toMatchObject({ status: 'paid', total_amount_atom: 0, latest_payment_intent_id: null });
  });

  it('uses the customer\'s default method where it has none', async () => {
    await store.admin.put(`/customers/${store.customer}`, { default_payment_method_id: store.card });
    const { sub } = await subscribe(store, { payment_method_id: null });
    expect(sub).toMatchObject({ status: 'active', default_payment_method_id: null });
    await store.admin.put(`/customers/${store.customer}`, { default_payment_method_id: null });
  });

  it('goes to another processor by the route before it is declined', async () => {
    const other = await openStore({ fallback: { on: ['soft_decline', 'not_sent', 'processor_error'], max_attempts: 2 } });
    const { sub, answer } = await subscribe(other, { custom_fields: { simulate: { [other.a]: 'do_not_honor' } } });
    expect(sub).toMatchObject({ status: 'active', billing_status: 'current' });
    expect(answer.body.processors_used).toEqual([other.a, other.b]);
    const charges = await chargesOf(other, answer.body.invoices[0].latest_payment_intent_id);
    expect(charges.map((charge) => charge.status).sort()).toEqual(['failed', 'succeeded']);
  });
});

describe('a trial', () => {
  it('is trialing and entitled without an invoice, warns where less than three days are left, and bills from its end', async () => {
    const { id, sub, answer } = await subscribe(store, { trial_end: inFuture(5_000) });
    expect(sub).toMatchObject({ status: 'trialing', billing_status: 'current', entitled: true });
    expect(answer.body.invoices).toEqual([]);
    const active = await becomes(store, id, { status: 'active', billing_status: 'current' });
    expect(active.current_period_start).toBe(sub.trial_end);
    expect(active.billing_anchor).toBe(sub.trial_end);
    expect(await subEvents(store, id)).toEqual(['created', 'trialing', 'trial_will_end', 'updated', 'activated']);
    const [invoice] = await invoicesOf(store, id);
    expect(invoice).toMatchObject({ status: 'paid', period_start: sub.trial_end, is_initial_invoice_for_trial_sub: true });
    expect(await takenFor(store, invoice)).toHaveLength(1);
  });

  it('comes from the price, or is left out', async () => {
    const { sub } = await subscribe(store, {}, { trial_period_days: 14 });
    expect(Date.parse(sub.trial_end) - Date.parse(sub.trial_start)).toBe(14 * day);
    const { sub: without } = await subscribe(store, { trial_from_price: false }, { trial_period_days: 14 });
    expect(without).toMatchObject({ status: 'active', trial_end: null });
  });

  it.each([
    [{ missing_payment_method: 'pause' }, { status: 'paused', billing_status: 'incomplete' }],
    [{ missing_payment_method: 'cancel' }, { status: 'cancelled', billing_status: null }],
  ])('ends without a method by %j', async (settings, shape) => {
    const { id } = await subscribe(store, { payment_method_id: null, trial_end: inFuture(4_000), trial_settings: settings });
    await becomes(store, id, shape);
    expect(await invoicesOf(store, id)).toEqual([]);
    if (shape.status !== 'paused') return;
    const refused = await store.admin.put(`/subscriptions/${id}/resume`, {});
    expect([refused.status, refused.body.code]).toEqual([409, 'payment_method_required']);
    await store.admin.put(`/subscriptions/${id}`, { payment_method_id: store.card });
    const resumed = await store.admin.put(`/subscriptions/${id}/resume`, {});
    expect(resumed.status).toBe(200);
    expect(resumed.body.subscription).toMatchObject({ status: 'active', billing_status: 'current' });
    expect(resumed.body.invoice).toMatchObject({ status: 'paid' });
  });

  it('can be ended early, and moved', async () => {
    const { id, sub } = await subscribe(store, { trial_period_days: 10 });
    const later = inFuture(20 * day);
    const moved = await store.admin.put(`/subscriptions/${id}`, { trial_end: later });
    expect(moved.body.subscriptions[0]).toMatchObject({ trial_end: later, current_period_end: later });
    const ended = await store.admin.post(`/subscriptions/${id}/cancel-subscription-trial`);
    expect(ended.status).toBe(200);
    expect(ended.body).toMatchObject({ status: 'active', billing_status: 'current' });
    expect(Date.parse(ended.body.trial_end)).toBeLessThan(Date.parse(sub.trial_end));
    expect((await store.admin.post(`/subscriptions/${id}/cancel-subscription-trial`)).body.code).toBe('invalid_state_transition');
  });

  it('begins dunning when the payment at its end fails', async () => {
    const { id } = await subscribe(store, { payment_method_id: await cardOf(store, '4000000000009995'), trial_end: inFuture(4_000) });
    const sub = await becomes(store, id, { status: 'active', billing_status: 'past_due', entitled: true });
    const [invoice] = await invoicesOf(store, id);
    expect(invoice.status).toBe('past_due');
    expect(await subEvents(store, id)).toEqual(expect.arrayContaining(['activated', 'past_due']));
    expect(Date.parse(sub.next_payment_attempt_at) - Date.now()).toBeGreaterThan(5.9 * 3_600_000);
    await store.admin.put(`/subscriptions/${id}`, { payment_method_id: store.card });
    await becomes(store, id, { status: 'active', billing_status: 'current' });
  });
});

describe('a scheduled start', () => {
  it('is scheduled, not entitled, and begins by itself', async () => {
    const starts = inFuture(5_000);
    const { id, sub } = await subscribe(store, { starts_at: starts });
    expect(sub).toMatchObject({ status: 'trialing', billing_status: 'scheduled', entitled: false });
    const active = await becomes(store, id, { status: 'active', billing_status: 'current' });
    expect(active.current_period_start).toBe(starts);
  });
});

describe('pausing and resuming', () => {
  it('keeps the time that is left', async () => {
    const { id, sub } = await subscribe(store);
    const paused = await store.admin.put(`/subscriptions/${id}/pause`, {});
    expect(paused.status).toBe(200);
    expect(paused.body).toMatchObject({ status: 'paused', billing_status: 'current', entitled: false });
    const left = Date.parse(sub.current_period_end) - Date.parse(paused.body.paused_at);
    const resumed = await store.admin.put(`/subscriptions/${id}/resume`, {});
    expect(resumed.body.subscription).toMatchObject({ status: 'active', paused_at: null });
    const { updated_at: at, current_period_end: end, billing_anchor: anchor } = resumed.body.subscription;
    expect(Math.abs(Date.parse(end) - Date.parse(at) - left)).toBeLessThan(1_000);
    expect(anchor).toBe(end);
    expect(await subEvents(store, id)).toEqual(['created', 'activated', 'paused', 'resumed']);
    expect(await invoicesOf(store, id)).toHaveLength(1);
  });

  it('resumes by itself at a date, which can be changed while paused', async () => {
    const { id } = await subscribe(store);
    const far = inFuture(day);
    await store.admin.put(`/subscriptions/${id}/pause`, { resumption_date: far });
    const same = await store.admin.put(`/subscriptions/${id}/pause`, { resumption_date: far });
    expect(same.status).toBe(200);
    expect(await subEvents(store, id)).toEqual(['created', 'activated', 'paused']);
    const soon = inFuture(4_000);
    const changed = await store.admin.put(`/subscriptions/${id}/pause`, { resumption_date: soon });
    expect(changed.body).toMatchObject({ status: 'paused', resumes_at: soon });
    await becomes(store, id, { status: 'active', resumes_at: null });
  });

  it('pauses at the period\'s end for cycles, and a cancel at the end clears that', async () => {
    const { id, sub } = await subscribe(store);
    const pending = await store.admin.put(`/subscriptions/${id}/pause`, { number_of_billing_cycles_to_skip: 2 });
    expect(pending.body).toMatchObject({ status: 'active', pause_at_end: true, pause_for_cycles: 2, renews_at: null });
    expect(Date.parse(pending.body.resumes_at)).toBeGreaterThan(Date.parse(sub.current_period_end) + 55 * day);
    const ending = await store.admin.put(`/subscriptions/${id}`, { cancel_at_end: true });
    expect(ending.body.subscriptions[0]).toMatchObject({ cancel_at_end: true, pause_at_end: false, resumes_at: null });
    const back = await store.admin.put(`/subscriptions/${id}`, { cancel_at_end: false });
    expect(back.body.subscriptions[0]).toMatchObject({ cancel_at_end: false, renews_at: sub.current_period_end });
  });

  it('pauses a trial at its end for cycles, and a resume bills a new period', async () => {
    const { id } = await subscribe(store, { trial_end: inFuture(6_000) });
    await store.admin.put(`/subscriptions/${id}/pause`, { number_of_billing_cycles_to_skip: 1 });
    const paused = await becomes(store, id, { status: 'paused', billing_status: 'current' });
    expect(await invoicesOf(store, id)).toEqual([]);
    const preview = await store.admin.put(`/subscriptions/${id}/resume`, { is_preview: true });
    const resumed = await store.admin.put(`/subscriptions/${id}/resume`, {});
    expect(resumed.body.subscription).toMatchObject({ status: 'active', current_period_end: paused.resumes_at });
    expect(resumed.body.invoice.lines[0].proration).toBe(true);
    expect(resumed.body.invoice.period_end).toBe(preview.body.invoice.period_end);
  });
});

describe('cancelling', () => {
  it('now: credits unused time, and is final', async () => {
    const { id } = await subscribe(store);
    const preview = await store.admin.post(`/subscriptions/${id}/cancel`, { is_preview: true });
    const cancelled = await store.admin.post(`/subscriptions/${id}/cancel`, { cancellation_details: { feedback: 'unused', comment: 'bye' } });
    expect(cancelled.status).toBe(200);
    expect(cancelled.body.subscription).toMatchObject({ status: 'cancelled', billing_status: null, entitled: false, cancellation_details: { feedback: 'unused' } });
    expect(cancelled.body.balance_credit_amount_atom).toBe(preview.body.balance_credit_amount_atom);
    expect([1_199, 1_200]).toContain(cancelled.body.balance_credit_amount_atom);
    expect((await subEvents(store, id)).at(-1)).toBe('canceled');
    for (const [method, path, body] of [['put', 'pause', {}], ['put', 'resume', {}], ['post', 'cancel', {}], ['put', '', { description: 'x' }]] as const) {
      const refused = await store.admin[method](`/subscriptions/${id}${path ? `/${path}` : ''}`, body);
      expect([refused.status, refused.body.code]).toEqual([409, 'invalid_state_transition']);
      expect(refused.body).toMatchObject({ status: 409, subscription_status: 'cancelled', allowed_moves: [] });
    }
  });

  it('uses the credit on the next invoice', async () => {
    const other = await openStore();
    const { id } = await subscribe(other);
    const { body } = await other.admin.delete(`/subscriptions/${id}?prorate=true`);
    const { answer } = await subscribe(other);
    expect(answer.body.invoices[0]).toMatchObject({ applied_balance_amount_atom: body.balance_credit_amount_atom, status: 'paid' });
  });

  it('shows on its customer what was paid, refunded and credited, and whether a subscription is active', async () => {
    const other = await openStore();
    const customer = async () => (await other.admin.get(`/customers/${other.customer}`)).body;
    expect(await customer()).toMatchObject({ status: 'inactive', total_spent: [], total_refunds: [], balance_atoms: [] });
    const [first, second] = [await subscribe(other), await subscribe(other)];
    expect(await customer()).toMatchObject({ status: 'active', total_spent: [{ amount_atom: 2_400, currency: 'eur' }], total_refunds: [] });
    const { body } = await other.admin.post(`/subscriptions/${first.id}/cancel`, {});
    await other.admin.post(`/subscriptions/${second.id}/cancel`, { full_refund: true });
    const after = {
      status: 'cancelled', total_spent: [{ amount_atom: 2_400, currency: 'eur' }], total_refunds: [{ amount_atom: 1_200, currency: 'eur' }],
      balance_atoms: [{ amount_atom: body.balance_credit_amount_atom, currency: 'eur' }],
    };
    expect(await customer()).toMatchObject(after);
    const { body: list } = await other.admin.post('/customers/list', {});
    expect(list.data).toMatchObject([after]);
  });

  it('refunds the current period instead, if asked', async () => {
    const other = await openStore();
    const { id, answer } = await subscribe(other);
    const { body } = await other.admin.post(`/subscriptions/${id}/cancel`, { full_refund: true });
    expect(body).toMatchObject({ balance_credit_amount_atom: 0, refund_amount_atom: 1_200 });
    const invoice = (await other.admin.get(`/invoices/${answer.body.invoices[0].id}`)).body;
    expect(invoice).toMatchObject({ status: 'paid', refunded_amount_atom: 1_200 });
    expect(invoice.refund_ids).toHaveLength(1);
    expect(await takenFor(other, invoice)).toEqual([]);
  });

  it('voids open invoices if asked, by fields in the query of DELETE', async () => {
    const other = await openStore();
    const { id, answer } = await subscribe(other, { payment_method_id: await cardOf(other, '4000000000000341') });
    const { status } = await other.admin.delete(`/subscriptions/${id}?cancel_unpaid_invoices=true&reason=fraud`);
    expect(status).toBe(200);
    expect((await other.admin.get(`/invoices/${answer.body.invoices[0].id}`)).body).toMatchObject({ status: 'void', remaining_amount_atom: 0 });
    expect(await subOf(other, id)).toMatchObject({ status: 'cancelled', cancellation_details: { reason: 'fraud' } });
  });

  it('at the end of a trial takes effect there and is not announced before', async () => {
    const { id } = await subscribe(store, { trial_end: inFuture(4_000), cancel_at_end: true });
    await becomes(store, id, { status: 'cancelled' });
    expect(await subEvents(store, id)).toEqual(['created', 'trialing', 'canceled']);
  });
});

describe('previews', () => {
  it('show what a creation does and leave nothing behind', async () => {
    const wish = await wishFor(store, { starts_at: new Date(Date.now() - 10 * day).toISOString() });
    const key = { key: 'a-preview-leaves-no-record' };
    const preview = await store.admin.post('/subscriptions/', { ...wish, is_preview: true }, key);
    expect(preview.status).toBe(200);
    expect((await store.admin.get(`/subscriptions/${preview.body.created[0].id}`)).status).toBe(404);
    const real = await store.admin.post('/subscriptions/', wish, key);
    expect(real.status).toBe(200);
    const facts = ({ created: [sub], invoices: [invoice] }: typeof preview.body) => ({
      status: sub.status,
      anchor: sub.billing_anchor,
      end: sub.current_period_end,
      proration: invoice.lines[0].proration,
      currency: invoice.currency,
    });
    expect(facts(real.body)).toEqual(facts(preview.body));
    expect(Math.abs(real.body.invoices[0].total_amount_atom - preview.body.invoices[0].total_amount_atom)).toBeLessThanOrEqual(1);
    expect(real.body.invoices[0].total_amount_atom).toBeLessThan(1_200);
  });

  it('of pause, update and cancel change nothing', async () => {
    const { id, sub } = await subscribe(store);
    const events = await subEvents(store, id);
    expect((await store.admin.put(`/subscriptions/${id}/pause`, { is_preview: true })).body).toMatchObject({ status: 'paused' });
    const update = await store.admin.put(`/subscriptions/${id}`, { is_preview: true, cancel_at_end: true, preview_renewal_invoices: true });
    expect(update.body).toMatchObject({ subscriptions: [{ cancel_at_end: true }], renewal_invoices: [] });
    expect((await store.admin.delete(`/subscriptions/${id}?is_preview=true`)).body.subscription.status).toBe('cancelled');
    expect(await subOf(store, id)).toEqual(sub);
    expect(await subEvents(store, id)).toEqual(events);
  });

  it('show the next invoice', async () => {
    const { id, sub } = await subscribe(store);
    const { status, body } = await store.admin.get(`/invoices/preview_next_invoice/${id}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({ status: 'draft', billing_reason: 'upcoming', total_amount_atom: 1_200, period_start: sub.current_period_end, invoice_number: 0 });
    expect(await invoicesOf(store, id)).toHaveLength(1);
  });
});

describe('one command', () => {
  it('takes effect once, however often its key is sent at the same time', async () => {
    const wish = await wishFor(store);
    const answers = await Promise.all(Array.from({ length: 6 }, () => store.admin.post('/subscriptions/', wish, { key: 'same-creation' })));
    const done = answers.filter(({ status }) => status === 200);
    expect(done.length).toBeGreaterThan(0);
    for (const { status } of answers) expect([200, 409]).toContain(status);
    expect(new Set(done.map(({ body }) => body.created[0].id)).size).toBe(1);
    const again = await store.admin.post('/subscriptions/', wish, { key: 'same-creation' });
    expect(again.headers.get('idempotent-replayed')).toBe('true');
    expect(again.text).toBe(done[0]!.text);
    const { body } = await store.admin.post('/subscriptions/list', { price_id: (wish.selected_product_price_quantity as { price_id: string }[])[0]!.price_id });
    expect(body.total_objects).toBe(1);
  });

  it('pauses once among concurrent ones', async () => {
    const { id } = await subscribe(store);
    const answers = await Promise.all(Array.from({ length: 8 }, () => store.admin.put(`/subscriptions/${id}/pause`, {})));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(200));
    expect(await subEvents(store, id)).toEqual(['created', 'activated', 'paused']);
  });
});

describe('send_invoice', () => {
  it('is active when its first invoice is finalised, without a charge', async () => {
    const { sub, answer } = await subscribe(store, { collection_method: 'send_invoice', net_d: 7, payment_method_id: null });
    expect(sub).toMatchObject({ status: 'active', billing_status: 'current', collection_method: 'send_invoice' });
    expect(answer.body.invoices[0]).toMatchObject({ status: 'open', latest_payment_intent_id: null, net_d: 7 });
    const paid = await store.admin.post(`/invoices/${answer.body.invoices[0].id}/pay`, { paid_out_of_band: true });
    expect(paid.body).toMatchObject({ status: 'paid', paid_out_of_band: true });
  });
});

it('sells several prices of one currency and interval on one invoice', async () => {
  const prices = [await priceOf(store), await priceOf(store, { unit_amount_atom: 300 })];
  const { answer } = await subscribe(store, { selected_product_price_quantity: [{ price_id: prices[0], quantity: 1 }, { price_id: prices[1], quantity: 3 }] });
  expect(answer.body.invoices[0]).toMatchObject({ total_amount_atom: 2_100 });
  expect(answer.body.created[0].subscription_items).toHaveLength(2);
});

it('sells an add-on only together with what it goes with', async () => {
  const main = await priceOf(store);
  const addOn = await priceOf(store, { unit_amount_atom: 300, can_only_be_purchased_with: [main] });
  const select = (...ids: string[]) => ({ selected_product_price_quantity: ids.map((price_id) => ({ price_id, quantity: 1 })) });
  const refused = await store.admin.post('/subscriptions/', await wishFor(store, select(addOn)));
  expect([refused.status, refused.body.errors?.[0].loc]).toEqual([422, ['body', 'selected_product_price_quantity', 0, 'price_id']]);
  const { answer } = await subscribe(store, select(main, addOn));
  expect(answer.body.created[0].subscription_items).toHaveLength(2);
});
