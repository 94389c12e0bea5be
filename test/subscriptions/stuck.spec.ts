import { subscriptionQueue, subscriptionWorkflow, subscriptionWorkflowId } from '../../libs/contracts/subscription.contract.js';
import { openEngine, type Engine } from '../support/engine.js';
import { eventually } from '../support/stack.js';
import { advanceTo, onClock } from '../test-clocks/hall.js';
import { becomes, invoicesOf, openStore, subscribe, takenFor, type Store } from './store.js';

let store: Store;
let engine: Engine;

beforeAll(async () => {
  engine = await openEngine();
  store = await openStore();
});
afterAll(() => engine?.close());

/** A run under the subscription's id whose task fails each time, as one does whose history cannot be replayed. */
async function breakWorkflow(id: string): Promise<void> {
  const workflowId = subscriptionWorkflowId(id);
  await engine.client.workflow.getHandle(workflowId).terminate('a spec');
  await engine.client.workflow.start('noSuchWorkflow', { workflowId, taskQueue: subscriptionQueue });
}

const typeOf = async (id: string) => (await engine.client.workflow.getHandle(subscriptionWorkflowId(id)).describe()).type;

describe('a subscription whose workflow fails at each of its tasks', () => {
  it('takes a command though nothing is due for long: the call that finds it so begins it anew', async () => {
    const { id } = await subscribe(store, { trial_period_days: 300 });
    await breakWorkflow(id);
    await eventually(async () => (await store.admin.post(`/subscriptions/${id}/cancel`, {})).status === 200, { timeoutMs: 120_000 });
    await becomes(store, id, { status: 'cancelled' });
  }, 240_000);

  it('moves with its test clock, and is charged once', async () => {
    const hall = await onClock(store, '2030-01-01T00:00:00Z');
    const { id } = await subscribe(hall, { trial_end: '2030-01-10T00:00:00Z' });
    await breakWorkflow(id);
    await advanceTo(hall, '2030-01-20T00:00:00Z', 150_000);
    await becomes(store, id, { status: 'active', billing_status: 'current' });
    const [invoice] = (await invoicesOf(store, id)).filter(({ total_amount_atom }) => total_amount_atom > 0);
    expect(await takenFor(store, invoice)).toHaveLength(1);
    expect(await typeOf(id)).toBe(subscriptionWorkflow);
  }, 240_000);
});
