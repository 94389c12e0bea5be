import type { Tx } from '../db/client.js';
import { chargesOfIntent } from '../db/payment.queries.js';
import { lockIntent, updateCharge, wakePayment } from '../db/payment.writes.js';
import type { PaymentIntentRow } from '../db/schema/index.js';
import type { Change } from '../domain/change/change.js';

/**
 * The customer is back from a challenge: the processor is asked at once, not at the time of the next lookup.
 * @returns the intent to advance, or null if nothing waits for an answer.
 */
export async function lookAgain(tx: Tx, change: Change, intentId: string): Promise<PaymentIntentRow | null> {
  const intent = await lockIntent(tx, change.accountId, intentId);
  if (intent?.status !== 'requires_action') return null;
  const now = new Date();
  const charge = (await chargesOfIntent(tx, intentId)).find((each) => each.status === 'pending' && each.outcomeClass === 'action_required');
  if (!charge || (charge.nextLookupAt && charge.nextLookupAt <= now)) return null;
  await updateCharge(tx, charge.id, { nextLookupAt: now });
  await wakePayment(tx, intentId);
  return intent;
}
