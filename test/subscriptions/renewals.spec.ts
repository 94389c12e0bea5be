import { jest } from '@jest/globals';
import { cardOf, chargesOf } from '../payments/shop.js';
import { freshAccount } from '../support/account.js';
import { eventually, startStack, type PrivateStack } from '../support/stack.js';
import { anchorEndingIn, becomes, invoicesOf, openStore, subEvents, subOf, subscribe, takenFor, type Store } from './store.js';

jest.setTimeout(180_000);

let stack: PrivateStack;
let store: Store;

beforeAll(async () => {
  stack = await startStack({ extra: { SUBSCRIPTION_JITTER_SECONDS: '0' } });
  store = await newStore();
});
afterAll(() => stack.stop());

async function newStore(options: Parameters<typeof openStore>[0] = {}): Promise<Store> {
  const account = await freshAccount({ environment: 'staging', apiUrl: stack.api.url, databaseUrl: stack.databaseUrl, tokenKey: stack.tokenKey });
  return openStore({ account, simulatorUrl: stack.simulator.url, ...options });
}

const daily = { billing_interval: 'day', unit_amount_atom: 86_400 };

/** A daily subscription whose first, prorated period ends in about `seconds`. */
function endingIn(seconds: number, extra: object = {}, at = store) {
  return subscribe(at, { starts_at: anchorEndingIn(seconds), ...extra }, daily);
}

async function renewed(at: Store, id: string) {
  return eventually(async () => {
    const invoices = await invoicesOf(at, id);
    return invoices.length === 2 && invoices[1].status === 'paid' ? invoices : null;
  }, { timeoutMs: 60_000 });
}

