import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { testCardOf, type TestCard } from '../../../libs/processors/simulator/test-card.js';
import { fingerprintOf, type Book } from './book.js';
import { openCall, perform, Refusal } from './call.js';
import type { MethodRecord, VerificationRecord } from './ledger-entry.js';
import { mint } from './mint.js';
import { isDecline } from './payment.rules.js';
import { parse } from './payment.routes.js';

const newMethod = z.object({
  card: z.object({
    number: z.string().max(32),
    exp_month: z.int().min(1).max(12),
    exp_year: z.int().min(2000).max(2100),
    cvc: z.string().regex(/^\d{3,4}$/),
  }),
});

const verification = z.object({
  reference: z.string().min(1).max(255),
  payment_method: z.string(),
  amount: z.int().min(0),
  currency: z.string().regex(/^[a-z]{3}$/),
});

/** Tokenising and authorising cards. One vault serves every connection, as with one provider's several merchants. */
export function methodRoutes(app: FastifyInstance, book: Book): void {
  app.post('/v1/payment-methods', async (request, reply) => {
    const { card } = parse(newMethod, request.body);
    const known = testCardOf(card.number);
    if (!known) throw new Refusal(422, 'unknown_card', 'not a test card of the simulator');
    if (hasExpired(card)) throw new Refusal(402, 'expired_card', 'the card has expired');
    const fingerprint = fingerprintOf(card.number);
    const call = openCall(book, request, reply, '', fingerprint);
    const earlier = book.causeOf(call.connection, call.key);
    if (earlier?.fact.type === 'payment_method' && earlier.cause.request === call.hash) {
      await book.durable();
      return reply.code(201).send(methodBody(earlier.fact.record, known, card));
    }
    return perform(call, call.asked ?? 'approved', (cause) => {
      const last4 = card.number.slice(-4);
      const record: MethodRecord = { id: mint('sim_pm'), connection: call.connection, brand: known.brand, last4, fingerprint };
      const answer = { status: 201, body: methodBody(record, known, card) };
      book.record({ type: 'payment_method', record, cause: { ...cause(answer), answer: null } });
      return answer;
    });
  });

  app.post('/v1/verifications', async (request, reply) => {
    const asked = parse(verification, request.body);
    const call = openCall(book, request, reply, asked.reference, asked);
    const method = book.method(asked.payment_method);
    if (!method) throw new Refusal(404, 'unknown_payment_method', 'no such payment method');
    const outcome = call.asked ?? book.cardOf(method).atAuthorisation;
    return perform(call, outcome, (cause) => {
      const approved = !isDecline(outcome);
      const record: VerificationRecord = { id: mint('sim_ver'), connection: call.connection, ...asked, approved };
      const { reference, amount, currency } = asked;
      const body = approved
        ? { object: 'verification', id: record.id, reference, amount, currency, network_transaction_id: mint('ntid') }
        : { error: { code: outcome, message: 'the card was declined' } };
      const answer = { status: approved ? 201 : 402, body };
      book.record({ type: 'verification', record, cause: cause(answer) });
      return answer;
    });
  });
}

interface Expiry {
  exp_month: number;
  exp_year: number;
}

function hasExpired(card: Expiry): boolean {
  return Date.now() >= Date.UTC(card.exp_year, card.exp_month, 1);
}

function methodBody(method: MethodRecord, known: TestCard, expiry: Expiry): object {
  return {
    object: 'payment_method',
    id: method.id,
    card: {
      brand: method.brand,
      last4: method.last4,
      iin: known.number.slice(0, 6),
      exp_month: expiry.exp_month,
      exp_year: expiry.exp_year,
      funding: known.funding,
      country: 'US',
      issuer: 'Simulated Bank',
      fingerprint: method.fingerprint,
    },
  };
}
