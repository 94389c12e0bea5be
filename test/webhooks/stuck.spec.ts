import { webhookEndpointWorkflow, webhookEndpointWorkflowId, webhookQueue } from '../../libs/contracts/webhook-endpoint.contract.js';
import { endStuckWorkflow } from '../../libs/temporal/stuck-workflow.js';
import { freshAccount } from '../support/account.js';
import { untilUndrained } from '../support/drain.js';
import { openEngine, type Engine } from '../support/engine.js';
import { openReceiver, type Receiver } from '../support/receiver.js';
import { eventually } from '../support/stack.js';

let receiver: Receiver;
let engine: Engine;

beforeAll(async () => {
  receiver = await openReceiver();
  engine = await openEngine();
});
afterAll(async () => {
  await receiver?.close();
  await engine?.close();
});

const customersHeard = () => receiver.received.filter(({ event }) => event.type === 'customer.created').length;

describe('an endpoint whose dispatcher fails at each of its tasks', () => {
  it('is given a new one, though each wake makes a new task: what waited is delivered, once', async () => {
    const account = await freshAccount();
    const { id } = (await account.admin.post('/webhook-endpoints/', { url: receiver.url, enabled_events: ['customer.created'] })).body;
    await account.admin.post('/customers/', { email: 'before@example.com' });
    await eventually(() => customersHeard() === 1, { timeoutMs: 60_000 });

    const workflowId = webhookEndpointWorkflowId(id);
    await engine.client.workflow.getHandle(workflowId).terminate('a spec');
    await engine.client.workflow.start('noSuchWorkflow', { workflowId, taskQueue: webhookQueue });
    await untilUndrained(id);
    await account.admin.post('/customers/', { email: 'after@example.com' });
    await eventually(() => customersHeard() === 2, { timeoutMs: 200_000 });
    expect((await engine.client.workflow.getHandle(workflowId).describe()).type).toBe(webhookEndpointWorkflow);
    expect(await endStuckWorkflow(engine.client, workflowId, 3)).toBe(false);
  }, 300_000);
});
