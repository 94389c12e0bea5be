import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { SimulatorOutcome } from '../../../libs/processors/simulator/simulator-outcome.js';
import type { Book } from './book.js';
import { openCall, perform, Refusal, type Call } from './call.js';
import type { OperationRecord, PaymentRecord } from './ledger-entry.js';
import { mint } from './mint.js';
import { operationBody } from './payment.answer.js';
import { afterwards, statusOf } from './payment.changes.js';
import { isDecline } from './payment.rules.js';
import { originOf, parse } from './payment.routes.js';

const part = z.object({ reference: z.string().min(1).max(255), amount: z.int().min(1), currency: z.string().regex(/^[a-z]{3}$/) });
const cancel = z.object({
  reference: z.string().min(1).max(255),
  payment: z.string().nullable(),
  payment_reference: z.string().min(1).max(255),
});

type Plan = Pick<OperationRecord, 'kind' | 'payment' | 'payment_reference' | 'amount' | 'currency'>;

/** What may still be refunded: neither given back nor about to be. */
export function refundable(book: Book, payment: PaymentRecord): number {
  const underWay = book.refundsOf(payment.id).filter((refund) => statusOf(refund) === 'pending');
  return payment.amount_captured - payment.amount_refunded - underWay.reduce((sum, refund) => sum + refund.amount, 0);
}

/** Capture, void, refund. `settleMs`: how long a refund stays pending that was asked to. */
export function operationRoutes(app: FastifyInstance, book: Book, settleMs: number): void {
  app.post<{ Params: { id: string } }>('/v1/payments/:id/capture', async (request, reply) => {
    const asked = parse(part, request.body);
    const call = openCall(book, request, reply, asked.reference, asked);
    return operate(call, settleMs, () => {
      const payment = paymentOf(call, request.params.id, asked.currency);
      if (payment.status !== 'authorized') throw new Refusal(422, 'not_capturable', `the payment is ${payment.status}`);
      if (asked.amount > payment.amount_authorized) throw new Refusal(422, 'amount_too_large', 'more than was authorised');
      return { kind: 'capture', payment: payment.id, payment_reference: payment.reference, amount: asked.amount, currency: asked.currency };
    });
  });

  app.post<{ Params: { id: string } }>('/v1/payments/:id/refunds', async (request, reply) => {
    const asked = parse(part, request.body);
    const call = openCall(book, request, reply, asked.reference, asked);
    return operate(call, settleMs, () => {
      const payment = paymentOf(call, request.params.id, asked.currency);
      if (payment.status !== 'captured') throw new Refusal(422, 'not_refundable', `the payment is ${payment.status}`);
      if (asked.amount > refundable(book, payment)) throw new Refusal(422, 'amount_too_large', 'more than is left');
      return { kind: 'refund', payment: payment.id, payment_reference: payment.reference, amount: asked.amount, currency: asked.currency };
    });
  });

  app.post('/v1/voids', async (request, reply) => {
    const asked = parse(cancel, request.body);
    const call = openCall(book, request, reply, asked.reference, asked);
    return operate(call, settleMs, () => {
      const payment = asked.payment ? paymentOf(call, asked.payment, null) : strongest(book.paymentsByReference(call.connection, asked.payment_reference));
      if (payment?.status === 'captured') throw new Refusal(422, 'not_voidable', 'the payment is captured; refund it');
      const known = payment ? { payment: payment.id, currency: payment.currency } : { payment: null, currency: null };
      return { kind: 'void', payment_reference: asked.payment_reference, amount: payment?.amount_authorized ?? 0, ...known };
    });
  });
}

function strongest(payments: PaymentRecord[]): PaymentRecord | null {
  return payments.find((payment) => payment.status === 'captured') ?? payments.find((payment) => payment.status !== 'declined') ?? payments.at(-1) ?? null;
}

function paymentOf(call: Call, id: string, currency: string | null): PaymentRecord {
  const payment = call.book.payments.get(id);
  if (!payment || payment.connection !== call.connection) throw new Refusal(404, 'unknown_payment', 'no such payment');
  if (currency !== null && payment.currency !== currency) throw new Refusal(422, 'invalid_request', 'the payment has another currency');
  return payment;
}

function operate(call: Call, settleMs: number, plan: () => Plan): Promise<unknown> {
  const outcome = call.asked ?? 'approved';
  return perform(call, outcome, (cause) => {
    if (isDecline(outcome)) throw new Refusal(402, outcome, 'the operation was declined');
    const planned = plan();
    const record: OperationRecord = { id: mint('sim_op'), connection: call.connection, reference: call.reference, ...planned, ...takingTime(planned, outcome, settleMs) };
    const payment = planned.payment === null ? null : call.book.payments.get(planned.payment)!;
    const after = payment && statusOf(record) === 'succeeded' ? afterwards(payment, planned) : payment;
    const answer = { status: 201, body: operationBody(record, after, originOf(call.request)) };
    call.book.record({ type: 'operation', record, cause: cause(answer) });
    return answer;
  });
}

/** Only refunds take their time. */
function takingTime({ kind }: Plan, outcome: SimulatorOutcome, settleMs: number): Pick<OperationRecord, 'status' | 'settles'> {
  const ends = { pending_then_approved: 'succeeded', pending_then_declined: 'failed' } as const;
  const to = outcome === 'pending_then_approved' || outcome === 'pending_then_declined' ? ends[outcome] : null;
  return kind === 'refund' && to ? { status: 'pending', settles: { at: Date.now() + settleMs, to } } : {};
}
