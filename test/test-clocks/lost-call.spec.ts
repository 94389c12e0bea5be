import { Client, Connection } from '@temporalio/client';
import { prepareTemporal } from '../../apps/cli/src/stack/temporal.js';
import { subscriptionQueue } from '../../libs/contracts/subscription.contract.js';
import { newId } from '../../libs/db/mint.js';
import { publicId } from '../../libs/views/ids.js';
import { advanceSubscriptionOnClock } from '../../libs/temporal/subscription.client.js';
import { shared } from '../support/stack.js';

/** No worker of ours serves it. */
const namespace = 'signalbox-lost-calls';
let connection: Connection;

beforeAll(async () => {
  await prepareTemporal(shared.temporalAddress, [namespace]);
  connection = await Connection.connect({ address: shared.temporalAddress });
}, 60_000);

afterAll(() => connection.close());

/** Answers workflow tasks without a word about the updates in them, as an overloaded worker does; how many updates it was sent. */
async function ignore(isOver: () => boolean): Promise<number> {
  let ignored = 0;
  const { workflowService } = connection;
  while (!isOver()) {
    const task = await connection
      .withDeadline(Date.now() + 3_000, () => workflowService.pollWorkflowTaskQueue({ namespace, taskQueue: { name: subscriptionQueue } }))
      .catch(() => null);
    if (!task?.taskToken?.length) continue;
    ignored += task.messages?.length ?? 0;
    await workflowService.respondWorkflowTaskCompleted({ namespace, taskToken: task.taskToken, commands: [], messages: [] });
  }
  return ignored;
}

it('is made again when the worker loses it, and fails no clock: it is unavailable', async () => {
  const id = newId();
  const start = {
    accountId: newId(), subscriptionId: id, subscription: publicId('sub', 'staging', id), account: 'acct', customer: 'cus', status: 'active', summary: 'Plan',
  };
  let over = false;
  const ignoring = ignore(() => over);
  const client = new Client({ connection, namespace });
  await expect(advanceSubscriptionOnClock(client, start, new Date())).rejects.toMatchObject({ code: 'service_unavailable' });
  over = true;
  expect(await ignoring).toBe(4);
}, 60_000);
