import { setTimeout as pause } from 'node:timers/promises';
import type { ClockStanding, SubscriptionRun } from '../libs/contracts/subscription.contract.js';
import type { WriteResult } from '../libs/db/subscription.writes.js';
import { advancePayment } from '../libs/payments/advance-payment.js';
import type { PaymentDeps } from '../libs/payments/payment.deps.js';

/** So long at a stretch: the clock's progress is seen, and nobody waits for the subscription for long. */
const budgetMs = 1_500;
/** How long an outcome may take before the clock says whom it waits for. */
const patienceMs = 3_000;

export interface OnClock {
  payments: PaymentDeps;
  /** The next fact, in one transaction; time moves on to it. */
  step: () => Promise<WriteResult & { acted: boolean }>;
}

/** Fact after fact, each payment's outcome before the next, until nothing more is due. A second run goes on where the rows stand. */
export async function advanceOnClock({ payments, step }: OnClock): Promise<{ run: SubscriptionRun; standing: ClockStanding }> {
  const end = performance.now() + budgetMs;
  for (let idle = 0; ; ) {
    const { run, acted, advance } = await step();
    for (const intentId of advance) await outcomeOf(payments, intentId);
    const known = run.charging === null || (await outcomeOf(payments, run.charging.intentId));
    if (!acted && run.charging === null) return { run, standing: 'done' };
    idle = acted ? 0 : idle + 1;
    if (idle > 1 || (!acted && !known)) return { run, standing: 'waiting' };
    // Not with an outcome that the row does not know yet.
    if (run.charging === null && performance.now() > end) return { run, standing: 'more' };
  }
}

/** Moves the payment until its outcome is known; false where it is not within the time, or needs a person. */
async function outcomeOf(payments: PaymentDeps, intentId: string): Promise<boolean> {
  const end = performance.now() + patienceMs;
  for (;;) {
    const { state, status, nextAt } = await advancePayment(payments, { intentId, driver: 'workflow' });
    if (state !== 'busy' && status !== 'processing') return status !== 'exception';
    if (!nextAt || performance.now() > end) return false;
    await pause(Math.max(10, Math.min(Date.parse(nextAt) - Date.now(), 2_000)));
  }
}
