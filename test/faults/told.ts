import { createHash } from 'node:crypto';
import type { Told } from './records.js';

/** The part of a published object that the rules compare. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any
export function toldBy(data: any): Told {
  return {
    id: data.id,
    object: data.object ?? '',
    status: data.status ?? null,
    outcome: data.outcome_class ?? null,
    amounts: amountsOf(data),
    processorPaymentId: data.processor_payment_intent_id ?? data.processor_payment_id ?? null,
    processorRefundId: data.processor_refund_id ?? null,
    outOfBand: data.refunded_out_of_band === true,
  };
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any
function amountsOf(data: any): Told['amounts'] {
  switch (data.object) {
    case 'payment_intent':
      return { amount: data.amount_atom, received: data.amount_atom_received, refunded: data.amount_atom_refunded, capturable: data.amount_atom_capturable };
    case 'charge':
      return { amount: data.amount_atom, authorized: data.amount_atom_authorized, captured: data.amount_atom_captured, refunded: data.refunded_amount_atom };
    case 'refund':
      return { amount: data.amount_atom };
    default:
      return {};
  }
}

export function digestOf(body: string): string {
  return createHash('sha256').update(body).digest('base64url').slice(0, 22);
}
