import { newId } from '../db/mint.js';
import { paymentHistory } from '../db/payment-context.queries.js';
import { intentOf } from '../db/payment.queries.js';
import { wakePayment } from '../db/payment.writes.js';
import { chargeToldOf, connectionById } from '../db/processor-callback.queries.js';
import { insertCallback } from '../db/processor-callback.writes.js';
import type { ChargeRow, PaymentIntentRow, PaymentProcessorRow, ProcessorCallbackRow } from '../db/schema/index.js';
import { DomainError, notFound } from '../errors/domain-error.js';
import type { CallbackAnswer, InboundCallback, ToldPayment } from '../processors/port.js';
import { tellsNothingNew } from './callback-move.js';
import { openConnection } from './connection-cache.js';
import type { HeldCallback, HeldPayment } from './held-payment.js';
import type { PaymentDeps } from './payment.deps.js';

type Accepted = Extract<CallbackAnswer, { kind: 'accepted' }>;

/**
 * Verifies what a processor posted and stores it, with the payment woken, in one transaction; it is applied later by
 * whoever holds the payment's lease. The same event again changes nothing.
 * @returns the payment that somebody must take on now, as it was before; null if none has to, or its holder does.
 * @throws DomainError 404 for an unknown connection, 401 `callback_refused` for a bad or stale signature: nothing is stored.
 */
export async function receiveCallback(deps: PaymentDeps, processorId: string, callback: InboundCallback): Promise<PaymentIntentRow | null> {
  const row = await connectionById(deps.db, processorId);
  if (!row || !deps.processors.supports(row.kind)) throw notFound('payment processor');
  const answer = deps.processors.processorFor(row.kind).parseCallback(openConnection(row, deps), callback);
  if (answer.kind === 'refused') throw new DomainError('callback_refused', `The callback is refused: ${answer.reason}.`);
  return store(deps, { row, answer: storable(answer), callback });
}

interface Storing {
  row: PaymentProcessorRow;
  answer: Accepted;
  callback: InboundCallback;
}

async function store(deps: PaymentDeps, { row, answer, callback }: Storing): Promise<PaymentIntentRow | null> {
  const charge = answer.payment ? await chargeToldOf(deps.db, row.id, answer.payment) : null;
  const intent = charge && (await intentOf(deps.db, charge.accountId, charge.paymentIntentId));
  const old = !charge || !intent || !answer.payment || (await isOld(deps, { intent, charge, payment: answer.payment }));
  const stored = rowOf(deps, { row, answer, callback }, charge);
  const result = answer.payment && !charge ? 'not_ours' : 'nothing_new';
  return deps.db.transaction(async (tx) => {
    const inserted = await insertCallback(tx, old ? { ...stored, appliedAt: stored.receivedAt, result } : stored);
    if (!inserted || old) return null;
    const held = await wakePayment(tx, intent.id);
    return held ? null : intent;
  });
}

interface About {
  intent: PaymentIntentRow;
  charge: ChargeRow;
  payment: ToldPayment;
}

/** Most callbacks tell what the answer has told before: those of a payment at rest need nobody. */
async function isOld(deps: PaymentDeps, { intent, charge, payment }: About): Promise<boolean> {
  if (!intent.settled) return false;
  const history = await paymentHistory(deps.db, intent.id);
  const waiting = history.callbacks as unknown as HeldCallback[];
  const lease = { intentId: intent.id, token: 0, confirmedAt: 0, lost: true };
  const origin = { actor: 'system', requestId: null, idempotencyKey: null, clockTime: null };
  const read: HeldPayment = {
    ...history, callbacks: waiting, intent, lease, origin, clock: Date.now, lookupOffsets: deps.lookupOffsets, kinds: new Map(), released: false, footing: null,
  };
  return waiting.length === 0 && tellsNothingNew(read, { chargeId: charge.id, payment }, deps.environment);
}

function rowOf(deps: PaymentDeps, { row, answer, callback }: Storing, charge: ChargeRow | null): ProcessorCallbackRow {
  const id = newId();
  const place = { table: 'processor_callbacks', column: 'body_sealed', row: id };
  return {
    id,
    accountId: row.accountId,
    processorId: row.id,
    eventId: answer.eventId,
    eventType: answer.eventType,
    bodySealed: deps.secrets.seal(Buffer.from(callback.body).toString('base64'), place),
    payment: answer.payment as unknown as Record<string, unknown> | null,
    paymentIntentId: charge?.paymentIntentId ?? null,
    chargeId: charge?.id ?? null,
    receivedAt: new Date(callback.receivedAt),
    appliedAt: null,
    result: null,
  };
}

/** Postgres holds neither NUL nor lone surrogates; the sealed body has the bytes as they came. */
function storable(answer: Accepted): Accepted {
  const text = JSON.stringify(answer, (_key, value: unknown) => (typeof value === 'string' ? value.toWellFormed().replaceAll('\0', '') : value));
  return JSON.parse(text) as Accepted;
}
