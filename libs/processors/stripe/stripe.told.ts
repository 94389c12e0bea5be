import type { PaymentTotals, ToldDispute, ToldPayment, ToldRefund } from '../port.js';
import { idOf, type ChargeAnswer, type DisputeAnswer, type IntentAnswer, type RefundAnswer } from './stripe.answer.js';
import { unknownOutcome } from '../payment-reading.js';
import { chargeOf, isRelease, paymentOutcome, referenceKey, refundedOf, refundStatus, totalsOf } from './stripe.outcome.js';

const untold: PaymentTotals = { authorizedAmountAtom: 0, capturedAmountAtom: 0, refundedAmountAtom: 0, voided: false, disputed: false };

export function toldRefund(refund: RefundAnswer): ToldRefund {
  return {
    processorRefundId: refund.id,
    reference: refund.metadata[referenceKey] ?? null,
    amountAtom: refund.amount,
    status: refundStatus(refund),
    failureMessage: refund.failure_reason ?? null,
  };
}

/** An inquiry counts as a dispute; closed without one it is won, because no money moved. */
export function toldDispute(dispute: DisputeAnswer): ToldDispute {
  const lost = dispute.status === 'lost';
  const won = dispute.status === 'won' || dispute.status === 'warning_closed' || dispute.status === 'prevented';
  return {
    processorDisputeId: dispute.id,
    reason: dispute.reason ?? null,
    amountAtom: dispute.amount,
    status: lost ? 'lost' : won ? 'won' : 'open',
  };
}

function madeOf(refunds: RefundAnswer[]): ToldRefund[] {
  return refunds.filter((refund) => !isRelease(refund)).map(toldRefund);
}

export function toldIntent(intent: IntentAnswer, refunds: RefundAnswer[], disputes: DisputeAnswer[]): ToldPayment {
  const reference = intent.metadata[referenceKey] ?? null;
  return {
    reference,
    processorPaymentId: intent.id,
    amountAtom: intent.amount,
    currency: intent.currency,
    outcome: reference ? paymentOutcome(intent, { reference }) : { ...unknownOutcome('Not made here.'), processorPaymentId: intent.id },
    totals: totalsOf(intent),
    refunds: madeOf(refunds),
    disputes: disputes.map(toldDispute),
    createdAt: new Date(intent.created * 1_000).toISOString(),
  };
}

/** The refunds that an expanded charge carries; null where there are more than it shows. */
export function refundsOf(intent: IntentAnswer): RefundAnswer[] | null {
  const charge = chargeOf(intent);
  if (!charge || charge.amount_refunded === 0 || !charge.refunds) return charge && charge.amount_refunded > 0 ? null : [];
  return charge.refunds.has_more ? null : charge.refunds.data;
}

/** A charge tells what was captured and refunded, and nothing about how its attempt ended. Null: it belongs to no PaymentIntent. */
export function toldCharge(charge: ChargeAnswer): ToldPayment | null {
  const processorPaymentId = idOf(charge.payment_intent);
  if (!processorPaymentId) return null;
  return {
    ...aside(processorPaymentId, charge.currency),
    reference: charge.metadata[referenceKey] ?? null,
    totals: {
      authorizedAmountAtom: charge.amount,
      capturedAmountAtom: charge.amount_captured,
      refundedAmountAtom: refundedOf(charge),
      voided: false,
      disputed: charge.disputed,
    },
    refunds: madeOf(charge.refunds?.data ?? []),
    createdAt: new Date(charge.created * 1_000).toISOString(),
  };
}

export function toldByRefund(refund: RefundAnswer): ToldPayment | null {
  const processorPaymentId = idOf(refund.payment_intent);
  return processorPaymentId && !isRelease(refund) ? { ...aside(processorPaymentId, refund.currency), refunds: [toldRefund(refund)] } : null;
}

export function toldByDispute(dispute: DisputeAnswer): ToldPayment | null {
  const processorPaymentId = idOf(dispute.payment_intent);
  if (!processorPaymentId) return null;
  return { ...aside(processorPaymentId, dispute.currency), totals: { ...untold, disputed: true }, disputes: [toldDispute(dispute)] };
}

/** A payment of which only something beside it was told. */
function aside(processorPaymentId: string, currency: string): ToldPayment {
  return {
    reference: null,
    processorPaymentId,
    amountAtom: null,
    currency,
    outcome: { ...unknownOutcome('Says nothing about the attempt.'), processorPaymentId },
    totals: untold,
    refunds: [],
    disputes: [],
    createdAt: null,
  };
}
