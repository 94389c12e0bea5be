import { commitMove, PaymentChanged } from './commit-move.js';
import type { HeldPayment } from './held-payment.js';
import { reloadPayment } from './load-payment.js';
import type { Move } from './move.js';
import type { PaymentDeps } from './payment.deps.js';

/** Writes what an outcome means; where the payment was changed meanwhile, what it means for the payment as it is then. */
export async function recordOutcome(deps: PaymentDeps, held: HeldPayment, meaning: (held: HeldPayment) => Move): Promise<HeldPayment> {
  for (let current = held; ; ) {
    try {
      return await commitMove(deps, current, meaning(current));
    } catch (error) {
      if (!(error instanceof PaymentChanged)) throw error;
      current = await reloadPayment(deps, current);
    }
  }
}
