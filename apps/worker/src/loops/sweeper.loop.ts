import { LRUCache } from 'lru-cache';
import { sweepHiddenMethods } from '../../../../libs/db/payment-method.writes.js';
import { forsakenOperations, interruptedPayments, overduePayments } from '../../../../libs/db/payment.queries.js';
import type { PaymentIntentRow } from '../../../../libs/db/schema/index.js';
import { paymentStart } from '../../../../libs/payments/payment-start.js';
import { paymentWorkflowId } from '../../../../libs/contracts/payment.contract.js';
import { wakePaymentWorkflow } from '../../../../libs/temporal/payment.client.js';
import { endStuckWorkflow } from '../../../../libs/temporal/stuck-workflow.js';
import type { Composition } from '../activities.js';
import { startPeriodic } from './periodic.js';

const everyMs = 2_000;
const batch = 100;
const atOnce = 8;
/** An operation whose sender died is found soon after its call's own limit. */
const forsakenEvery = 5;
/** Overdue payments are rare: their workflow was ended by hand. */
const overdueEvery = 15;
/** Longer than any tokenisation may take: what is hidden and older was left by a crash. */
const hiddenMs = 15 * 60_000;
/** A payment that was woken so long ago and whose lease nobody took since: its workflow may be broken. */
const unmovedMs = 60_000;

/**
 * Gives every payment that nobody moves its workflow: begun by an API process that died, or whose workflow is gone. Runs in
 * every worker; starting a workflow that runs already only wakes it, and one that cannot go on is replaced.
 */
export function startSweeper({ db, client, payments, log }: Composition): () => Promise<void> {
  let rounds = 0;
  const woken = new LRUCache<string, { token: number; at: number }>({ max: 50_000 });

  const isUnmoved = ({ id, leaseToken }: PaymentIntentRow): boolean => {
    const last = woken.get(id);
    if (last?.token === leaseToken) return performance.now() - last.at > unmovedMs;
    woken.set(id, { token: leaseToken, at: performance.now() });
    return false;
  };

  const start = async (intent: PaymentIntentRow): Promise<void> => {
    const begin = await paymentStart(payments, intent);
    if (isUnmoved(intent) && (await endStuckWorkflow(client, paymentWorkflowId(begin.payment), 2))) {
      log.warn({ payment_intent_id: intent.id }, 'a payment workflow that failed again and again was ended');
    }
    await wakePaymentWorkflow(client, begin);
    log.info({ payment_intent_id: intent.id, status: intent.status }, 'interrupted payment goes on');
  };

  const round = async (isStopped: () => boolean): Promise<void> => {
    rounds += 1;
    const found = await db.transaction((tx) => interruptedPayments(tx, batch));
    if (rounds % forsakenEvery === 0) found.push(...(await db.transaction((tx) => forsakenOperations(tx, batch))));
    if (rounds % overdueEvery === 0) await sweepHiddenMethods(db, { olderThanMs: hiddenMs });
    if (rounds % overdueEvery === 0) found.push(...(await db.transaction((tx) => overduePayments(tx, batch))));
    for (let index = 0; index < found.length && !isStopped(); index += atOnce) await Promise.all(found.slice(index, index + atOnce).map(start));
  };

  return startPeriodic({ everyMs, trouble: 'cannot sweep', round }, log);
}
