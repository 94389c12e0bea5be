import { jest } from '@jest/globals';
import { cardOf } from '../payments/shop.js';
import type { Answer } from '../support/account.js';
import { advanceTo, onClock, type Hall } from '../test-clocks/hall.js';
import { eventually } from '../support/stack.js';
import { invoicesOf, openStore, priceOf, subEvents, subOf, type Store } from './store.js';

jest.setTimeout(180_000);

const day = 86_400_000;
const start = Date.parse('2027-01-10T12:00:00.000Z');
const declining = '4000000000000341';

let store: Store;
beforeAll(async () => {
  store = await openStore({ fallback: { on: ['soft_decline', 'processor_error', 'not_sent'], max_attempts: 3 } });
});

/** A customer on a clock of its own, with another card than the default that works. */
async function standing(card?: string): Promise<Hall> {
  const hall = await onClock(store, new Date(start).toISOString(), { invoice_settings: { email_receipt_on_paid: true } });
  return card ? { ...hall, card: await cardOf(hall, card) } : hall;
}

/** Moves the clock to `ms` after its start. */
const advance = (own: Hall, ms: number) => advanceTo(own, new Date(start + ms).toISOString(), 60_000);

async function begin(own: Hall, extra: object = {}, terms: object = {}): Promise<string> {
  const body = { customer_id: own.customer, selected_product_price_quantity: [{ price_id: await priceOf(own, terms), quantity: 1 }], payment_method_id: own.card, ...extra };
  const answer = await own.admin.post('/subscriptions/', body);
  if (answer.status !== 200) throw new Error(answer.text);
  return answer.body.created[0].id;
}

/** Subscribes with a trial of a day, whose end meets a card that is declined. */
function beginDeclined(own: Hall, extra: object = {}): Promise<string> {
  return begin(own, { trial_period_days: 1, ...extra });
}

const dunningEvents = async (own: Hall, id: string) => (await subEvents(own, id)).filter((type) => type.startsWith('dunning') || type === 'past_due');

