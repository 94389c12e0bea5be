import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { PaymentWorkflowInput } from './payment.contract.js';
import type { Change } from '../domain/change/change.js';
import type { CommandOutcome, NewSubscriptionJson, SubscriptionCommand, SubscriptionRun } from '../domain/subscription/subscription.command.js';

export type { CommandOutcome, NewSubscriptionJson, SubscriptionCommand, SubscriptionRun };

export const subscriptionQueue = 'subscriptions';
export const subscriptionWorkflow = 'subscription';
/** After a kill the steps of a local activity run again when the workflow task times out. */
export const subscriptionTaskTimeout = '5s';

/** `publicId`: the subscription's public id. */
export function subscriptionWorkflowId(publicId: string): string {
  return `subscription/${publicId}`;
}

export interface SubscriptionInput {
  /** UUIDs. */
  subscriptionId: string;
  accountId: string;
  /** Public ids, for people who read the workflow. */
  subscription: string;
  customer: string;
  account: string;
  /** The row is not written yet: the first update creates it. */
  creates: boolean;
  run?: SubscriptionRun;
}

export interface CreateSubscriptionArgs {
  change: Change;
  subscription: NewSubscriptionJson;
  /** How long the answer may wait for the first payment, in milliseconds. */
  waitMs: number;
}

export interface CommandArgs<T extends SubscriptionCommand['type'] = SubscriptionCommand['type']> {
  change: Change;
  command: Extract<SubscriptionCommand, { type: T }>;
  waitMs: number;
}

export const createSubscription = defineUpdate<CommandOutcome, [CreateSubscriptionArgs]>('createSubscription');
export const pauseSubscription = defineUpdate<CommandOutcome, [CommandArgs<'pause'>]>('pauseSubscription');
export const resumeSubscription = defineUpdate<CommandOutcome, [CommandArgs<'resume'>]>('resumeSubscription');
export const cancelSubscription = defineUpdate<CommandOutcome, [CommandArgs<'cancel'>]>('cancelSubscription');
export const updateSubscription = defineUpdate<CommandOutcome, [CommandArgs<'update'>]>('updateSubscription');
export const changeSubscriptionItems = defineUpdate<CommandOutcome, [CommandArgs<'changeItems'>]>('changeSubscriptionItems');
export const endSubscriptionTrial = defineUpdate<CommandOutcome, [CommandArgs<'endTrial'>]>('endSubscriptionTrial');

/**
 * Where a subscription on a test clock stands after everything due by `until` was to happen: `done`, `more` is due, or `waiting`
 * for the outcome of a payment.
 */
export type ClockStanding = 'done' | 'more' | 'waiting';

/** Lets a subscription's test clock move on; `until` RFC 3339. */
export const advanceSubscription = defineUpdate<ClockStanding, [{ until: string }]>('advanceSubscription');

/** Something outside may have moved: a payment settled, a method changed. The rows say what. */
export const wakeSubscription = defineSignal('wakeSubscription');
/** A payment of this subscription is final; sent by its own workflow. */
export const paymentSettled = defineSignal<[{ intentId: string }]>('paymentSettled');

export const subscriptionRun = defineQuery<SubscriptionRun | null>('subscriptionRun');

export interface StepArgs {
  accountId: string;
  subscriptionId: string;
  /** RFC 3339: the workflow's time. */
  now: string;
}

/** UUIDs of payments that the transaction asked for beside the loop's own charge, for example a cancel's refund. */
export interface Advancing {
  advance: string[];
}

/** What the workflow may call: each one transaction. */
export interface SubscriptionActivities {
  createSubscription(args: { change: Change; subscription: NewSubscriptionJson; now: string }): Promise<CommandOutcome & Advancing>;
  changeSubscription(args: { change: Change; subscriptionId: string; command: SubscriptionCommand; now: string }): Promise<CommandOutcome & Advancing>;
  loadSubscription(args: { accountId: string; subscriptionId: string }): Promise<SubscriptionRun>;
  /** `acted`: something was written, so there may be more to do at once. */
  stepSubscription(args: StepArgs): Promise<CommandOutcome & Advancing & { acted: boolean }>;
}

/** Where a subscription stands once its steps were taken. */
export interface Stepped extends Advancing {
  run: SubscriptionRun;
  /** Something was written. */
  acted: boolean;
  /** There may be more to do at once. */
  more: boolean;
  /** A payment is to be moved that was not under way, or not so, before. */
  begins: boolean;
}

/** `charging`: UUID of the payment that the caller knows to be under way. */
export type MoveArgs = StepArgs & { charging: string | null };

/** `intentId`: UUID of the payment to be moved first; null: the steps come first. */
export type ProceedArgs = MoveArgs & { intentId: string | null };

export interface Proceeded {
  /** Where the rows stand; null where the steps after the payment failed. */
  stepped: Stepped | null;
  /** The payment that was moved; null if there was none. */
  payment: ProceededPayment | null;
}

/** `slow`: its processor has not answered yet, and the call goes on. `waiting`: `start` is the input of the workflow that must take it over. */
export type ProceededPayment = { intentId: string } & ({ state: 'final' | 'slow' } | { state: 'waiting'; start: AdvancedPayment['start'] });

/** Called as local activities: short. */
export interface SubscriptionStepActivities {
  /** Step after step, each a transaction of its own, until nothing is due or a payment has begun. Never calls a processor. */
  moveSubscription(args: MoveArgs): Promise<Stepped>;
  /** The same with the payment that begins and the steps that its outcome brings about, if the processor answers at once. */
  proceedSubscription(args: ProceedArgs): Promise<Proceeded>;
}

/** What is known of a payment after it was moved; `start`: input of the workflow that must take it over. */
export interface AdvancedPayment {
  final: boolean;
  start: PaymentWorkflowInput & { summary: string };
}

export interface CollectedPayment {
  final: boolean;
  /** Input of the workflow that must take the payment over; null where it is final. */
  start: AdvancedPayment['start'] | null;
  /** Null where the steps failed. */
  stepped: Stepped | null;
}

export interface SubscriptionPaymentActivities {
  advanceInvoicePayment(args: { intentId: string }): Promise<AdvancedPayment>;
  /** The payment, and the steps that its outcome brings about. */
  collectSubscription(args: StepArgs & { intentId: string }): Promise<CollectedPayment>;
}

/** What a subscription on a test clock does at a stretch: many transactions and their payments, each of its own time. */
export interface SubscriptionClockActivities {
  advanceSubscription(args: { accountId: string; subscriptionId: string; until: string }): Promise<{ run: SubscriptionRun; standing: ClockStanding }>;
}
