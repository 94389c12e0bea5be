import { paymentQueue, paymentWorkflow } from '../../libs/contracts/payment.contract.js';
import { subscriptionQueue, subscriptionWorkflow, subscriptionWorkflowId } from '../../libs/contracts/subscription.contract.js';
import { endSilentWorkflow } from '../../libs/temporal/stuck-workflow.js';
import { parsePublicId, publicId } from '../../libs/views/ids.js';
import { cardOf } from '../payments/shop.js';
import { openEngine, type Engine } from '../support/engine.js';
import { eventually } from '../support/stack.js';
import { becomes, invoicesOf, openStore, subscribe, takenFor, type Store } from './store.js';

let store: Store;
let engine: Engine;

beforeAll(async () => {
  engine = await openEngine();
  store = await openStore();
});
afterAll(() => engine?.close());

/** A workflow under the subscription's id that is alive, takes every call and does nothing of what is due. */
async function deafen(workflowId: string): Promise<void> {
  const held = await store.admin.post('/payment-intents/', {
    amount_atom: 800, currency: 'eur', customer_id: store.customer, payment_method_id: await cardOf(store), confirm: true, capture_method: 'manual',
  });
  const { id: payment, status } = held.body;
  expect(status).toBe('requires_capture');
  const input = {
    intentId: parsePublicId('pi', 'staging', payment)!, payment, account: publicId('acct', 'staging', store.id), customer: store.customer, subscription: null, longCalls: false, summary: 'deaf',
  };
  await engine.client.workflow.getHandle(workflowId).terminate('a spec');
  await engine.client.workflow.start(paymentWorkflow, { workflowId, taskQueue: paymentQueue, args: [input] });
}

/** A workflow whose creating call the engine has lost, after the row was written. */
async function loseCreation({ id, customer }: { id: string; customer: string }): Promise<string> {
  const workflowId = subscriptionWorkflowId(id);
  const input = { subscriptionId: parsePublicId('sub', 'staging', id)!, accountId: store.id, subscription: id, customer, account: publicId('acct', 'staging', store.id), creates: true };
  await engine.client.workflow.getHandle(workflowId).terminate('a spec');
  const { firstExecutionRunId } = await engine.client.workflow.start(subscriptionWorkflow, { workflowId, taskQueue: subscriptionQueue, args: [input] });
  return firstExecutionRunId;
}

const chargedOnce = async (id: string) => {
  const [invoice] = (await invoicesOf(store, id)).filter(({ total_amount_atom }) => total_amount_atom > 0);
  expect(await takenFor(store, invoice)).toHaveLength(1);
};

describe('a subscription whose workflow does not know that it was created', () => {
  it('finds the row once it is due, in the same run, and is charged once', async () => {
    const { id } = await subscribe(store, { trial_end: new Date(Date.now() + 8_000).toISOString() });
    const runId = await loseCreation({ id, customer: store.customer });
    await becomes(store, id, { status: 'active', billing_status: 'current' }, 150_000);
    await chargedOnce(id);
    expect((await engine.client.workflow.getHandle(subscriptionWorkflowId(id)).describe()).runId).toBe(runId);
  }, 240_000);

  it('takes a command', async () => {
    const { id } = await subscribe(store, { trial_period_days: 5 });
    await loseCreation({ id, customer: store.customer });
    const cancelled = await store.admin.post(`/subscriptions/${id}/cancel`, {});
    expect([cancelled.status, cancelled.text.includes('cancelled')]).toEqual([200, true]);
  }, 240_000);

  it('moves with its test clock', async () => {
    const clock = (await store.admin.post('/test-clocks/', { frozen_time: '2030-01-01T00:00:00Z' })).body.id;
    const customer = (await store.admin.post('/customers/', { email: 'lost@example.com', test_clock_id: clock })).body.id;
    const card = await cardOf({ ...store, customer });
    const { id } = await subscribe(store, { customer_id: customer, payment_method_id: card, trial_end: '2030-01-10T00:00:00Z' });
    await loseCreation({ id, customer });
    await store.admin.post(`/test-clocks/${clock}/advance`, { frozen_time: '2030-01-20T00:00:00Z' });
    await eventually(async () => (await store.admin.get(`/test-clocks/${clock}`)).body.status === 'ready', { timeoutMs: 150_000 });
    await becomes(store, id, { status: 'active', billing_status: 'current' });
  }, 240_000);
});

describe('a subscription whose workflow is alive and does nothing', () => {
  it('is taken from it once it was woken in vain, and renews: charged once', async () => {
    const { id } = await subscribe(store, { trial_end: new Date(Date.now() + 8_000).toISOString() });
    const workflowId = subscriptionWorkflowId(id);
    await deafen(workflowId);
    await becomes(store, id, { status: 'active', billing_status: 'current' }, 150_000);
    await chargedOnce(id);
    expect((await engine.client.workflow.getHandle(workflowId).describe()).type).toBe('subscription');
  }, 240_000);

  it('is told from one that waits for a worker, or is gone', async () => {
    const waits = await engine.client.workflow.start('subscription', { workflowId: `subscription/waits-${Date.now()}`, taskQueue: 'a-queue-that-nobody-serves' });
    expect(await endSilentWorkflow(engine.client, waits.workflowId)).toBe(false);
    await waits.terminate('a spec');
    expect(await endSilentWorkflow(engine.client, waits.workflowId)).toBe(false);
    expect(await endSilentWorkflow(engine.client, 'subscription/gone')).toBe(false);
  });
});
