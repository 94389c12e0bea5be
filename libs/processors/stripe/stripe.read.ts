import type { Stripe } from 'stripe';
import type { ListCall, LookupAnswer, LookupCall, PaymentTotals, ToldPayment } from '../port.js';
import { disputeAnswer, intentAnswer, listOf, refundAnswer, type DisputeAnswer, type IntentAnswer, type RefundAnswer } from './stripe.answer.js';
import { chargeOf, isUnconfirmed, paymentOutcome, referenceKey, refundOutcome, totalsOf } from './stripe.outcome.js';
import { refundsOf, toldIntent } from './stripe.told.js';

type LookupById = LookupCall & { processorPaymentId: string };

const page = 50;
const wholePage = 100;

/** What the PaymentIntent says of its own confirmation, capture or cancellation. `absent`: that was never carried out. */
export async function lookupIntent(stripe: Stripe, call: LookupById): Promise<LookupAnswer> {
  const intent = intentAnswer.parse(await stripe.paymentIntents.retrieve(call.processorPaymentId, { expand: ['latest_charge'] }));
  const totals = totalsOf(intent);
  if (call.operation === 'capture') return lookupCapture(intent, call, totals);
  if (call.operation === 'void') return lookupVoid(intent, totals);
  if (isUnconfirmed(intent)) return { found: 'absent' };
  return { found: 'yes', outcome: paymentOutcome(intent, call), totals };
}

function lookupCapture(intent: IntentAnswer, call: LookupById, totals: PaymentTotals): LookupAnswer {
  const ids = { processorPaymentId: intent.id };
  if (intent.status === 'requires_capture') return { found: 'absent' };
  if (intent.status !== 'succeeded') {
    const rawMessage = `The payment is ${intent.status} at Stripe.`;
    return { found: 'yes', totals, outcome: { ...ids, outcomeClass: 'processor_error', declineCode: 'processing_error', rawMessage } };
  }
  const taken = intent.amount_received;
  if (call.amountAtom == null || taken === call.amountAtom) return { found: 'yes', totals, outcome: { ...ids, outcomeClass: 'approved', approvedAmountAtom: taken } };
  return { found: 'yes', totals, outcome: { ...ids, outcomeClass: 'mismatch', rawMessage: `captured ${taken} instead of ${call.amountAtom}` } };
}

function lookupVoid(intent: IntentAnswer, totals: PaymentTotals): LookupAnswer {
  const ids = { processorPaymentId: intent.id };
  if (intent.status === 'canceled') return { found: 'yes', totals, outcome: { ...ids, outcomeClass: 'approved' } };
  if (intent.status !== 'succeeded') return { found: 'absent' };
  const rawMessage = 'The payment was captured at Stripe.';
  return { found: 'yes', totals, outcome: { ...ids, outcomeClass: 'processor_error', declineCode: 'processing_error', rawMessage } };
}

/** Among all refunds of the payment, the one that carries our reference. */
export async function lookupRefund(stripe: Stripe, call: LookupById): Promise<LookupAnswer> {
  const all = await refundsOfPayment(stripe, call.processorPaymentId);
  const ours = all.filter((refund) => refund.metadata[referenceKey] === call.reference);
  const [refund] = ours;
  if (!refund) return { found: 'absent' };
  const outcome = refundOutcome(refund, call);
  const refundedAmountAtom = all.reduce((sum, { amount, status }) => (status === 'failed' || status === 'canceled' ? sum : sum + amount), 0);
  const totals = { authorizedAmountAtom: 0, capturedAmountAtom: 0, refundedAmountAtom, voided: false, disputed: false };
  if (ours.length > 1) return { found: 'yes', totals, outcome: { ...outcome, outcomeClass: 'mismatch', rawMessage: 'several refunds carry this reference' } };
  return { found: 'yes', totals, outcome };
}

/** Payments that were made in the range, whoever made them, with their refunds and disputes. */
export async function listPayments(stripe: Stripe, call: ListCall): Promise<{ payments: ToldPayment[]; nextCursor: string | null }> {
  const created = { gte: Math.floor(Date.parse(call.since) / 1_000), lt: Math.ceil(Date.parse(call.until) / 1_000) };
  const params = { created, limit: page, expand: ['data.latest_charge', 'data.latest_charge.refunds'] };
  const listed = await stripe.paymentIntents.list(call.cursor ? { ...params, starting_after: call.cursor } : params);
  const { data, has_more: more } = listOf(intentAnswer).parse(listed);
  const payments: ToldPayment[] = [];
  for (const intent of data) {
    const refunds = refundsOf(intent) ?? (await refundsOfPayment(stripe, intent.id));
    payments.push(toldIntent(intent, refunds, chargeOf(intent)?.disputed ? await disputesOfPayment(stripe, intent.id) : []));
  }
  return { payments, nextCursor: more ? (data.at(-1)?.id ?? null) : null };
}

async function refundsOfPayment(stripe: Stripe, id: string): Promise<RefundAnswer[]> {
  const found: RefundAnswer[] = [];
  for (;;) {
    const last = found.at(-1)?.id;
    const params = { payment_intent: id, limit: wholePage, ...(last ? { starting_after: last } : {}) };
    const { data, has_more: more } = listOf(refundAnswer).parse(await stripe.refunds.list(params));
    found.push(...data);
    if (!more || data.length === 0) return found;
  }
}

async function disputesOfPayment(stripe: Stripe, id: string): Promise<DisputeAnswer[]> {
  return listOf(disputeAnswer).parse(await stripe.disputes.list({ payment_intent: id, limit: wholePage })).data;
}
