import type { Tx } from '../db/client.js';
import { appendEvents, previousValues, type EventDraft } from '../db/event.writes.js';
import { intentParts } from '../db/payment.queries.js';
import { lockIntent } from '../db/payment.writes.js';
import type { PaymentIntentRow } from '../db/schema/index.js';
import type { Change } from '../domain/change/change.js';
import { allowedMoves } from '../domain/payment/payment.machine.js';
import { DomainError, notFound } from '../errors/domain-error.js';
import { paymentIntentView } from '../views/payment-intent.view.js';

/** The intent, locked. @throws DomainError 404. */
export async function requireIntent(tx: Tx, change: Change, intentId: string): Promise<PaymentIntentRow> {
  const intent = await lockIntent(tx, change.accountId, intentId);
  if (!intent) throw notFound('payment intent');
  return intent;
}

/** Tells what became of an intent that was changed outside its lease. */
export async function tellIntent(
  tx: Tx,
  change: Change,
  told: { type: string; before: PaymentIntentRow; after: PaymentIntentRow; others?: EventDraft[] },
): Promise<void> {
  const parts = (await intentParts(tx, [told.after.id])).get(told.after.id)!;
  const now = paymentIntentView(told.after, parts, change.environment);
  const old = paymentIntentView(told.before, parts, change.environment);
  await appendEvents(tx, change, [
    { type: told.type, kind: 'pi', objectId: told.after.id, customerId: told.after.customerId, data: now, previous: previousValues(old, now) },
    ...(told.others ?? []),
  ]);
}

export function refuseMove(intent: PaymentIntentRow, wanted: string): DomainError {
  const allowed = allowedMoves(intent.status).filter((move) => ['confirm', 'capture', 'cancel'].includes(move));
  const rest = allowed.length > 0 ? `allowed: ${allowed.join(', ')}` : 'nothing is allowed any more';
  return new DomainError('invalid_state_transition', `A payment intent in ${intent.status} cannot ${wanted}; ${rest}.`);
}
