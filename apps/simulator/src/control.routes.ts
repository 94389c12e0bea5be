import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Book } from './book.js';
import { Refusal } from './call.js';
import type { OperationRecord, PaymentRecord } from './ledger-entry.js';
import { mint } from './mint.js';
import { refundable } from './operation.routes.js';
import { toldBody } from './payment.answer.js';
import { openDispute, statusOf } from './payment.changes.js';
import { originOf, parse } from './payment.routes.js';

const amount = z.int().min(1).optional();
const refund = z.strictObject({ amount, settles: z.enum(['succeeded', 'failed']).optional() });
const capture = z.strictObject({ amount });
const dispute = z.strictObject({ amount, reason: z.string().max(100).optional() });
const disputeEnd = z.strictObject({ status: z.enum(['won', 'lost']) });
const refundEnd = z.strictObject({ status: z.literal('failed'), failure_message: z.string().max(200).optional() });

type Path = { Params: { id: string } };

/** What people do at a provider, in its own dashboard or by mail: no merchant's request asked for it. Each answers the payment. */
export function controlRoutes(app: FastifyInstance, book: Book, settleMs: number): void {
  const answer = async (id: string, request: Parameters<typeof originOf>[0]) => {
    await book.durable();
    return toldBody(book, book.payments.get(id)!, originOf(request));
  };

  app.post<Path>('/control/payments/:id/refunds', async (request) => {
    const asked = parse(refund, request.body ?? {});
    const payment = known(book.payments.get(request.params.id), 'payment');
    const wanted = asked.amount ?? refundable(book, payment);
    if (payment.status !== 'captured' || wanted < 1 || wanted > refundable(book, payment)) throw new Refusal(422, 'amount_too_large', 'more than is left');
    const time = asked.settles ? { status: 'pending' as const, settles: { at: Date.now() + settleMs, to: asked.settles } } : {};
    record(book, { ...operationOf(payment, 'refund', wanted), ...time });
    return answer(payment.id, request);
  });

  app.post<Path>('/control/payments/:id/capture', async (request) => {
    const asked = parse(capture, request.body ?? {});
    const payment = known(book.payments.get(request.params.id), 'payment');
    const wanted = asked.amount ?? payment.amount_authorized;
    if (payment.status !== 'authorized' || wanted > payment.amount_authorized) throw new Refusal(422, 'not_capturable', `the payment is ${payment.status}`);
    record(book, operationOf(payment, 'capture', wanted));
    return answer(payment.id, request);
  });

  app.post<Path>('/control/payments/:id/void', async (request) => {
    const payment = known(book.payments.get(request.params.id), 'payment');
    if (payment.status === 'captured' || payment.status === 'declined') throw new Refusal(422, 'not_voidable', `the payment is ${payment.status}`);
    record(book, operationOf(payment, 'void', payment.amount_authorized));
    return answer(payment.id, request);
  });

  app.post<Path>('/control/payments/:id/disputes', async (request) => {
    const asked = parse(dispute, request.body ?? {});
    const payment = known(book.payments.get(request.params.id), 'payment');
    if (payment.status !== 'captured') throw new Refusal(422, 'invalid_request', `the payment is ${payment.status}`);
    const details = { amount: asked.amount ?? payment.amount_captured, reason: asked.reason ?? 'fraudulent' };
    book.record({ type: 'dispute', record: openDispute(payment, details) });
    return answer(payment.id, request);
  });

  app.post<Path>('/control/disputes/:id', async (request) => {
    const { status } = parse(disputeEnd, request.body ?? {});
    const found = known(book.disputes.get(request.params.id), 'dispute');
    if (found.status !== status) book.record({ type: 'dispute', record: { ...found, status } });
    return answer(found.payment, request);
  });

  app.post<Path>('/control/refunds/:id', async (request) => {
    const asked = parse(refundEnd, request.body ?? {});
    const found = known(book.operationById.get(request.params.id), 'refund');
    if (found.kind !== 'refund' || found.payment === null) throw new Refusal(422, 'invalid_request', 'not a refund');
    const failure_message = asked.failure_message ?? 'The bank account of the card is closed.';
    if (statusOf(found) !== 'failed') book.record({ type: 'operation_changed', record: { ...found, status: 'failed', settles: null, failure_message } });
    return answer(found.payment, request);
  });
}

function known<T>(found: T | undefined, what: string): T {
  if (!found) throw new Refusal(404, 'unknown_payment', `no such ${what}`);
  return found;
}

function operationOf(payment: PaymentRecord, kind: OperationRecord['kind'], wanted: number): OperationRecord {
  return {
    id: mint('sim_op'), connection: payment.connection, kind, reference: '', payment: payment.id, payment_reference: payment.reference,
    amount: wanted, currency: payment.currency, out_of_band: true,
  };
}

function record(book: Book, operation: OperationRecord): void {
  book.record({ type: 'operation', record: operation, cause: { key: null, request: '', answer: null } });
}
