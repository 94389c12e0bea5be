import {
  WithStartWorkflowOperation,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
  type Client,
  type WorkflowStartOptions,
} from '@temporalio/client';
import type { UpdateDefinition } from '@temporalio/common';
import { fromFailure } from '../contracts/domain-failure.js';
import {
  advanceSubscription,
  cancelSubscription,
  changeSubscriptionItems,
  createSubscription,
  endSubscriptionTrial,
  pauseSubscription,
  resumeSubscription,
  subscriptionQueue,
  subscriptionTaskTimeout,
  subscriptionWorkflow,
  subscriptionWorkflowId,
  updateSubscription,
  wakeSubscription,
  type ClockStanding,
  type CommandArgs,
  type CommandOutcome,
  type CreateSubscriptionArgs,
  type SubscriptionCommand,
  type SubscriptionInput,
} from '../contracts/subscription.contract.js';
import { DomainError } from '../errors/domain-error.js';
import { isTemporalOutage } from './connection.js';
import { endStuckWorkflow } from './stuck-workflow.js';
import { oneRun, searchable, untilAnswered } from './workflow-options.js';

/** How long a caller waits for a command's answer. */
export const commandDeadlineMs = 9_500;
/** How long inside of it the workflow waits for a payment. */
export const paymentWaitMs = 9_000;
const signalDeadlineMs = 3_000;
const failuresOfStuck = 3;

const definitions = {
  pause: pauseSubscription,
  resume: resumeSubscription,
  cancel: cancelSubscription,
  update: updateSubscription,
  changeItems: changeSubscriptionItems,
  endTrial: endSubscriptionTrial,
} as unknown as Record<SubscriptionCommand['type'], UpdateDefinition<CommandOutcome, [CommandArgs]>>;

export interface SubscriptionStart extends Omit<SubscriptionInput, 'creates' | 'run'> {
  /** What the workflow shows at first. */
  status: string;
  /** For people, for example `Basic plan, 12.00 eur`. */
  summary: string;
}

function optionsOf({ status: shown, summary, ...input }: SubscriptionStart, creates: boolean) {
  return {
    workflowId: subscriptionWorkflowId(input.subscription),
    taskQueue: subscriptionQueue,
    workflowTaskTimeout: subscriptionTaskTimeout,
    ...oneRun,
    args: [{ ...input, creates }] as [SubscriptionInput],
    staticSummary: summary,
    typedSearchAttributes: searchable({ ...input, status: shown }),
  } satisfies WorkflowStartOptions;
}

/** Starts the workflow with its creating update. Null: not answered within the deadline; it goes on. */
export function startSubscription(client: Client, start: SubscriptionStart, args: CreateSubscriptionArgs): Promise<CommandOutcome | null> {
  return update(client, { start, creates: true, definition: createSubscription, args, updateId: args.change.commandId });
}

/**
 * Asks the subscription's workflow, which is started again from its row where it is missing. Null: not answered within the
 * deadline; the same command asked again gets the same answer.
 * @throws DomainError what the workflow refused, or 503 `service_unavailable`.
 */
export function commandSubscription(client: Client, start: SubscriptionStart, args: CommandArgs): Promise<CommandOutcome | null> {
  return update(client, { start, creates: false, definition: definitions[args.command.type], args, updateId: args.change.commandId });
}

/** Lets a subscription do what is due by `until` on its test clock. Null: it is still at it. @throws DomainError why it cannot, or 503 */
export async function advanceSubscriptionOnClock(client: Client, start: SubscriptionStart, until: Date): Promise<ClockStanding | null> {
  try {
    return await update(client, { start, creates: false, definition: advanceSubscription, args: { until: until.toISOString() } });
  } catch (error) {
    if (error instanceof WorkflowUpdateFailedError) throw new DomainError('internal', `${start.subscription}: ${rootOf(error).message}`);
    throw error;
  }
}

function rootOf(error: Error): Error {
  return error.cause instanceof Error ? rootOf(error.cause) : error;
}

interface Asked<A, R> {
  start: SubscriptionStart;
  creates: boolean;
  definition: UpdateDefinition<R, [A]>;
  args: A;
  updateId?: string;
}

async function update<A, R>(client: Client, asked: Asked<A, R>): Promise<R | null> {
  const deadline = Date.now() + commandDeadlineMs;
  try {
    const answer = await call(client, asked, deadline);
    if (answer === null && !asked.creates) await endIfStuck(client, asked.start);
    return answer;
  } catch (error) {
    if (asked.creates || !isUnavailable(error) || !(await endIfStuck(client, asked.start))) throw error;
    return call(client, asked, Math.max(deadline, Date.now() + signalDeadlineMs));
  }
}

function call<A, R>(client: Client, { start, creates, definition, args, updateId }: Asked<A, R>, deadline: number): Promise<R | null> {
  return untilAnswered(async () => {
    try {
      return await client.withDeadline(deadline, () =>
        client.workflow.executeUpdateWithStart(definition, {
          args: [args],
          updateId,
          startWorkflowOperation: new WithStartWorkflowOperation(subscriptionWorkflow, optionsOf(start, creates)),
        }));
    } catch (error) {
      const refusal = fromFailure(error);
      if (refusal) throw refusal;
      if (error instanceof WorkflowUpdateRPCTimeoutOrCancelledError) return null;
      if (isTemporalOutage(error)) throw new DomainError('service_unavailable', undefined, { retryAfterSeconds: 2 });
      throw error;
    }
  });
}

function isUnavailable(error: unknown): boolean {
  return error instanceof DomainError && error.code === 'service_unavailable';
}

/**
 * A workflow whose history cannot be replayed answers no call, also that of a subscription that is not due for a year: whoever calls it
 * ends it, and the next call begins it again from its row.
 */
function endIfStuck(client: Client, { subscription }: SubscriptionStart): Promise<boolean> {
  return endStuckWorkflow(client, subscriptionWorkflowId(subscription), failuresOfStuck).catch(() => false);
}

/** Wakes the subscription's workflow, or starts it again from its row. */
export async function wakeSubscriptionWorkflow(client: Client, start: SubscriptionStart): Promise<void> {
  await client.withDeadline(Date.now() + signalDeadlineMs, () =>
    client.workflow.signalWithStart(subscriptionWorkflow, { ...optionsOf(start, false), signal: wakeSubscription }));
}
