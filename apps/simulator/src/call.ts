import { createHash } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { setTimeout as wait } from 'node:timers/promises';
import { isSimulatorOutcome, type SimulatorOutcome } from '../../../libs/processors/simulator/simulator-outcome.js';
import type { Book } from './book.js';
import type { Answer, Cause, LedgerFact } from './ledger-entry.js';

/** A refusal in the simulator's own format; nothing was created. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

export interface Call {
  book: Book;
  request: FastifyRequest;
  reply: FastifyReply;
  connection: string;
  reference: string;
  key: string | null;
  /** Hash of what the caller asked for, to compare repetitions of a key. */
  hash: string;
  /** The outcome asked for by name; null leaves it to the card. */
  asked: SimulatorOutcome | null;
}

const inFlight = new WeakMap<Book, Set<string>>();
const longestHang = 120_000;

export function openCall(book: Book, request: FastifyRequest, reply: FastifyReply, reference: string, asks: unknown): Call {
  const asked = request.headers['x-simulate'];
  if (asked !== undefined && !isSimulatorOutcome(asked)) throw new Refusal(422, 'unknown_outcome', 'no such simulated outcome');
  return {
    book,
    request,
    reply,
    connection: connectionOf(request),
    reference,
    key: keyOf(request),
    hash: createHash('sha256').update(`${request.url}\n${JSON.stringify(asks)}`).digest('hex'),
    asked: asked ?? null,
  };
}

/** Every connection is a merchant of its own, named by its token. */
export function connectionOf(request: FastifyRequest): string {
  const match = /^Bearer ([\w-]{1,64})$/.exec(request.headers.authorization ?? '');
  if (!match) throw new Refusal(401, 'misconfigured', 'no merchant token');
  return match[1]!;
}

function keyOf(request: FastifyRequest): string | null {
  const key = request.headers['idempotency-key'];
  return typeof key === 'string' && key.length > 0 ? key : null;
}

/**
 * Runs one call: a known key is answered again; then whatever the outcome does before the effect; the effect, which
 * records its fact and returns the answer; then whatever the outcome does after it. Nothing is answered before the
 * ledger is on disk.
 */
export async function perform(call: Call, outcome: SimulatorOutcome, effect: (cause: (answer: Answer) => Cause) => Answer): Promise<unknown> {
  const repeated = call.book.causeOf(call.connection, call.key);
  if (repeated) {
    if (repeated.cause.request !== call.hash || !repeated.cause.answer) throw new Refusal(409, 'idempotency_key_reused', 'the key was used before');
    return send(call, repeated.cause.answer);
  }
  return alone(call, async () => {
    if (outcome === 'delay_5s') await wait(5_000);
    if (await stopsBefore(call, outcome)) return call.reply;
    const answer = effect((body) => ({ key: call.key, request: call.hash, answer: body }));
    return respond(call, outcome, answer);
  });
}

async function alone<T>(call: Call, run: () => Promise<T>): Promise<T> {
  if (call.key === null) return run();
  const running = inFlight.get(call.book) ?? new Set<string>();
  inFlight.set(call.book, running);
  const name = `${call.connection}\n${call.key}`;
  if (running.has(name)) throw new Refusal(409, 'idempotency_key_in_use', 'a request with this key is running');
  running.add(name);
  try {
    return await run();
  } finally {
    running.delete(name);
  }
}

async function stopsBefore(call: Call, outcome: SimulatorOutcome): Promise<boolean> {
  const refusal = refusals[outcome];
  if (!refusal && outcome !== 'timeout_before_charge' && outcome !== 'error_before_charge') return false;
  noteWithoutEffect(call, outcome);
  await call.book.durable();
  if (refusal) throw refusal;
  if (outcome === 'timeout_before_charge') await hang(call);
  else await call.reply.code(500).send({ error: { code: 'internal', message: 'simulated failure' } });
  return true;
}

const refusals: Partial<Record<SimulatorOutcome, Refusal>> = {
  processing_error: new Refusal(422, 'processing_error', 'the simulator refused; nothing was created'),
  misconfigured: new Refusal(401, 'misconfigured', 'these credentials are refused'),
  rate_limited: new Refusal(429, 'rate_limited', 'too many requests; nothing was created'),
};

function noteWithoutEffect(call: Call, outcome: SimulatorOutcome): void {
  const fact: LedgerFact = { type: 'without_effect', connection: call.connection, reference: call.reference, path: call.request.url, outcome };
  call.book.record(fact);
}

async function respond(call: Call, outcome: SimulatorOutcome, answer: Answer): Promise<unknown> {
  await call.book.durable();
  if (outcome === 'timeout_after_charge') return hang(call);
  if (outcome === 'error_after_charge') return call.reply.code(500).send({ error: { code: 'internal', message: 'simulated failure' } });
  if (outcome === 'malformed_answer') return call.reply.code(200).type('text/html').send('<html><body>Bad gateway');
  return send(call, answer);
}

async function send(call: Call, answer: Answer): Promise<unknown> {
  await call.book.durable();
  return call.reply.code(answer.status).send(answer.body);
}

/** Never answers: waits until the caller hangs up, and lets go after two minutes. The key is free meanwhile. */
async function hang(call: Call): Promise<unknown> {
  call.reply.hijack();
  const { socket } = call.request.raw;
  const timer = setTimeout(() => socket.destroy(), longestHang);
  socket.once('close', () => clearTimeout(timer));
  return call.reply;
}