describe('dunning by policy', () => {
  it.each([
    ['cancel', { status: 'cancelled', billing_status: null }, 'uncollectible'],
    ['pause', { status: 'paused', billing_status: 'past_due' }, 'past_due'],
    ['leave_unpaid', { status: 'active', billing_status: 'unpaid' }, 'past_due'],
  ])('of a subscription ends with %s', async (final_action, shape, invoice) => {
    const own = await standing(declining);
    const id = await beginDeclined(own, { dunning_policy: { retry_hours: [12, 36], final_action } });
    await advance(own, day + 3_600_000);
    const sub = await subOf(own, id);
    const startedAt = Date.parse(sub.dunning.started_at);
    expect(sub).toMatchObject({ status: 'active', billing_status: 'past_due', entitled: true, dunning: { failures: 1, blocked: null, final_action } });
    expect(Date.parse(sub.dunning.next_attempt_at)).toBe(startedAt + 12 * 3_600_000);
    expect(Date.parse(sub.dunning.ends_at)).toBe(startedAt + 36 * 3_600_000);
    await advance(own, 4 * day);
    expect(await subOf(own, id)).toMatchObject({ ...shape, dunning: null });
    expect((await invoicesOf(own, id))[0].status).toBe(invoice);
    expect(await dunningEvents(own, id)).toEqual(['past_due', 'dunning_started', 'dunning_retry_scheduled', 'dunning_ended']);
  });

  it('leaves drafts of the unpaid time that nobody collects: once it is paid again they are on the attention list, to be paid by hand or voided', async () => {
    const own = await standing(declining);
    const id = await beginDeclined(own, { dunning_policy: { retry_hours: [12], final_action: 'leave_unpaid' } });
    await advance(own, 68 * day);
    const states = async () => (await invoicesOf(own, id)).map(({ status }) => status).sort();
    expect([await states(), (await subOf(own, id)).billing_status]).toEqual([['draft', 'draft', 'past_due'], 'unpaid']);
    const lines = async (status: string) => (await own.admin.get(`/attention?type=drafts_left&status=${status}`)).body.data as Answer['body'][];
    const owed = (await invoicesOf(own, id)).find(({ status }) => status === 'past_due');
    const good = await cardOf(own);
    await own.admin.put(`/subscriptions/${id}`, { payment_method_id: good });
    expect((await own.admin.post(`/invoices/${owed.id}/pay`, {})).body.status).toBe('paid');
    const isCurrent = async () => (await subOf(own, id)).billing_status === 'current';
    await eventually(isCurrent);
    const line = await eventually(async () => (await lines('open'))[0], { timeoutMs: 90_000 });
    expect(line).toMatchObject({ object_id: id, actions: [`GET /invoices?subscription_id=${id}&status=draft`, expect.stringContaining('/finalize'), expect.stringContaining('/void')] });
    const [first, second] = (await own.admin.get(`/invoices?subscription_id=${id}&status=draft`)).body.data;
    expect((await own.admin.post(`/invoices/${first.id}/finalize`)).body).toMatchObject({ status: 'open', latest_payment_intent_id: null });
    expect((await own.admin.post(`/invoices/${first.id}/pay`, {})).body).toMatchObject({ status: 'paid', paid_amount_atom: 1_200 });
    expect((await own.admin.post(`/invoices/${second.id}/void`)).body.status).toBe('void');
    await eventually(async () => (await lines('resolved')).some((each) => each.id === line.id), { timeoutMs: 90_000 });
    await advance(own, 95 * day);
    expect([await states(), await isCurrent()]).toEqual([['paid', 'paid', 'paid', 'void'], true]);
  });

  it('is the account\'s where the subscription has none; a run keeps what it began with; only an ADMIN sets it', async () => {
    const own = await standing(declining);
    expect((await own.admin.put('/account', { dunning_policy: { retry_hours: [48] } })).body.dunning_policy)
      .toEqual({ retry_hours: [48], ends_after_hours: null, final_action: 'cancel', reminder_hours: [-72, 24, 168] });
    const id = await beginDeclined(own);
    await advance(own, day + 3_600_000);
    await own.admin.put('/account', { dunning_policy: null });
    expect((await own.operator.put(`/subscriptions/${id}`, { dunning_policy: { retry_hours: [1] } })).status).toBe(403);
    expect((await own.admin.put(`/subscriptions/${id}`, { dunning_policy: { retry_hours: [5, 4] } })).body.errors[0].loc).toEqual(['body', 'dunning_policy', 'retry_hours']);
    const changed = await own.admin.put(`/subscriptions/${id}`, { dunning_policy: { retry_hours: [1], final_action: 'pause' } });
    expect(changed.body.subscriptions[0]).toMatchObject({ dunning_policy: { retry_hours: [1] }, dunning: { final_action: 'cancel' } });
    await advance(own, 2 * day);
    expect(await subOf(own, id)).toMatchObject({ billing_status: 'past_due', dunning: { failures: 1 } });
    await advance(own, 4 * day);
    expect((await subOf(own, id)).status).toBe('cancelled');
  });

  it('waits at a hard decline for another method, which pays at once', async () => {
    const own = await standing();
    const id = await begin(own);
    await own.admin.put(`/subscriptions/${id}`, { custom_fields: { simulate: 'stolen_card' } });
    await advance(own, 33 * day);
    expect(await subOf(own, id)).toMatchObject({ billing_status: 'past_due', dunning: { blocked: 'hard_decline', failures: 1, next_attempt_at: null } });
    await advance(own, 40 * day);
    expect((await subOf(own, id)).dunning.failures).toBe(1);
    await own.admin.put(`/subscriptions/${id}`, { custom_fields: null });
    const refused = (await invoicesOf(own, id)).find(({ status }: Answer['body']) => status === 'past_due');
    expect((await own.admin.put(`/payment-intents/${refused.latest_payment_intent_id}`, { custom_fields: null })).status).toBeLessThan(300);
    await own.admin.put(`/subscriptions/${id}`, { payment_method_id: await cardOf(own) });
    await advance(own, 40 * day + 60_000);
    expect(await subOf(own, id)).toMatchObject({ status: 'active', billing_status: 'current', dunning: null });
    expect(await dunningEvents(own, id)).toEqual(['past_due', 'dunning_started', 'dunning_retry_scheduled', 'dunning_recovered']);
  });

  it('does not begin where another processor takes the renewal', async () => {
    const own = await standing();
    const id = await begin(own, { custom_fields: { simulate: { [own.a]: 'do_not_honor' } } });
    await advance(own, 32 * day);
    expect(await subOf(own, id)).toMatchObject({ status: 'active', billing_status: 'current', dunning: null });
    const invoices = await invoicesOf(own, id);
    expect(invoices.map(({ status }: Answer['body']) => status)).toEqual(['paid', 'paid']);
    for (const invoice of invoices) {
      const { body } = await own.admin.get(`/payment-intents/${invoice.latest_payment_intent_id}/decisions`);
      expect(body.map((step: Answer['body']) => [step.processor_id, step.outcome_class])).toEqual([[own.a, 'soft_decline'], [own.b, 'approved']]);
    }
    expect(await dunningEvents(own, id)).toEqual([]);
  });
});

