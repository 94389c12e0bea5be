import type { PaymentIntentRow } from '../db/schema/index.js';
import type { AdvanceResult } from '../domain/payment/advance-result.js';
import type { PaymentDeps } from './payment.deps.js';
import { publicId } from '../views/ids.js';

/** Longest call that may run as a local activity, in milliseconds. */
const shortCallMs = 7_000;

/** A look that is further away is the workflow's own timer, and an operator sees it there. */
const longestDelayMs = 60_000;

/** What the payment's workflow is started with (`PaymentStart` of libs/temporal). `last`: what its first step came to, elsewhere. */
export async function paymentStart(deps: PaymentDeps, intent: PaymentIntentRow, last: AdvanceResult | null = null) {
  const id = (kind: 'acct' | 'cus' | 'pi' | 'sub', uuid: string) => publicId(kind, deps.environment, uuid);
  return {
    intentId: intent.id,
    payment: id('pi', intent.id),
    account: id('acct', intent.accountId),
    customer: intent.customerId ? id('cus', intent.customerId) : null,
    subscription: intent.subscriptionId ? id('sub', intent.subscriptionId) : null,
    longCalls: (await deps.connections.longestCallMs(intent.accountId)) > shortCallMs,
    last,
    summary: `${intent.amountAtom} ${intent.currency}${intent.subscriptionId ? ', subscription' : ''}`,
  };
}

/**
 * Milliseconds until there is something to do for a workflow that takes a payment over; 0: at once. `endedAt`, epoch milliseconds: when
 * the step ended. A start that had to wait for its turn puts the look off by as much, so that looks stay as far apart as their turns.
 */
export function startDelayMs({ state, nextAt }: Pick<AdvanceResult, 'state' | 'nextAt'>, endedAt: number): number {
  if (state !== 'waiting' || !nextAt) return 0;
  const delay = Date.parse(nextAt) - endedAt;
  return delay > longestDelayMs ? 0 : Math.max(0, delay);
}
