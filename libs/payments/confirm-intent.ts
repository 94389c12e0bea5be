import type { Tx } from '../db/client.js';
import { oncePerCommand } from '../db/command.writes.js';
import { customerExists } from '../db/payment-method.queries.js';
import { chargesOfIntent, operationsOfCharge } from '../db/payment.queries.js';
import { insertOperation, updateIntent, wakePayment } from '../db/payment.writes.js';
import type { PaymentIntentRow } from '../db/schema/index.js';
import type { Change } from '../domain/change/change.js';
import { DomainError } from '../errors/domain-error.js';
import { requireUsableMethod } from './create-intent.js';
import { refuseMove, requireIntent, tellIntent } from './intent-change.js';
import { newOperation } from './new-operation.js';

export interface Confirmation {
  intentId: string;
  paymentMethodId?: string | null;
  returnUrl?: string | null;
  offSession?: boolean;
  now?: Date;
}

/**
 * Asks for the money; `advancePayment` does the rest. Repeating the same command changes nothing.
 * @throws DomainError 404, 409 `payment_in_flight` or `invalid_state_transition`, 422 on the method.
 */
export async function confirmIntent(tx: Tx, change: Change, wanted: Confirmation): Promise<PaymentIntentRow> {
  const intent = await requireIntent(tx, change, wanted.intentId);
  await oncePerCommand(tx, change, { objectId: intent.id, step: 'confirm' }, async () => {
    await confirmOnce(tx, change, { intent, wanted });
    return { confirmed: true };
  });
  return intent;
}

async function confirmOnce(tx: Tx, change: Change, { intent, wanted }: { intent: PaymentIntentRow; wanted: Confirmation }): Promise<void> {
  if (intent.status === 'processing') throw new DomainError('payment_in_flight');
  const open = intent.status === 'requires_payment_method' || intent.status === 'requires_confirmation';
  if (!open && intent.status !== 'requires_action') throw refuseMove(intent, 'be confirmed');
  if (intent.customerId && !(await customerExists(tx, change.accountId, intent.customerId))) throw new DomainError('conflict', 'The customer was deleted.');
  const paymentMethodId = wanted.paymentMethodId ?? intent.paymentMethodId;
  if (!paymentMethodId) throw new DomainError('payment_method_required');
  if (wanted.paymentMethodId || open) await requireUsableMethod(tx, change.accountId, { paymentMethodId, customerId: intent.customerId });
  if (intent.status === 'requires_action') return replaceChallenge(tx, change, { intent, paymentMethodId, wanted });
  const at = wanted.now ?? new Date();
  const after = await updateIntent(tx, intent.id, {
    status: 'processing',
    paymentMethodId,
    returnUrl: wanted.returnUrl === undefined ? intent.returnUrl : wanted.returnUrl,
    ...(wanted.offSession === undefined ? {} : { initiator: wanted.offSession ? 'merchant' : 'customer' }),
    confirmation: intent.confirmation + 1,
    declineCode: null,
    declineReason: null,
    version: intent.version + 1,
    updatedAt: at,
  });
  await wakePayment(tx, intent.id);
  await tellIntent(tx, change, { type: 'payment_intent.processing', before: intent, after });
}

/** The open challenge is cancelled at its processor first; only then is another method tried. */
async function replaceChallenge(
  tx: Tx,
  change: Change,
  { intent, paymentMethodId, wanted }: { intent: PaymentIntentRow; paymentMethodId: string; wanted: Confirmation },
): Promise<void> {
  const at = wanted.now ?? new Date();
  const returnUrl = wanted.returnUrl === undefined ? intent.returnUrl : wanted.returnUrl;
  if (paymentMethodId === intent.paymentMethodId && returnUrl === intent.returnUrl) return;
  const charge = (await chargesOfIntent(tx, intent.id)).find((each) => each.status === 'pending');
  if (!charge) throw new DomainError('payment_in_flight');
  const operations = await operationsOfCharge(tx, charge.id);
  const draft = { type: 'void', purpose: 'release', amountAtom: charge.amountAtom, commandId: change.commandId } as const;
  const added = await insertOperation(tx, newOperation({ operations, clock: () => at.getTime() }, charge, draft));
  if (!added) throw new DomainError('payment_in_flight');
  const after = await updateIntent(tx, intent.id, {
    paymentMethodId,
    returnUrl,
    confirmation: intent.confirmation + 1,
    version: intent.version + 1,
    updatedAt: at,
  });
  await wakePayment(tx, intent.id);
  await tellIntent(tx, change, { type: 'payment_intent.updated', before: intent, after });
}
