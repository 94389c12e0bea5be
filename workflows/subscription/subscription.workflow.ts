import { WorkflowExecutionAlreadyStartedError, type UpdateDefinition } from '@temporalio/common';
import {
  allHandlersFinished,
  condition,
  continueAsNew,
  log,
  ParentClosePolicy,
  patched,
  proxyActivities,
  proxyLocalActivities,
  setCurrentDetails,
  setHandler,
  startChild,
  upsertSearchAttributes,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import { fromFailure, toFailure } from '../../libs/contracts/domain-failure.js';
import { paymentQueue, paymentTaskTimeout, paymentWorkflow, paymentWorkflowId } from '../../libs/contracts/payment.contract.js';
import {
  advanceSubscription,
  cancelSubscription,
  changeSubscriptionItems,
  createSubscription,
  endSubscriptionTrial,
  pauseSubscription,
  paymentSettled,
  resumeSubscription,
  subscriptionRun,
  updateSubscription,
  wakeSubscription,
  type AdvancedPayment,
  type Advancing,
  type ClockStanding,
  type CommandArgs,
  type CommandOutcome,
  type CreateSubscriptionArgs,
  type SubscriptionActivities,
  type SubscriptionClockActivities,
  type SubscriptionCommand,
  type SubscriptionInput,
  type Stepped,
  type SubscriptionPaymentActivities,
  type SubscriptionStepActivities,
} from '../../libs/contracts/subscription.contract.js';
import { mayMove, refusedMove, type Move } from '../../libs/domain/subscription/subscription.machine.js';
import { SubscriptionEntity } from './subscription.entity.js';

/** Every step finds out by itself whether it already ran, so it is tried until the database answers. */
const retry = { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' } as const;

const apart = proxyActivities<SubscriptionActivities>({ startToCloseTimeout: '30s', retry });
/** A step that fails again and again waits by a timer, so that it does not keep others from the worker. */
const short = { startToCloseTimeout: '30s', retry, localRetryThreshold: '1s' } as const;
const inTask = proxyLocalActivities<SubscriptionActivities>(short);
const steps = proxyLocalActivities<SubscriptionStepActivities>(short);
/** A processor call ends by its own limits; a dead worker is noticed by the missing heartbeat. */
const payments = proxyActivities<SubscriptionPaymentActivities>({ startToCloseTimeout: '10m', heartbeatTimeout: '3s', retry });

/** Ends by its own budget; what cannot be done at all ends the advance, and is told on the clock. */
const clocked = proxyActivities<SubscriptionClockActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '3s',
  retry: { ...retry, maximumInterval: '5s', maximumAttempts: 20 },
});

/** Something is due and nothing was done: its time is a moment ahead, or the step was refused and a person may help. */
const idleStepMs = 1_000;
const refusedStepMs = 60_000;

/** What each command may be in the table; it is refused before anything is recorded where none fits. */
const commandMoves: Record<string, Move[]> = {
  pauseSubscription: ['pause', 'pause_at_end', 'pause_again'],
  resumeSubscription: ['resume'],
  cancelSubscription: ['cancel'],
  updateSubscription: ['update'],
  changeSubscriptionItems: ['change_items'],
  endSubscriptionTrial: ['end_trial'],
};

/** One subscription from its creation to its cancellation; the only writer of its row. */
export async function subscription(input: SubscriptionInput): Promise<void> {
  const entity = new SubscriptionEntity(input.run ?? null);
  setHandlers(entity, input);
  await Promise.resolve();
  if (!entity.isLoaded && !input.creates) accept(entity, input, await rows().loadSubscription(input));
  await created(entity, input);

  for (;;) {
    setCurrentDetails(entity.describe(input.subscription));
    if (entity.isEnded) {
      await condition(allHandlersFinished);
      return;
    }
    if (entity.mustLook(Date.now())) await look(entity, input);
    else if (entity.chargeToAdvance) await moveCharge(entity, input, entity.chargeToAdvance);
    else await rest(entity, input);
  }
}

/** The row is there, or refused. The engine may have lost the call that wrote it: whoever calls next lets the row be read. */
async function created(entity: SubscriptionEntity, input: SubscriptionInput): Promise<void> {
  const isKnown = () => entity.isLoaded || entity.refused;
  await condition(() => isKnown() || entity.called);
  if (!isKnown() && !patched('reads-when-called')) return condition(isKnown);
  while (!isKnown()) {
    await entity.locked(() => readIfThere(entity, input));
    await condition(() => isKnown() || entity.called);
  }
}

