import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import type { Book } from './book.js';
import { Refusal } from './call.js';
import { answerChallenge } from './payment.rules.js';
import { parse } from './payment.routes.js';

const answer = z.object({ result: z.enum(['passed', 'failed']) });
type Path = { Params: { id: string } };

const page = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Simulated bank</title>
<h1>Simulated bank</h1><p>Is it you who pays?</p>
<form method="post"><button name="result" value="passed">Yes, pay</button> <button name="result" value="failed">No, refuse</button></form></html>`;

/** Where a customer answers a challenge; scripts may post JSON. Answering twice changes nothing. */
export function challengeRoutes(app: FastifyInstance, book: Book): void {
  app.addContentTypeParser('application/x-www-form-urlencoded', { parseAs: 'string' }, (_request, body, done) => {
    done(null, Object.fromEntries(new URLSearchParams(body as string)));
  });

  app.get<Path>('/challenges/:id', async (request, reply) => {
    challenged(book, request.params.id);
    return reply.type('text/html').send(page);
  });

  app.post<Path>('/challenges/:id', async (request, reply) => {
    const { result } = parse(answer, request.body);
    const payment = challenged(book, request.params.id);
    if (payment.status === 'requires_action') {
      book.record({ type: 'payment_changed', reason: 'challenge', record: answerChallenge(payment, result === 'passed') });
    }
    await book.durable();
    if (payment.return_url) return reply.redirect(payment.return_url, 303);
    return { id: payment.id, status: book.payments.get(payment.id)!.status };
  });
}

function challenged(book: Book, id: string) {
  const payment = book.payments.get(id);
  if (!payment || payment.outcome !== 'challenge') throw new Refusal(404, 'unknown_payment', 'no such challenge');
  return payment;
}
