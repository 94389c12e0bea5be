import { log, patched } from '@temporalio/workflow';
import type { SubscriptionInput } from '../../libs/contracts/subscription.contract.js';
import type { SubscriptionEntity } from './subscription.entity.js';
import { advanceBeside, startPayment } from './subscription.payment.js';
import { apart, payments, steps } from './subscription.proxies.js';
import { accept, acceptSteps, idleStepMs, now, refusedStepMs } from './subscription.steps.js';

/** Steps are taken in one local activity, and a payment with its consequences in one activity; before: an activity each. */
export function stepsAtOnce(): boolean {
  return patched('steps-at-once');
}

export async function move(entity: SubscriptionEntity, input: SubscriptionInput): Promise<void> {
  const { accountId, subscriptionId } = input;
  const stepped = await entity.locked(() => {
    entity.looked();
    const charging = entity.run?.charging?.intentId ?? null;
    return steps.moveSubscription({ accountId, subscriptionId, charging, now: now() }).catch((error: unknown) => {
      log.error('step refused', { subscription_id: input.subscription, reason: String(error) });
      return null;
    });
  });
  if (stepped) await acceptSteps(entity, input, stepped);
  if (!stepped?.acted && entity.dueInMs(Date.now()) === 0) entity.quiet(Date.now() + (stepped ? idleStepMs : refusedStepMs));
}

export async function step(entity: SubscriptionEntity, input: SubscriptionInput): Promise<void> {
  const { accountId, subscriptionId } = input;
  const charging = entity.run?.charging?.intentId;
  const outcome = await entity.locked(() => {
    entity.looked();
    return apart.stepSubscription({ accountId, subscriptionId, now: now() }).catch((error: unknown) => {
      log.error('step refused', { subscription_id: input.subscription, reason: String(error) });
      return null;
    });
  });
  if (outcome) accept(entity, input, outcome.run);
  if (outcome?.acted) entity.look();
  else if (entity.dueInMs(Date.now()) === 0) entity.quiet(Date.now() + (outcome ? idleStepMs : refusedStepMs));
  if (outcome?.run.charging && outcome.run.charging.intentId !== charging) entity.takeBack();
  for (const intentId of outcome?.advance ?? []) await advanceBeside(intentId);
}

/** The loop's own payment: moved once here; what is not final then goes on in a workflow of its own, which tells us. */
export async function charge(entity: SubscriptionEntity, intentId: string): Promise<void> {
  const advanced = await payments.advanceInvoicePayment({ intentId });
  entity.handOver(intentId);
  if (!advanced.final) await startPayment(advanced);
  entity.look();
}