async function readIfThere(entity: SubscriptionEntity, input: SubscriptionInput): Promise<void> {
  entity.called = false;
  if (entity.isLoaded || entity.refused) return;
  try {
    accept(entity, input, await inTask.loadSubscription(input));
  } catch (error) {
    if (!fromFailure(error)) throw error;
  }
}

function setHandlers(entity: SubscriptionEntity, input: SubscriptionInput): void {
  setHandler(subscriptionRun, () => entity.run);
  setHandler(wakeSubscription, () => {
    entity.called = true;
    entity.takeBack();
    entity.look();
  });
  setHandler(paymentSettled, () => entity.look());
  setHandler(advanceSubscription, ({ until }) => advanceOnClock(entity, input, until));
  setHandler(createSubscription, (args) => create(entity, input, args));
  handleCommand(entity, input, pauseSubscription);
  handleCommand(entity, input, resumeSubscription);
  handleCommand(entity, input, cancelSubscription);
  handleCommand(entity, input, updateSubscription);
  handleCommand(entity, input, changeSubscriptionItems);
  handleCommand(entity, input, endSubscriptionTrial);
}

function handleCommand<T extends SubscriptionCommand['type']>(
  entity: SubscriptionEntity,
  input: SubscriptionInput,
  definition: UpdateDefinition<CommandOutcome, [CommandArgs<T>]>,
): void {
  const moves = commandMoves[definition.name]!;
  const handler = (args: CommandArgs<T>) => command(entity, input, { args: args as unknown as CommandArgs, moves });
  setHandler(definition, handler, {
    // The row is not loaded yet: the handler waits for it and asks again.
    validator: (_args: CommandArgs<T>) => assertAllowed(entity, moves),
  });
}

function assertAllowed({ run }: SubscriptionEntity, moves: Move[]): void {
  if (run && !moves.some((move) => mayMove(run, move))) throw toFailure(refusedMove(run, moves[0]!));
}

async function create(entity: SubscriptionEntity, input: SubscriptionInput, { change, subscription: wanted, waitMs }: CreateSubscriptionArgs): Promise<CommandOutcome> {
  try {
    const outcome = await entity.locked(() => rows().createSubscription({ change, subscription: wanted, now: now() }));
    return await finish(entity, input, { outcome, waitMs });
  } catch (error) {
    if (!entity.isLoaded) entity.refused = true;
    throw refusalOf(error);
  }
}

async function command(entity: SubscriptionEntity, input: SubscriptionInput, { args, moves }: { args: CommandArgs; moves: Move[] }): Promise<CommandOutcome> {
  entity.called = true;
  await condition(() => entity.isLoaded || entity.refused);
  try {
    const { change } = args;
    const outcome = await entity.locked(() =>
      rows().changeSubscription({ change, subscriptionId: input.subscriptionId, command: args.command, now: now() }));
    return await finish(entity, input, { outcome, waitMs: args.waitMs });
  } catch (error) {
    if (!fromFailure(error)) log.warn('command failed', { subscription_id: input.subscription, command: moves[0] });
    throw refusalOf(error);
  }
}

/** The fact is committed; where the caller waits for money, so long as the wait allows. */
async function finish(
  entity: SubscriptionEntity,
  input: SubscriptionInput,
  { outcome: { advance, ...outcome }, waitMs }: { outcome: CommandOutcome & Advancing; waitMs: number },
): Promise<CommandOutcome> {
  accept(entity, input, outcome.run);
  for (const intentId of advance) await advanceBeside(intentId);
  if (outcome.settled || waitMs <= 0) return outcome;
  const settled = await condition(() => entity.isAtRest(Date.now()), waitMs);
  return { ...outcome, settled, run: entity.run! };
}

function accept(entity: SubscriptionEntity, input: SubscriptionInput, run: CommandOutcome['run']): void {
  if (entity.accept(run)) upsertSearchAttributes({ SignalboxStatus: [run.status] });
  setCurrentDetails(entity.describe(input.subscription));
}

function rows(): SubscriptionActivities {
  return paysAtOnce() ? inTask : apart;
}

/** Steps and the payment that they begin are one local activity, and so is each command; before: activities of their own. */
function paysAtOnce(): boolean {
  return patched('pays-at-once');
}

/** Steps are taken in one local activity, and a payment with its consequences in one activity; before: an activity each. */
function stepsAtOnce(): boolean {
  return patched('steps-at-once');
}

