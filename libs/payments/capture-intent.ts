import type { Tx } from '../db/client.js';
import { chargesOfIntent, operationOfCommand, operationsOfCharge } from '../db/payment.queries.js';
import { insertOperation, wakePayment } from '../db/payment.writes.js';
import type { PaymentIntentRow } from '../db/schema/index.js';
import type { Change } from '../domain/change/change.js';
import { DomainError, invalidField } from '../errors/domain-error.js';
import { refuseMove, requireIntent } from './intent-change.js';
import { newOperation } from './new-operation.js';

export interface Capture {
  intentId: string;
  /** Default: all that is authorised. The rest is released. */
  amountAtom?: number | null;
}

/**
 * Asks for the capture; `advancePayment` sends it.
 * @returns the operation's id. @throws DomainError 404, 409 in another state or beside another operation, 422 above the authorised amount.
 */
export async function captureIntent(tx: Tx, change: Change, wanted: Capture): Promise<{ intent: PaymentIntentRow; operationId: string }> {
  const intent = await requireIntent(tx, change, wanted.intentId);
  const known = await operationOfCommand(tx, intent.id, change.commandId);
  if (known) return { intent, operationId: known.id };
  if (intent.status !== 'requires_capture') throw refuseMove(intent, 'be captured');
  const amountAtom = wanted.amountAtom ?? intent.amountCapturableAtom;
  if (amountAtom > intent.amountCapturableAtom) {
    throw invalidField('amount_atom', `more than the ${intent.amountCapturableAtom} that can be captured`);
  }
  const charge = (await chargesOfIntent(tx, intent.id)).find((each) => each.status === 'succeeded' && !each.voidedAt && !each.isLate);
  if (!charge) throw new DomainError('payment_in_flight');
  const operations = await operationsOfCharge(tx, charge.id);
  const draft = { type: 'capture', purpose: 'capture', amountAtom, commandId: change.commandId } as const;
  const operation = newOperation({ operations, clock: Date.now }, charge, draft);
  if (!(await insertOperation(tx, operation))) throw new DomainError('payment_in_flight', 'Another operation on this charge is running.');
  await wakePayment(tx, intent.id);
  return { intent, operationId: operation.id };
}
