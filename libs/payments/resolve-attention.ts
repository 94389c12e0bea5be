import { closeAttention } from '../db/attention-resolution.writes.js';
import { transact } from '../db/change.js';
import type { Tx } from '../db/client.js';
import { findCommand, oncePerCommand } from '../db/command.writes.js';
import { chargesOfIntent, intentOf, operationsOfCharge, operationsOfIntent } from '../db/payment.queries.js';
import { insertEvidence, insertOperation, lockIntent, updateCharge, updateOperation, wakePayment } from '../db/payment.writes.js';
import type { AttentionItemRow, ChargeRow, PaymentIntentRow } from '../db/schema/index.js';
import { judge, type Judgement, type Sight } from '../domain/attention/verdict.js';
import type { AttentionAction } from '../domain/attention/attention.actions.js';
import type { Change } from '../domain/change/change.js';
import { DomainError } from '../errors/domain-error.js';
import type { LookupAnswer, PaymentOutcome } from '../processors/port.js';
import { newOperation } from './new-operation.js';
import type { PaymentDeps } from './payment.deps.js';

export interface PersonsWish {
  action: AttentionAction;
  processorPaymentId: string | null;
  /** What was found out, for those who read it later. */
  note: string | null;
}

interface Seen {
  charge: ChargeRow;
  answer: LookupAnswer;
  judgement: Judgement;
}

const step = 'resolve';

/**
 * A person's wish about a payment that waits for one. The processor is asked first; what it says wins. What follows is handed in
 * as evidence, which the payment's next holder applies by its own rules; the line says who did it.
 * @returns the payment to move on, null where nothing was handed in.
 * @throws DomainError 409 where the wish contradicts the processor or nothing waits any more.
 */
export async function resolvePaymentAttention(
  deps: PaymentDeps,
  change: Change,
  { item, wish }: { item: AttentionItemRow; wish: PersonsWish },
): Promise<PaymentIntentRow | null> {
  const intent = await intentOf(deps.db, change.accountId, item.objectId);
  if (!intent) throw new DomainError('conflict', 'The payment is gone.');
  if (await findCommand(deps.db, change.commandId, { objectId: item.id, step })) return intent;
  if (!isAboutAttempt(item)) return lookAtRows(deps, change, intent);
  const seen = await look(deps, intent, wish);
  return transact(deps.db, change, async (tx) => {
    await oncePerCommand(tx, change, { objectId: item.id, step }, async () => {
      await follow(tx, change, { item, wish, seen });
      return true;
    });
    return seen.judgement.take === 'nothing' ? null : intent;
  });
}

function isAboutAttempt({ type }: AttentionItemRow): boolean {
  return type === 'payment_exception' || type === 'payment_unknown';
}

/** Everything that waits for its time is due now. */
function lookAtRows(deps: PaymentDeps, change: Change, intent: PaymentIntentRow): Promise<PaymentIntentRow> {
  return transact(deps.db, change, async (tx) => {
    await lockIntent(tx, change.accountId, intent.id);
    const now = new Date();
    const operations = await operationsOfIntent(tx, intent.id);
    for (const operation of operations.filter((each) => each.status === 'pending' && each.nextLookupAt !== null)) {
      await updateOperation(tx, operation.id, { nextLookupAt: now });
    }
    await wakePayment(tx, intent.id);
    return intent;
  });
}

async function look(deps: PaymentDeps, intent: PaymentIntentRow, wish: PersonsWish): Promise<Seen> {
  const charge = (await chargesOfIntent(deps.db, intent.id)).find((each) => each.status === 'pending');
  if (!charge) throw new DomainError('conflict', 'No attempt of this payment is without outcome any more.');
  const connection = await deps.connections.one(charge.accountId, charge.processorId);
  if (!connection || !deps.processors.supports(connection.kind)) {
    const answer: LookupAnswer = { found: 'unknown', outcome: { outcomeClass: 'unknown' } };
    return { charge, answer, judgement: judge(wish.action, { found: 'unknown' }) };
  }
  const adapter = deps.processors.processorFor(connection.kind);
  const answer = await adapter.lookup(connection, {
    operation: 'authorize',
    reference: charge.reference,
    processorPaymentId: wish.processorPaymentId ?? charge.processorPaymentId,
    amountAtom: charge.amountAtom,
    currency: charge.currency,
  });
  const certain = adapter.capabilities(connection).lookup === 'strong';
  return { charge, answer, judgement: judge(wish.action, sightOf(answer, certain)) };
}

