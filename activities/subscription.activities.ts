import { toFailure } from '../libs/contracts/domain-failure.js';
import type {
  StepArgs,
  SubscriptionActivities,
  SubscriptionClockActivities,
  SubscriptionPaymentActivities,
  SubscriptionStepActivities,
} from '../libs/contracts/subscription.contract.js';
import { transact } from '../libs/db/change.js';
import type { Db, Tx } from '../libs/db/client.js';
import { newId } from '../libs/db/mint.js';
import { intentById } from '../libs/db/payment.queries.js';
import { jitterOf, findSubscription } from '../libs/db/subscription.queries.js';
import { readRequest } from '../libs/db/subscription-prices.queries.js';
import { runOf } from '../libs/db/subscription-run.queries.js';
import { stepSubscription, stepUnderLock } from '../libs/db/subscription-step.writes.js';
import { changeSubscription, createSubscription } from '../libs/db/subscription.writes.js';
import type { Change } from '../libs/domain/change/change.js';
import { notFound } from '../libs/errors/domain-error.js';
import { advancePayment } from '../libs/payments/advance-payment.js';
import { invoicePayments } from '../libs/payments/invoice-payments.js';
import type { PaymentDeps } from '../libs/payments/payment.deps.js';
import { paymentStart } from '../libs/payments/payment-start.js';
import { beating } from './heartbeat.js';
import { advanceOnClock } from './subscription.clock.js';
import { proceedFrom, sharedByKey, stepsFrom } from './subscription.steps.js';

export interface SubscriptionDeps {
  db: Db;
  payments: PaymentDeps;
  /** Renewals are charged up to this long after their period began. */
  jitterSeconds: number;
}

const heartbeatMs = 1_000;

type Activities = SubscriptionActivities & SubscriptionStepActivities & SubscriptionPaymentActivities & SubscriptionClockActivities;

/** One fact, one activity, one transaction. Refusals leave as failures that are not retried; a lost database is retried. */
export function createSubscriptionActivities(deps: SubscriptionDeps): Activities {
  const { db, payments } = deps;
  const writing = (subscriptionId: string, now: string) => ({
    clock: { now: new Date(now), jitterSeconds: jitterOf(subscriptionId, deps.jitterSeconds) },
    payments: invoicePayments,
  });
  const write = <T>(change: Change, work: (tx: Tx) => Promise<T>) => edge(() => transact(db, change, work));
  const step = ({ accountId, subscriptionId, now }: StepArgs) => {
    const change = systemChange(accountId, payments.environment);
    return edge(() => stepSubscription(db, change, subscriptionId, writing(subscriptionId, now)));
  };
  const startOf = async (intentId: string) => paymentStart(payments, (await intentById(db, intentId))!);
  const isFinal = sharedByKey(async (intentId) => (await advancePayment(payments, { intentId, driver: 'workflow' })).state === 'final');

  return {
    createSubscription: ({ change, subscription, now }) =>
      write(change, (tx) => createSubscription(tx, change, readRequest(subscription), writing(subscription.id, now))),

    changeSubscription: ({ change, subscriptionId, command, now }) =>
      write(change, (tx) => changeSubscription(tx, change, { subscriptionId, command }, writing(subscriptionId, now))),

    loadSubscription: ({ accountId, subscriptionId }) =>
      edge(async () => {
        const row = await findSubscription(db, accountId, subscriptionId);
        if (!row) throw notFound('subscription');
        return runOf(db, row, payments);
      }),

    stepSubscription: step,

    moveSubscription: (args) => stepsFrom(args, step),

    proceedSubscription: (args) => proceedFrom(args, { step, startOf, isFinal, clock: clockFrom(args.now) }),

    advanceInvoicePayment: ({ intentId }) => beating(heartbeatMs, async () => ({ final: await isFinal(intentId), start: await startOf(intentId) })),

    collectSubscription: ({ intentId, ...args }) =>
      beating(heartbeatMs, async () => {
        const clock = clockFrom(args.now);
        const final = await isFinal(intentId);
        const start = final ? null : await startOf(intentId);
        // What is not known here the workflow finds out by itself.
        const stepped = await stepsFrom({ ...args, charging: intentId, now: clock() }, step).catch(() => null);
        return { final, start, stepped };
      }),

    advanceSubscription({ accountId, subscriptionId, until }) {
      const change = systemChange(accountId, payments.environment);
      const own = { ...writing(subscriptionId, until), until: new Date(until) };
      return beating(heartbeatMs, () => advanceOnClock({ payments, step: () => write(change, (tx) => stepUnderLock(tx, change, subscriptionId, own)) }));
    },
  };
}

/** The workflow's time, going on. */
function clockFrom(now: string): () => string {
  const started = performance.now();
  return () => new Date(Math.floor(Date.parse(now) + performance.now() - started)).toISOString();
}

function systemChange(accountId: string, environment: Change['environment']): Change {
  return { accountId, environment, actor: 'system', requestId: null, idempotencyKey: null, commandId: newId(), clockTime: null };
}

async function edge<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw toFailure(error);
  }
}