function look(entity: SubscriptionEntity, input: SubscriptionInput): Promise<void> {
  if (paysAtOnce()) return proceed(entity, input, null);
  return stepsAtOnce() ? move(entity, input) : step(entity, input);
}

function moveCharge(entity: SubscriptionEntity, input: SubscriptionInput, intentId: string): Promise<void> {
  if (paysAtOnce()) return entity.isSlow(intentId) ? collect(entity, input, intentId) : proceed(entity, input, intentId);
  return stepsAtOnce() ? collect(entity, input, intentId) : charge(entity, intentId);
}

/** A row that is read older than it was known was restored, and is what counts; before: it was read again and again. */
function followsTheRow(): boolean {
  return patched('follows-the-row');
}

async function proceed(entity: SubscriptionEntity, input: SubscriptionInput, intentId: string | null): Promise<void> {
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

async function move(entity: SubscriptionEntity, input: SubscriptionInput): Promise<void> {
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

async function acceptSteps(entity: SubscriptionEntity, input: SubscriptionInput, { run, advance, more, begins }: Stepped): Promise<void> {
  if (entity.acceptSettled(run)) upsertSearchAttributes({ SignalboxStatus: [run.status] });
  setCurrentDetails(entity.describe(input.subscription));
  if (more) entity.look();
  if (begins) entity.takeBack();
  for (const intentId of advance) await advanceBeside(intentId);
}

/** The loop's own payment with the steps that its outcome brings about; what is not final goes on in a workflow of its own. */
async function collect(entity: SubscriptionEntity, input: SubscriptionInput, intentId: string): Promise<void> {
  const { accountId, subscriptionId } = input;
  const { final, start, stepped } = await payments.collectSubscription({ accountId, subscriptionId, intentId, now: now() });
  entity.handOver(intentId);
  if (!final && start) await startPayment({ start });
  if (stepped) await acceptSteps(entity, input, stepped);
  else entity.look();
}

async function step(entity: SubscriptionEntity, input: SubscriptionInput): Promise<void> {
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

/** Its test clock moves: everything due by `until`, with each payment's outcome. */
async function advanceOnClock(entity: SubscriptionEntity, input: SubscriptionInput, until: string): Promise<ClockStanding> {
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

/** The loop's own payment: moved once here; what is not final then goes on in a workflow of its own, which tells us. */
async function charge(entity: SubscriptionEntity, intentId: string): Promise<void> {
  const advanced = await payments.advanceInvoicePayment({ intentId });
  entity.handOver(intentId);
  if (!advanced.final) await startPayment(advanced);
  entity.look();
}

async function advanceBeside(intentId: string): Promise<void> {
  const advanced = await payments.advanceInvoicePayment({ intentId });
  if (!advanced.final) await startPayment(advanced);
}

async function startPayment({ start: { summary, ...input } }: Pick<AdvancedPayment, 'start'>): Promise<void> {
  try {
    await startChild(paymentWorkflow, {
      workflowId: paymentWorkflowId(input.payment),
      taskQueue: paymentQueue,
      workflowTaskTimeout: paymentTaskTimeout,
      workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
      parentClosePolicy: ParentClosePolicy.ABANDON,
      args: [input],
      staticSummary: summary,
      searchAttributes: {
        SignalboxStatus: ['processing'],
        SignalboxAccount: [input.account],
        ...(input.customer ? { SignalboxCustomer: [input.customer] } : {}),
      },
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

/** One timer at a time: until the row's next due time, or until somebody calls. */
async function rest(entity: SubscriptionEntity, input: SubscriptionInput): Promise<void> {
  if (workflowInfo().continueAsNewSuggested && allHandlersFinished()) {
    await continueAsNew<typeof subscription>({ ...input, creates: false, run: entity.run! });
  }
  const called = () => entity.mustLook(Date.now()) || entity.chargeToAdvance !== null || entity.isEnded;
  const version = entity.run!.version;
  const ms = entity.dueInMs(Date.now());
  if (ms === null) await condition(called);
  else await condition(() => called() || entity.run!.version !== version, Math.max(1, ms));
}

function now(): string {
  return new Date().toISOString();
}

/** Only refusals leave a handler as they are; anything else was already retried. */
function refusalOf(error: unknown): unknown {
  const refusal = fromFailure(error);
  return refusal ? toFailure(refusal) : error;
}