describe('a renewal', () => {
  it('is prorated to the second first, then bills each period from the anchor, exactly once', async () => {
    const { id, sub, answer } = await endingIn(5);
    const seconds = Math.floor((Date.parse(sub.current_period_end) - Date.parse(sub.current_period_start)) / 1000);
    expect(answer.body.invoices[0]).toMatchObject({ total_amount_atom: seconds, status: 'paid' });
    expect(answer.body.invoices[0].lines[0].proration).toBe(true);
    const [, second] = await renewed(store, id);
    expect(second).toMatchObject({ billing_reason: 'subscription_cycle', total_amount_atom: 86_400, period_start: sub.current_period_end });
    expect(second.lines[0].proration).toBe(false);
    expect(await takenFor(store, second)).toHaveLength(1);
    const after = await subOf(store, id);
    expect(after).toMatchObject({ status: 'active', billing_status: 'current', current_period_start: sub.current_period_end, billing_anchor: sub.billing_anchor });
    expect(Date.parse(after.current_period_end) - Date.parse(after.current_period_start)).toBe(86_400_000);
  });

  it('that A declines softly and B takes never leaves current', async () => {
    const other = await newStore({ fallback: { on: ['soft_decline'], max_attempts: 2 } });
    const { id } = await endingIn(8, { custom_fields: { simulate: { [other.a]: 'do_not_honor' } } }, other);
    const [, second] = await renewed(other, id);
    const charges = await chargesOf(other, second.latest_payment_intent_id);
    expect(charges.map((charge) => [charge.payment_processor_id, charge.status]).sort()).toEqual([[other.a, 'failed'], [other.b, 'succeeded']].sort());
    expect(await subEvents(other, id)).not.toContain('past_due');
    expect(await takenFor(other, second)).toHaveLength(1);
  });

  it('that fails is past due and in dunning, and a new default method pays it at once', async () => {
    const other = await newStore();
    const failing = await cardOf(other, '4000000000009995');
    await other.admin.put(`/customers/${other.customer}`, { default_payment_method_id: other.card });
    const { id } = await endingIn(8, { payment_method_id: null }, other);
    await other.admin.put(`/customers/${other.customer}`, { default_payment_method_id: failing });
    const dunned = await becomes(other, id, { status: 'active', billing_status: 'past_due', entitled: true });
    expect(Date.parse(dunned.next_payment_attempt_at) - Date.now()).toBeGreaterThan(5.9 * 3_600_000);
    expect((await invoicesOf(other, id))[1]).toMatchObject({ status: 'past_due' });
    await other.admin.put(`/customers/${other.customer}`, { default_payment_method_id: other.card });
    await becomes(other, id, { status: 'active', billing_status: 'current', next_payment_attempt_at: null });
    const [, second] = await invoicesOf(other, id);
    expect(await takenFor(other, second)).toHaveLength(1);
    expect(await subEvents(other, id)).toEqual(expect.arrayContaining(['past_due']));
  });

  it('that fails can be paid by hand', async () => {
    const { id } = await endingIn(8);
    await store.admin.put(`/subscriptions/${id}`, { payment_method_id: await cardOf(store, '4000000000000341') });
    await becomes(store, id, { billing_status: 'past_due' });
    const [, second] = await invoicesOf(store, id);
    const paid = await store.admin.post(`/invoices/${second.id}/pay`, { payment_method_id: store.card });
    expect(paid.body).toMatchObject({ status: 'paid' });
    await becomes(store, id, { status: 'active', billing_status: 'current' });
  });

  it('with an unknown outcome changes neither status until it is known', async () => {
    const { id } = await endingIn(8, { custom_fields: { simulate: 'approved' } });
    await store.admin.put(`/subscriptions/${id}`, { custom_fields: { simulate: 'timeout_after_charge' } });
    const [, second] = await eventually(async () => {
      const invoices = await invoicesOf(store, id);
      return invoices[1]?.latest_payment_intent_id ? invoices : null;
    });
    await eventually(async () => (await chargesOf(store, second.latest_payment_intent_id))[0]?.outcome_class === 'unknown', { timeoutMs: 90_000 });
    expect(await subOf(store, id)).toMatchObject({ status: 'active', billing_status: 'current' });
    expect((await store.admin.post(`/invoices/${second.id}/pay`, {})).body.code).toBe('payment_in_flight');
    await eventually(async () => (await invoicesOf(store, id))[1].status === 'paid', { timeoutMs: 60_000 });
    expect(await takenFor(store, second)).toHaveLength(1);
    expect(await subEvents(store, id)).not.toContain('past_due');
  });

  it('does not come after a cancel at the period\'s end, which then takes effect', async () => {
    const { id } = await endingIn(8);
    await store.admin.put(`/subscriptions/${id}`, { cancel_at_end: true });
    await becomes(store, id, { status: 'cancelled', billing_status: null });
    expect(await invoicesOf(store, id)).toHaveLength(1);
  });

  it('does not come after the agreed number of cycles', async () => {
    const { id, sub } = await endingIn(8, { total_billing_cycles: 1 });
    expect(sub.remaining_billing_cycles).toBe(0);
    await becomes(store, id, { status: 'cancelled' });
    expect(await invoicesOf(store, id)).toHaveLength(1);
  });

  it('waits in a pause for cycles, which begins at the period\'s end', async () => {
    const { id, sub } = await endingIn(8);
    await store.admin.put(`/subscriptions/${id}/pause`, { number_of_billing_cycles_to_skip: 1 });
    const paused = await becomes(store, id, { status: 'paused', billing_status: 'current', pause_at_end: false });
    expect(Date.parse(paused.resumes_at) - Date.parse(sub.current_period_end)).toBe(86_400_000);
    expect(await invoicesOf(store, id)).toHaveLength(1);
  });
});

describe('after a crash during a renewal there is exactly one charge', () => {
  it.each(['worker', 'temporal', 'api'] as const)('kill -9 of %s', async (part) => {
    const subscriptions = await Promise.all(Array.from({ length: 4 }, () => endingIn(6, { custom_fields: { simulate: 'delay_5s' } })));
    const [first] = subscriptions;
    await eventually(async () => (await invoicesOf(store, first!.id))[1]?.latest_payment_intent_id, { timeoutMs: 60_000 });
    await stack[part].kill9();
    await stack[part].restart();
    for (const { id } of subscriptions) {
      const invoices = await renewed(store, id);
      expect(await takenFor(store, invoices[1])).toHaveLength(1);
      await becomes(store, id, { status: 'active', billing_status: 'current' });
    }
  }, 180_000);

  it('and a workflow that is gone is started again from its row', async () => {
    const { id } = await endingIn(8);
    const { Client, Connection } = await import('@temporalio/client');
    const connection = await Connection.connect({ address: stack.temporalAddress });
    try {
      await new Client({ connection, namespace: stack.temporalNamespace }).workflow.getHandle(`subscription/${id}`).terminate('a test');
    } finally {
      await connection.close();
    }
    const paused = await store.admin.put(`/subscriptions/${id}/pause`, {});
    expect(paused.body).toMatchObject({ status: 'paused' });
    await store.admin.put(`/subscriptions/${id}/resume`, {});
    await renewed(store, id);
  });
});
