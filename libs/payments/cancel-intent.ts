import type { Tx } from '../db/client.js';
import { oncePerCommand } from '../db/command.writes.js';
import { findInvoice } from '../db/invoice.queries.js';
import { chargesOfIntent, operationsOfCharge } from '../db/payment.queries.js';
import { insertOperation, updateIntent, wakePayment } from '../db/payment.writes.js';
import type { PaymentIntentRow } from '../db/schema/index.js';
import type { Change } from '../domain/change/change.js';
import { isOwed } from '../domain/invoice/invoice.machine.js';
import { DomainError } from '../errors/domain-error.js';
import { publicId } from '../views/ids.js';
import { refuseMove, requireIntent, tellIntent } from './intent-change.js';
import { newOperation } from './new-operation.js';

export interface Cancellation {
  intentId: string;
  now?: Date;
}

/** @throws DomainError 409 for the payment of an invoice that may still be paid: the invoice is voided instead. */
export async function cancelIntentByHand(tx: Tx, change: Change, wanted: Cancellation): Promise<{ intent: PaymentIntentRow; advance: boolean }> {
  const { invoiceId } = await requireIntent(tx, change, wanted.intentId);
  const invoice = invoiceId ? await findInvoice(tx, change.accountId, invoiceId) : undefined;
  if (invoice && (isOwed(invoice.status) || invoice.status === 'uncollectible')) {
    throw new DomainError('conflict', `This payment collects invoice ${publicId('inv', change.environment, invoice.id)}: void the invoice instead.`);
  }
  return cancelIntent(tx, change, wanted);
}

/**
 * Cancels at once where no processor holds anything, else asks the processor to; `canceled` only after it confirmed.
 * @returns whether `advancePayment` has something to do.
 * @throws DomainError 404, 409 `payment_in_flight` or `invalid_state_transition`.
 */
export async function cancelIntent(tx: Tx, change: Change, wanted: Cancellation): Promise<{ intent: PaymentIntentRow; advance: boolean }> {
  const intent = await requireIntent(tx, change, wanted.intentId);
  const { advance } = await oncePerCommand(tx, change, { objectId: intent.id, step: 'cancel' }, () => cancelOnce(tx, change, { intent, wanted }));
  return { intent, advance };
}

async function cancelOnce(tx: Tx, change: Change, { intent, wanted }: { intent: PaymentIntentRow; wanted: Cancellation }): Promise<{ advance: boolean }> {
  const at = wanted.now ?? new Date();
  switch (intent.status) {
    case 'requires_payment_method':
    case 'requires_confirmation': {
      if (!intent.settled) throw new DomainError('payment_in_flight');
      const set = { status: 'canceled', canceledAt: at, settled: true, version: intent.version + 1, updatedAt: at } as const;
      const after = await updateIntent(tx, intent.id, set);
      await tellIntent(tx, change, { type: 'payment_intent.canceled', before: intent, after });
      return { advance: false };
    }
    case 'requires_action':
    case 'requires_capture':
      await askForVoid(tx, change, { intent, at });
      return { advance: true };
    case 'processing': {
      if (!intent.stoppedAt) throw new DomainError('payment_in_flight');
      const set = { status: 'canceled', canceledAt: at, stoppedAt: null, stoppedBy: null, version: intent.version + 1, updatedAt: at } as const;
      const after = await updateIntent(tx, intent.id, set);
      await wakePayment(tx, intent.id);
      await tellIntent(tx, change, { type: 'payment_intent.canceled', before: intent, after });
      return { advance: true };
    }
    default:
      throw refuseMove(intent, 'be cancelled');
  }
}

async function askForVoid(tx: Tx, change: Change, { intent, at }: { intent: PaymentIntentRow; at: Date }): Promise<void> {
  const charge = (await chargesOfIntent(tx, intent.id)).findLast((each) => each.status !== 'failed' && !each.voidedAt);
  if (!charge) throw new DomainError('payment_in_flight');
  const operations = await operationsOfCharge(tx, charge.id);
  const draft = { type: 'void', purpose: 'cancel', amountAtom: charge.amountAtom, commandId: change.commandId } as const;
  if (!(await insertOperation(tx, newOperation({ operations, clock: () => at.getTime() }, charge, draft)))) {
    throw new DomainError('payment_in_flight');
  }
  await wakePayment(tx, intent.id);
}
