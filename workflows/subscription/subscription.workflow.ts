import type { UpdateDefinition } from '@temporalio/common';
import { allHandlersFinished, condition, continueAsNew, log, patched, setCurrentDetails, setHandler, workflowInfo } from '@temporalio/workflow';
import { fromFailure, toFailure } from '../../libs/contracts/domain-failure.js';
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
  type Advancing,
  type CommandArgs,
  type CommandOutcome,
  type CreateSubscriptionArgs,
  type SubscriptionCommand,
  type SubscriptionInput,
} from '../../libs/contracts/subscription.contract.js';
import { mayMove, refusedMove, type Move } from '../../libs/domain/subscription/subscription.machine.js';
import { SubscriptionEntity } from './subscription.entity.js';
import { charge, move, step, stepsAtOnce } from './subscription.former.js';
import { advanceBeside } from './subscription.payment.js';
import { inTask, paysAtOnce, rows } from './subscription.proxies.js';
import { accept, advanceOnClock, collect, now, proceed } from './subscription.steps.js';

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

function look(entity: SubscriptionEntity, input: SubscriptionInput): Promise<void> {
  if (paysAtOnce()) return proceed(entity, input, null);
  return stepsAtOnce() ? move(entity, input) : step(entity, input);
}

function moveCharge(entity: SubscriptionEntity, input: SubscriptionInput, intentId: string): Promise<void> {
  if (paysAtOnce()) return entity.isSlow(intentId) ? collect(entity, input, intentId) : proceed(entity, input, intentId);
  return stepsAtOnce() ? collect(entity, input, intentId) : charge(entity, intentId);
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

/** Only refusals leave a handler as they are; anything else was already retried. */
function refusalOf(error: unknown): unknown {
  const refusal = fromFailure(error);
  return refusal ? toFailure(refusal) : error;
}
