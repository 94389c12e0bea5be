import { stopsToRestart } from '../../../../libs/db/charge-stop.writes.js';
import { paymentStart } from '../../../../libs/payments/payment-start.js';
import { restartPayments } from '../../../../libs/payments/restart-payments.js';
import { wakePaymentWorkflow } from '../../../../libs/temporal/payment.client.js';
import { publicId } from '../../../../libs/views/ids.js';
import type { Composition } from '../activities.js';
import { startPeriodic } from './periodic.js';

const everyMs = 250;
const stopsAtOnce = 20;

/** After a stop is lifted, lets the payments that waited for it go at its pace. What a crash leaves behind the sweeper starts. */
export function startRestarter({ config, db, client, payments, log }: Composition): () => Promise<void> {
  const round = async (isStopped: () => boolean): Promise<void> => {
    for (const stop of await stopsToRestart(db, stopsAtOnce)) {
      if (isStopped()) return;
      const { released, drained } = await restartPayments(payments, stop);
      await Promise.all(released.map(async (intent) => wakePaymentWorkflow(client, await paymentStart(payments, intent))));
      if (drained) log.info({ charge_stop_id: publicId('stop', config.environment, stop.id) }, 'nothing waits for the lifted stop any more');
    }
  };
  return startPeriodic({ everyMs, trouble: 'cannot restart payments after a stop', round }, log);
}
