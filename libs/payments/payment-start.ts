import type { PaymentIntentRow } from '../db/schema/index.js';
import type { PaymentDeps } from './payment.deps.js';
import { publicId } from '../views/ids.js';

/** Longest call that may run as a local activity, in milliseconds. */
const shortCallMs = 7_000;

/** What the payment's workflow is started with (`PaymentStart` of libs/temporal). */
export async function paymentStart(deps: PaymentDeps, intent: PaymentIntentRow) {
  const id = (kind: 'acct' | 'cus' | 'pi' | 'sub', uuid: string) => publicId(kind, deps.environment, uuid);
  return {
    intentId: intent.id,
    payment: id('pi', intent.id),
    account: id('acct', intent.accountId),
    customer: intent.customerId ? id('cus', intent.customerId) : null,
    subscription: intent.subscriptionId ? id('sub', intent.subscriptionId) : null,
    longCalls: (await deps.connections.longestCallMs(intent.accountId)) > shortCallMs,
    summary: `${intent.amountAtom} ${intent.currency}${intent.subscriptionId ? ', subscription' : ''}`,
  };
}
