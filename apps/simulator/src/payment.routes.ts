import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { isSimulatorOutcome } from '../../../libs/processors/simulator/simulator-outcome.js';
import type { Book } from './book.js';
import { connectionOf, openCall, perform, Refusal } from './call.js';
import { operationBody, paymentAnswerOf, paymentBody, toldBody } from './payment.answer.js';
import { paymentFor } from './payment.rules.js';

const reference = z.string().min(1).max(255);

const charge = z.object({
  reference,
  amount: z.int().min(1),
  currency: z.string().regex(/^[a-z]{3}$/),
  capture: z.enum(['automatic', 'manual']),
  payment_method: z.string(),
  off_session: z.boolean(),
  return_url: z.string().nullable(),
  callback_url: z.string().nullable(),
  metadata: z.record(z.string(), z.string()),
});

const paymentQuery = z.object({
  reference: reference.optional(),
  after: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(100),
});
const operationQuery = z.object({ reference, kind: z.enum(['capture', 'void', 'refund']) });

export function parse<T extends z.ZodType>(schema: T, value: unknown): z.infer<T> {
  const parsed = schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new Refusal(422, 'invalid_request', `invalid ${parsed.error.issues[0]?.path.join('.') || 'body'}`);
}

export function originOf(request: FastifyRequest): string {
  return `http://${request.headers.host ?? '127.0.0.1'}`;
}

/** Charges and reads. */
export function paymentRoutes(app: FastifyInstance, book: Book, settleMs: number): void {
  app.post('/v1/payments', async (request, reply) => {
    const asked = parse(charge, request.body);
    const call = openCall(book, request, reply, asked.reference, asked);
    const method = book.method(asked.payment_method);
    if (!method) throw new Refusal(404, 'unknown_payment_method', 'no such payment method');
    const card = book.cardOf(method);
    const outcome = call.asked ?? card.atCharge;
    return perform(call, outcome, (cause) => {
      if (book.isClosed(call.connection, asked.reference)) throw new Refusal(422, 'reference_cancelled', 'this reference was cancelled');
      const record = paymentFor(call.connection, asked, outcome, card, { now: Date.now(), settleMs });
      const answer = paymentAnswerOf(record, originOf(request));
      book.record({ type: 'payment', record, cause: cause(answer) });
      return answer;
    });
  });

  app.get('/v1/payments', async (request) => {
    const connection = connectionOf(request);
    const query = parse(paymentQuery, request.query);
    const all = query.reference ? book.paymentsByReference(connection, query.reference) : book.paymentsOf(connection);
    const from = query.after ? all.findIndex((payment) => payment.id === query.after) + 1 : 0;
    const page = all.slice(from, from + query.limit);
    await book.durable();
    return { data: page.map((payment) => paymentBody(payment, originOf(request))), has_more: from + page.length < all.length };
  });

  app.get('/v1/operations', async (request) => {
    const connection = connectionOf(request);
    const query = parse(operationQuery, request.query);
    const found = book.operations(connection, query.reference).filter((operation) => operation.kind === query.kind);
    await book.durable();
    return {
      data: found.map((operation) => {
        const payment = operation.payment === null ? null : book.payments.get(operation.payment)!;
        return operationBody(operation, payment, originOf(request));
      }),
    };
  });
}

const reportQuery = z.object({
  since: z.iso.datetime({ offset: true }),
  until: z.iso.datetime({ offset: true }),
  after: z.string().optional(),
  limit: z.coerce.number().int().min(1).max(1000).default(200),
});

/** Payments that were made from `since` up to `until`, oldest first, with all that belongs to them; `next` asks for the next page. */
export function reportRoutes(app: FastifyInstance, book: Book): void {
  app.get('/v1/reports/payments', async (request) => {
    const connection = connectionOf(request);
    const { since, until, after, limit } = parse(reportQuery, request.query);
    const [from, to] = [Date.parse(since), Date.parse(until)];
    const made = (id: string) => Date.parse(book.createdAt.get(id)!);
    const all = book.paymentsOf(connection).filter(({ id }) => made(id) >= from && made(id) < to);
    const start = after ? all.findIndex(({ id }) => id === after) + 1 : 0;
    const page = all.slice(start, start + limit);
    await book.durable();
    const next = start + page.length < all.length ? page.at(-1)!.id : null;
    return { data: page.map((payment) => toldBody(book, payment, originOf(request))), next };
  });
}

/** For tests and the curious: every entry, or those of one reference, and the payments they add up to. */
export function ledgerRoutes(app: FastifyInstance, book: Book): void {
  const query = z.object({
    reference: z.string().optional(),
    connection: z.string().optional(),
    outcome: z.string().refine(isSimulatorOutcome).optional(),
  });
  app.get('/ledger', async (request) => {
    const asked = parse(query, request.query);
    const mine = (connection: string) => asked.connection === undefined || asked.connection === connection;
    const entries = book.entries(asked.reference).filter((entry) => mine('record' in entry ? entry.record.connection : entry.connection));
    const ids = new Set(entries.flatMap((entry) => (entry.type === 'payment' ? [entry.record.id] : [])));
    const payments = [...ids].map((id) => book.payments.get(id)!).filter((payment) => !asked.outcome || payment.outcome === asked.outcome);
    await book.durable();
    return { data: entries.map((entry) => ('cause' in entry ? { ...entry, cause: { key: entry.cause.key } } : entry)), payments };
  });
}
