import { paymentHistory } from '../db/payment-context.queries.js';
import { intentById } from '../db/payment.queries.js';
import type { PaymentIntentRow } from '../db/schema/index.js';
import { LeaseLost } from './commit-move.js';
import type { HeldCallback, HeldPayment } from './held-payment.js';
import type { PaymentDeps } from './payment.deps.js';

const noHistory = { charges: [], operations: [], refunds: [], evidence: [], callbacks: [], disputes: [] };

/** The payment with all its rows. */
export async function loadPayment(
  deps: PaymentDeps,
  intent: PaymentIntentRow,
  { lease, clock, origin, onClock = false }: Pick<HeldPayment, 'lease' | 'clock' | 'origin' | 'onClock'>,
): Promise<HeldPayment> {
  // A payment without attempts has no other rows.
  const history = intent.attempts === 0 ? noHistory : await paymentHistory(deps.db, intent.id);
  const kinds = new Map<string, string>();
  for (const charge of history.charges) {
    if (kinds.has(charge.processorId)) continue;
    const connection = await deps.connections.one(charge.accountId, charge.processorId);
    if (connection) kinds.set(charge.processorId, connection.kind);
  }
  const callbacks = history.callbacks as unknown as HeldCallback[];
  const held = { lease, clock, onClock, lookupOffsets: deps.lookupOffsets, origin, intent, ...history, callbacks, kinds, released: false, footing: null };
  return onClock ? { ...held, charges: history.charges.map(dueAt(clock())), operations: history.operations.map(dueAt(clock())) } : held;
}

/** What waits for its next lookup is looked up now. */
function dueAt(now: number) {
  return <T extends { status: string; nextLookupAt: Date | null }>(row: T): T =>
    row.status === 'pending' && row.nextLookupAt && row.nextLookupAt.getTime() > now ? { ...row, nextLookupAt: new Date(now) } : row;
}

/** The payment as it is now. @throws LeaseLost */
export async function reloadPayment(deps: PaymentDeps, held: HeldPayment): Promise<HeldPayment> {
  await deps.leases.renew();
  const intent = await intentById(deps.db, held.lease.intentId);
  if (!intent || intent.leaseToken !== held.lease.token || held.lease.lost) throw new LeaseLost();
  return loadPayment(deps, intent, held);
}
