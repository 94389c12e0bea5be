import { condition, continueAsNew, proxyActivities, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import { testClockQueue, wakeTestClock, type TestClockActivities, type TestClockInput } from '../../libs/contracts/test-clock.contract.js';
import { TestClockEntity } from './test-clock.entity.js';

/** Every stretch begins from the rows, so it is tried until they can be read; a dead worker is noticed by the missing heartbeat. */
const { advanceTestClock } = proxyActivities<TestClockActivities>({
  taskQueue: testClockQueue,
  startToCloseTimeout: '5m',
  heartbeatTimeout: '3s',
  retry: { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' },
});

/** Moves one test clock to its target, stretch by stretch, or ends what lived on it when it was deleted. */
export async function testClock(input: TestClockInput): Promise<void> {
  const entity = new TestClockEntity();
  setHandler(wakeTestClock, () => entity.wake());
  await Promise.resolve();

  for (;;) {
    entity.begin();
    entity.settle(await advanceTestClock({ clockId: input.clockId }));
    setCurrentDetails(entity.describe(input.clock));
    if (entity.isOver) return;
    if (workflowInfo().continueAsNewSuggested) await continueAsNew<typeof testClock>(input);
    if (entity.restMs > 0) await condition(() => entity.woken, entity.restMs);
  }
}
