import {
  allHandlersFinished,
  condition,
  continueAsNew,
  getExternalWorkflowHandle,
  log,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  upsertSearchAttributes,
  workflowInfo,
} from '@temporalio/workflow';
import {
  paymentQueue,
  paymentStanding,
  settlePayment,
  wakePayment,
  type PaymentActivities,
  type PaymentWorkflowInput,
} from '../../libs/contracts/payment.contract.js';
import { paymentSettled, subscriptionWorkflowId } from '../../libs/contracts/subscription.contract.js';
import type { AdvanceResult } from '../../libs/domain/payment/advance-result.js';
import { PaymentEntity } from './payment.entity.js';

/** The lease makes every repetition safe, so it is tried until the database answers. */
const retry = { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '5s' } as const;

const short = proxyLocalActivities<PaymentActivities>({ startToCloseTimeout: '60s', retry });
const long = proxyActivities<PaymentActivities>({
  taskQueue: paymentQueue,
  startToCloseTimeout: '10m',
  heartbeatTimeout: '3s',
  retry,
});

/** Drives one payment until nothing is left to do: attempts, lookups, the customer's answer, captures, refunds. */
export async function payment(input: PaymentWorkflowInput): Promise<AdvanceResult> {
  const entity = new PaymentEntity(input.last ?? null);
  setHandler(paymentStanding, () => entity.last);
  setHandler(wakePayment, () => void entity.wake());
  setHandler(settlePayment, (request) => entity.whenAnswered(entity.wake(request)));
  await Promise.resolve();

  for (;;) {
    const result = await advance(entity, input);
    if (entity.finish(result)) upsertSearchAttributes({ SignalboxStatus: [result.status] });
    setCurrentDetails(entity.describe(input.payment));
    if (entity.isFinal && !entity.isWoken) {
      if (input.subscription) await tellSubscription(input, input.subscription);
      await condition(allHandlersFinished);
      if (!entity.isWoken) return result;
    } else if (!entity.isFinal) {
      await rest(entity, input);
    }
  }
}

function advance(entity: PaymentEntity, { intentId, longCalls }: PaymentWorkflowInput): Promise<AdvanceResult> {
  const request = entity.begin();
  return (longCalls ? long : short).advancePayment({ intentId, request, first: entity.last === null });
}

async function rest(entity: PaymentEntity, input: PaymentWorkflowInput): Promise<void> {
  const ms = entity.restMs(Date.now());
  if (workflowInfo().continueAsNewSuggested && !entity.isWoken && allHandlersFinished()) {
    await continueAsNew<typeof payment>({ ...input, last: entity.last });
  }
  if (ms === null) await condition(() => entity.isWoken);
  else await condition(() => entity.isWoken, ms);
}

/** A subscription that is gone does not need to know. */
async function tellSubscription({ intentId }: PaymentWorkflowInput, subscription: string): Promise<void> {
  try {
    await getExternalWorkflowHandle(subscriptionWorkflowId(subscription)).signal(paymentSettled, { intentId });
  } catch (error) {
    log.info('subscription not told', { subscription_id: subscription, reason: String(error) });
  }
}