function sightOf(answer: LookupAnswer, certain: boolean): Sight {
  if (answer.found === 'unknown') return { found: 'unknown' };
  if (answer.found === 'absent') return { found: 'absent', certain };
  const { capturedAmountAtom: capturedAtom, refundedAmountAtom: refundedAtom, voided } = answer.totals;
  return { found: 'yes', outcomeClass: answer.outcome.outcomeClass, capturedAtom, refundedAtom, voided };
}

async function follow(tx: Tx, change: Change, { item, wish, seen }: { item: AttentionItemRow; wish: PersonsWish; seen: Seen }): Promise<void> {
  const { judgement } = seen;
  const intent = await lockIntent(tx, change.accountId, item.objectId);
  const charge = (await chargesOfIntent(tx, item.objectId)).find((each) => each.id === seen.charge.id);
  if (!intent || charge?.status !== 'pending') throw new DomainError('conflict', 'The attempt has an outcome meanwhile.');
  if (judgement.take === 'refuse') throw new DomainError('conflict', `${judgement.because} The item stays open.`);
  if (judgement.take === 'nothing') {
    const lastLook = { at: new Date().toISOString(), by: change.actor, found: judgement.because };
    return closeAttention(tx, change, { id: item.id, details: { ...item.details, last_look: lastLook } });
  }
  const by = `${wish.action} by ${change.actor ?? 'a person'}${wish.note ? `: ${wish.note}` : ''}`;
  if (judgement.take === 'void' || judgement.take === 'refund') await giveBack(tx, change, { charge, seen, judgement });
  else await handIn(tx, { intent, charge, outcome: outcomeOf(seen, wish, by) });
  await closeAttention(tx, change, { id: item.id, resolution: by, details: { ...item.details, action: wish.action } });
}

function outcomeOf({ answer, judgement }: Seen, wish: PersonsWish, by: string): PaymentOutcome {
  if (judgement.take === 'processor' && answer.found === 'yes') {
    return answer.totals.voided ? { ...answer.outcome, outcomeClass: 'processor_error', rawMessage: 'Voided at the processor.' } : answer.outcome;
  }
  const approved = judgement.take === 'person' && judgement.outcomeClass === 'approved';
  return {
    outcomeClass: approved ? 'approved' : 'processor_error',
    processorPaymentId: wish.processorPaymentId,
    declineCode: approved ? null : 'processing_error',
    rawMessage: by.slice(0, 500),
  };
}

function handIn(tx: Tx, { intent, charge, outcome }: { intent: PaymentIntentRow; charge: ChargeRow; outcome: PaymentOutcome }): Promise<void> {
  const draft = { paymentIntentId: intent.id, chargeId: charge.id, operationId: null, leaseToken: intent.leaseToken };
  return insertEvidence(tx, { ...draft, outcome: outcome as unknown as Record<string, unknown> }, new Date());
}

interface GivingBack {
  charge: ChargeRow;
  seen: Seen;
  judgement: Extract<Judgement, { take: 'void' | 'refund' }>;
}

async function giveBack(tx: Tx, change: Change, { charge, seen, judgement }: GivingBack): Promise<void> {
  const told = seen.answer.found === 'yes' ? seen.answer.outcome.processorPaymentId : null;
  if (told && !charge.processorPaymentId) await updateCharge(tx, charge.id, { processorPaymentId: told });
  const operations = await operationsOfCharge(tx, charge.id);
  const amountAtom = judgement.take === 'refund' ? judgement.amountAtom : charge.amountAtom;
  const draft = { type: judgement.take, purpose: 'partial', amountAtom, commandId: change.commandId } as const;
  if (!(await insertOperation(tx, newOperation({ operations, clock: Date.now }, charge, draft)))) throw new DomainError('payment_in_flight');
  await wakePayment(tx, charge.paymentIntentId);
}