describe('a first payment that is not made', () => {
  const mailsOf = async (own: Hall) => (await own.admin.get(`/emails?customer_id=${own.customer}`)).body.data.map(({ kind }: Answer['body']) => kind);

  it('is mailed to the customer when the retry fails, not in place of the answer to the creation', async () => {
    const own = await standing(declining);
    const id = await begin(own);
    expect([(await subOf(own, id)).billing_status, await mailsOf(own)]).toEqual(['incomplete', []]);
    await advance(own, 6 * 3_600_000 + 60_000);
    expect([(await subOf(own, id)).billing_status, await mailsOf(own)]).toEqual(['incomplete', ['payment_failed']]);
    await advance(own, day);
    expect([(await subOf(own, id)).status, await mailsOf(own)]).toEqual(['cancelled', ['payment_failed']]);
  });

  it('is mailed each time where the start was put off', async () => {
    const own = await standing(declining);
    const id = await begin(own, { starts_at: new Date(start + day).toISOString() });
    await advance(own, day + 60_000);
    expect([(await subOf(own, id)).billing_status, await mailsOf(own)]).toEqual(['incomplete', ['payment_failed']]);
    await advance(own, 2 * day);
    expect([(await subOf(own, id)).status, await mailsOf(own)]).toEqual(['cancelled', ['payment_failed', 'payment_failed']]);
  });
});

describe('what is told before money is due', () => {
  it('announces each renewal once, three days before, with the invoice as it will be, and mails nobody on a clock', async () => {
    const own = await standing();
    const id = await begin(own);
    await advance(own, 61 * day);
    const { body } = await own.admin.post('/events/search', { object_id: id, types: ['invoice.upcoming'] });
    const told = body.data.filter(({ type }: Answer['body']) => type === 'invoice.upcoming').sort((a: Answer['body'], b: Answer['body']) => a.sequence - b.sequence);
    expect(told.map(({ clock_time }: Answer['body']) => clock_time)).toEqual(['2027-02-07T12:00:00.000Z', '2027-03-07T12:00:00.000Z']);
    expect(told[0].data).toMatchObject({
      id: '', object: 'invoice', status: 'draft', billing_reason: 'upcoming', subscription_id: id, total_amount_atom: 1_200, period_start: '2027-02-10T12:00:00.000Z',
    });
    const emails = (await own.admin.get(`/emails?customer_id=${own.customer}`)).body.data;
    expect(emails.map(({ kind, status }: Answer['body']) => [kind, status])).toEqual([['receipt', 'not_sent'], ['receipt', 'not_sent'], ['receipt', 'not_sent']]);
    expect(emails[0].reason).toMatch(/^test_clock/);
  });

  it('reminds of an invoice before and after it is due, then does what the policy says', async () => {
    const own = await standing();
    const id = await begin(own, { collection_method: 'send_invoice', net_d: 10, payment_method_id: null, dunning_policy: { reminder_hours: [-48, 24], ends_after_hours: 72, final_action: 'leave_unpaid' } });
    await advance(own, 9 * day);
    const [invoice] = await invoicesOf(own, id);
    expect(invoice).toMatchObject({ status: 'open', reminder_sent_at: '2027-01-18T12:00:00.000Z' });
    await advance(own, 12 * day);
    expect((await invoicesOf(own, id))[0]).toMatchObject({ status: 'past_due', reminder_sent_at: '2027-01-21T12:00:00.000Z' });
    expect(await subOf(own, id)).toMatchObject({ billing_status: 'past_due', dunning: { blocked: 'send_invoice', final_action: 'leave_unpaid' } });
    await advance(own, 14 * day);
    expect(await subOf(own, id)).toMatchObject({ status: 'active', billing_status: 'unpaid' });
    expect((await subEvents(own, invoice.id)).filter((type) => type === 'invoice.reminder')).toHaveLength(2);
    expect((await own.admin.get(`/emails?customer_id=${own.customer}&kind=reminder`)).body.data).toHaveLength(2);
  });
});
