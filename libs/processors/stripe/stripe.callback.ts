import { Stripe } from 'stripe';
import type { CallbackAnswer, Connection, InboundCallback, ToldPayment } from '../port.js';
import { chargeAnswer, disputeAnswer, eventAnswer, intentAnswer, refundAnswer } from './stripe.answer.js';
import { toldByDispute, toldByRefund, toldCharge, toldIntent } from './stripe.told.js';

/** Seconds that a signature may be old. Source: docs.stripe.com/webhooks/signature. */
const toleranceSeconds = 300;

const notAnEvent = 'the body is not an event of Stripe';

type Reader = (object: unknown) => ToldPayment | null;

const fromIntent: Reader = (object) => toldIntent(intentAnswer.parse(object), [], []);
const fromCharge: Reader = (object) => toldCharge(chargeAnswer.parse(object));
const fromRefund: Reader = (object) => toldByRefund(refundAnswer.parse(object));
const fromDispute: Reader = (object) => toldByDispute(disputeAnswer.parse(object));

/** Events that are read; of all others only the id is kept. */
const readers: Record<string, Reader> = {
  'payment_intent.succeeded': fromIntent,
  'payment_intent.payment_failed': fromIntent,
  'payment_intent.processing': fromIntent,
  'payment_intent.requires_action': fromIntent,
  'payment_intent.amount_capturable_updated': fromIntent,
  'payment_intent.canceled': fromIntent,
  'charge.refunded': fromCharge,
  'charge.refund.updated': fromRefund,
  'refund.created': fromRefund,
  'refund.updated': fromRefund,
  'refund.failed': fromRefund,
  'charge.dispute.created': fromDispute,
  'charge.dispute.updated': fromDispute,
  'charge.dispute.closed': fromDispute,
  'charge.dispute.funds_withdrawn': fromDispute,
  'charge.dispute.funds_reinstated': fromDispute,
};

/** Verified by Stripe's own library, with the endpoint's secret or, while it is being changed, the one before. */
export function parseStripeCallback(connection: Connection, { headers, body, receivedAt }: InboundCallback): CallbackAnswer {
  const secrets = [connection.credentials?.webhook_secret, connection.credentials?.previous_webhook_secret].filter((secret) => secret !== undefined);
  if (secrets.length === 0) return { kind: 'refused', reason: 'the connection has no `webhook_secret`' };
  let reason = '';
  for (const secret of secrets) {
    const verified = verify({ body, signature: headers['stripe-signature'] ?? '', secret, receivedAt });
    if ('event' in verified) return read(verified.event);
    reason ||= verified.refused;
  }
  return { kind: 'refused', reason };
}

interface Signed {
  body: Uint8Array;
  signature: string;
  secret: string;
  receivedAt: number;
}

function verify({ body, signature, secret, receivedAt }: Signed): { event: unknown } | { refused: string } {
  try {
    return { event: Stripe.webhooks.constructEvent(Buffer.from(body), signature, secret, toleranceSeconds, undefined, receivedAt) };
  } catch (error) {
    const signed = error instanceof Stripe.errors.StripeSignatureVerificationError;
    return { refused: signed ? error.message.split(/[.\n]/)[0]!.trim() : notAnEvent };
  }
}

function read(body: unknown): CallbackAnswer {
  const event = eventAnswer.safeParse(body);
  if (!event.success) return { kind: 'refused', reason: notAnEvent };
  const { id, type, data } = event.data;
  try {
    return { kind: 'accepted', eventId: id, eventType: type, payment: readers[type]?.(data.object) ?? null };
  } catch {
    return { kind: 'refused', reason: `the ${type} is not in the shape that this version reads` };
  }
}
