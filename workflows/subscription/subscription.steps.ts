import { condition, log, patched, setCurrentDetails, upsertSearchAttributes } from '@temporalio/workflow';
import type { ClockStanding, CommandOutcome, Stepped, SubscriptionInput } from '../../libs/contracts/subscription.contract.js';
import type { SubscriptionEntity } from './subscription.entity.js';
import { advanceBeside, startPayment } from './subscription.payment.js';
import { clocked, payments, steps } from './subscription.proxies.js';

export function accept(entity: SubscriptionEntity, input: SubscriptionInput, run: CommandOutcome['run']): void {
  if (entity.accept(run)) upsertSearchAttributes({ SignalboxStatus: [run.status] });
  setCurrentDetails(entity.describe(input.subscription));
}

export function now(): string {
  return new Date().toISOString();
}

/** Something is due and nothing was done: its time is a moment ahead, or the step was refused and a person may help. */
export const idleStepMs = 1_000;
export const refusedStepMs = 60_000;

/** A row that is read older than it was known was restored, and is what counts; before: it was read again and again. */
function followsTheRow(): boolean {
  return patched('follows-the-row');
}

export async function proceed(entity: SubscriptionEntity, input: SubscriptionInput, intentId: string | null): Promise<void> {
  const { accountId, subscriptionId } = input;
  let known = 0;
  const proceeded = await entity.locked(() => {
    entity.looked();
    known = entity.run?.version ?? 0;
    const charging = entity.run?.charging?.intentId ?? null;
    return steps.proceedSubscription({ accountId, subscriptionId, charging, intentId, now: now() }).catch((error: unknown) => {
      log.error('step refused', { subscription_id: input.subscription, reason: String(error) });
      return null;
    });
  });
  const { stepped = null, payment = null } = proceeded ?? {};
  if (stepped && stepped.run.version < known && followsTheRow()) entity.setBack(stepped.run);
  if (payment && payment.state !== 'slow') entity.handOver(payment.intentId);
  if (payment?.state === 'waiting') await startPayment(payment);
  if (stepped) await acceptSteps(entity, input, stepped);
  else if (payment) entity.look();
  if (payment?.state === 'slow') entity.takesTime(payment.intentId);
  if (!payment && !stepped?.acted && entity.dueInMs(Date.now()) === 0) entity.quiet(Date.now() + (stepped ? idleStepMs : refusedStepMs));
}

export async function acceptSteps(entity: SubscriptionEntity, input: SubscriptionInput, { run, advance, more, begins }: Stepped): Promise<void> {
  if (entity.acceptSettled(run)) upsertSearchAttributes({ SignalboxStatus: [run.status] });
  setCurrentDetails(entity.describe(input.subscription));
  if (more) entity.look();
  if (begins) entity.takeBack();
  for (const intentId of advance) await advanceBeside(intentId);
}

/** The loop's own payment with the steps that its outcome brings about; what is not final goes on in a workflow of its own. */
export async function collect(entity: SubscriptionEntity, input: SubscriptionInput, intentId: string): Promise<void> {
  const { accountId, subscriptionId } = input;
  const { final, start, stepped } = await payments.collectSubscription({ accountId, subscriptionId, intentId, now: now() });
  entity.handOver(intentId);
  if (!final && start) await startPayment({ start });
  if (stepped) await acceptSteps(entity, input, stepped);
  else entity.look();
}

/** Its test clock moves: everything due by `until`, with each payment's outcome. */
export async function advanceOnClock(entity: SubscriptionEntity, input: SubscriptionInput, until: string): Promise<ClockStanding> {
  entity.called = true;
  await condition(() => entity.isLoaded || entity.refused);
  if (entity.isEnded) return 'done';
  const { accountId, subscriptionId } = input;
  return entity.locked(async () => {
    const { run, standing } = await clocked.advanceSubscription({ accountId, subscriptionId, until });
    accept(entity, input, run);
    if (standing !== 'waiting') entity.looked();
    return standing;
  });
}
