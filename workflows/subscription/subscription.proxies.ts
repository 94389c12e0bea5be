import { patched, proxyActivities, proxyLocalActivities } from '@temporalio/workflow';
import type {
  SubscriptionActivities,
  SubscriptionClockActivities,
  SubscriptionPaymentActivities,
  SubscriptionStepActivities,
} from '../../libs/contracts/subscription.contract.js';

/** Every step finds out by itself whether it already ran, so it is tried until the database answers. */
const retry = { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' } as const;

export const apart = proxyActivities<SubscriptionActivities>({ startToCloseTimeout: '30s', retry });
/** A step that fails again and again waits by a timer, so that it does not keep others from the worker. */
const short = { startToCloseTimeout: '30s', retry, localRetryThreshold: '1s' } as const;
export const inTask = proxyLocalActivities<SubscriptionActivities>(short);
export const steps = proxyLocalActivities<SubscriptionStepActivities>(short);
/** A processor call ends by its own limits; a dead worker is noticed by the missing heartbeat. */
export const payments = proxyActivities<SubscriptionPaymentActivities>({ startToCloseTimeout: '10m', heartbeatTimeout: '3s', retry });

/** Ends by its own budget; what cannot be done at all ends the advance, and is told on the clock. */
export const clocked = proxyActivities<SubscriptionClockActivities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '3s',
  retry: { ...retry, maximumInterval: '5s', maximumAttempts: 20 },
});

/** Steps and the payment that they begin are one local activity, and so is each command; before: activities of their own. */
export function paysAtOnce(): boolean {
  return patched('pays-at-once');
}

/** What commands are written with. */
export function rows(): SubscriptionActivities {
  return paysAtOnce() ? inTask : apart;
}
