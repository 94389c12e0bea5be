import type { Tx } from '../db/client.js';
import { appendEvents, previousValues, type EventDraft } from '../db/event.writes.js';
import { settleInvoice } from '../db/invoice.writes.js';
import { chargeOf, operationsOfCharge, processorNames, recentEqualRefund, refundOf } from '../db/payment.queries.js';
import { insertOperation, insertRefund, reserveRefund, updateIntent, wakePayment } from '../db/payment.writes.js';
import type { ChargeRow, PaymentIntentRow, RefundRow } from '../db/schema/index.js';
import type { Change } from '../domain/change/change.js';
import type { RefundReason } from '../domain/payment/payment-status.js';
import { DomainError } from '../errors/domain-error.js';
import { chargeView } from '../views/charge.view.js';
import { refundView } from '../views/refund.view.js';
import { requireIntent, tellIntent } from './intent-change.js';
import { newOperation } from './new-operation.js';

export interface RefundWish {
  /** Minted by the caller: the same command again finds the same refund. */
  id: string;
  intentId: string;
  chargeId: string;
  /** Default: all that is left. */
  amountAtom?: number | null;
  reason: RefundReason;
  description?: string | null;
  /** The money went back by another way: only our books change. */
  outOfBand?: boolean;
  /** Not a repetition of an equal refund a moment ago: asked for by a rule, not by a person. */
  intended?: boolean;
  now?: Date;
}

/**
 * Reserves the amount and asks for the refund; `advancePayment` sends it.
 * @throws DomainError 404, 409 for a charge that took no money, beside another operation or for a likely duplicate, 422 above
 * what is left.
 */
export async function refundCharge(tx: Tx, change: Change, wish: RefundWish): Promise<RefundRow> {
  const intent = await requireIntent(tx, change, wish.intentId);
  const known = await refundOf(tx, change.accountId, wish.id);
  if (known) return known;
  const charge = await chargeOf(tx, change.accountId, wish.chargeId);
  if (!charge || charge.status !== 'succeeded' || charge.capturedAtom === 0 || charge.voidedAt) {
    throw new DomainError('conflict', 'Nothing was captured on this charge, so nothing can be refunded.');
  }
  const operations = await operationsOfCharge(tx, charge.id);
  if (operations.some((operation) => operation.status === 'pending')) {
    throw new DomainError('conflict', 'Another operation on this charge is running.', { retryAfterSeconds: 1 });
  }
  const amountAtom = wish.amountAtom ?? charge.capturedAtom - charge.refundedAtom;
  if (!change.idempotencyKey && !wish.intended && (await recentEqualRefund(tx, charge.id, amountAtom))) throw new DomainError('possible_duplicate');
  if (amountAtom <= 0 || !(await reserveRefund(tx, charge.id, { amountAtom, at: wish.now ?? new Date() }))) {
    throw new DomainError('refund_exceeds_captured', `At most ${charge.capturedAtom - charge.refundedAtom} atoms are left to refund.`);
  }
  const row = refundRow(change, { wish, charge, amountAtom });
  await insertRefund(tx, row);
  if (wish.outOfBand) {
    await bookOutOfBand(tx, change, { intent, charge, row });
    return row;
  }
  const draft = { type: 'refund', purpose: 'refund', amountAtom, refundId: row.id, commandId: change.commandId } as const;
  await insertOperation(tx, newOperation({ operations, clock: () => row.createdAt.getTime() }, charge, draft));
  await wakePayment(tx, intent.id);
  await appendEvents(tx, change, [refundCreated(change, row), await reserved(tx, change, { charge, row, type: 'charge.updated' })]);
  return row;
}

/** The charge with the refund's amount taken from what is left. */
async function reserved(tx: Tx, change: Change, { charge, row, type }: { charge: ChargeRow; row: RefundRow; type: string }): Promise<EventDraft> {
  const kind = (await processorNames(tx, [charge.processorId])).get(charge.processorId)?.kind ?? null;
  const old = chargeView(charge, kind, change.environment);
  const now = chargeView({ ...charge, refundedAtom: charge.refundedAtom + row.amountAtom, updatedAt: row.createdAt }, kind, change.environment);
  return { type, kind: 'ch', objectId: charge.id, customerId: charge.customerId, data: now, previous: previousValues(old, now) };
}

function refundRow(change: Change, { wish, charge, amountAtom }: { wish: RefundWish; charge: ChargeRow; amountAtom: number }): RefundRow {
  const at = wish.now ?? new Date();
  return {
    id: wish.id,
    accountId: change.accountId,
    chargeId: charge.id,
    paymentIntentId: charge.paymentIntentId,
    invoiceId: charge.invoiceId,
    customerId: charge.customerId,
    amountAtom,
    currency: charge.currency,
    reason: wish.outOfBand ? 'manual_out_of_band' : wish.reason,
    description: wish.description ?? null,
    status: wish.outOfBand ? 'succeeded' : 'pending',
    refundedOutOfBand: wish.outOfBand ?? false,
    attemptErrorMessage: null,
    processorRefundId: null,
    keyed: change.idempotencyKey !== null,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
}

function refundCreated(change: Change, row: RefundRow) {
  return {
    type: 'refund.created',
    kind: 're' as const,
    objectId: row.id,
    customerId: row.customerId,
    data: refundView(row, change.environment),
    previous: null,
  };
}

async function bookOutOfBand(
  tx: Tx,
  change: Change,
  { intent, charge, row }: { intent: PaymentIntentRow; charge: ChargeRow; row: RefundRow },
): Promise<void> {
  const after = await updateIntent(tx, intent.id, {
    amountRefundedAtom: intent.amountRefundedAtom + row.amountAtom,
    lastRefundAt: row.createdAt,
    version: intent.version + 1,
    updatedAt: row.createdAt,
  });
  await tellIntent(tx, change, {
    type: 'payment_intent.updated',
    before: intent,
    after,
    others: [
      refundCreated(change, row),
      await reserved(tx, change, { charge, row, type: 'charge.refunded' }),
    ],
  });
  if (intent.invoiceId) {
    await settleInvoice(tx, change, {
      invoiceId: intent.invoiceId,
      paymentIntentId: intent.id,
      outcome: 'refunded',
      amountAtom: row.amountAtom,
      failureMessage: null,
      at: row.createdAt,
    });
  }
}
