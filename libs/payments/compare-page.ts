import { raiseAttention } from '../db/attention.writes.js';
import { transact } from '../db/change.js';
import { intentById } from '../db/payment.queries.js';
import { insertCallback } from '../db/processor-callback.writes.js';
import { newId } from '../db/mint.js';
import { wakePayment } from '../db/payment.writes.js';
import { knownCharges, type KnownCharge } from '../db/reconciliation.queries.js';
import { markReconciled } from '../db/reconciliation.writes.js';
import type { ChargeRow, ReconciliationRow } from '../db/schema/index.js';
import type { Change } from '../domain/change/change.js';
import { environmentMarker } from '../domain/environment.js';
import { agrees, claims, parseReference, type TheirSide } from '../domain/reconciliation/compare.js';
import type { LookupCall, ToldPayment } from '../processors/port.js';
import { publicId } from '../views/ids.js';
import { adoptAttempt } from './adopt-attempt.js';
import { loadPayment } from './load-payment.js';
import { tellsNothingNew } from './callback-move.js';
import type { OpenConnection } from './connection-cache.js';
import type { PaymentDeps } from './payment.deps.js';

export interface Comparing {
  run: ReconciliationRow;
  connection: OpenConnection;
}

/** What one payment's comparison led to. */
export interface Finding {
  /** `learned`: handed in, it heals by itself. `attempt_restored`: a lost attempt was made again. The others are on the attention list. */
  kind: 'learned' | 'attempt_restored' | 'difference' | 'unknown_payment';
  reference: string;
  processor_payment_id: string;
  /** Public id of the charge; null where there is none. */
  charge_id: string | null;
  /** UUID of the payment to move on; null where nothing was handed in. */
  intentId: string | null;
  detail: string | null;
}

/** Compares what a processor lists with our charges. Running it twice adds nothing. */
export async function comparePage(deps: PaymentDeps, comparing: Comparing, page: readonly ToldPayment[]): Promise<Finding[]> {
  const ours = page.filter((told) => told.reference !== null || told.processorPaymentId);
  const named = { references: ours.flatMap(({ reference }) => reference ?? []), paymentIds: ours.map((told) => told.processorPaymentId) };
  const known = await knownCharges(deps.db, comparing.connection.id, named);
  const findings: Finding[] = [];
  const agreeing: string[] = [];
  for (const told of page) {
    const charge = chargeOf(known, told);
    if (!charge) findings.push(...(await compareUnknown(deps, comparing, told)));
    else if (agrees(charge, theirSide(told))) agreeing.push(charge.id);
    else findings.push(...(await compareKnown(deps, comparing, { told, charge })));
  }
  await markReconciled(deps.db, { chargeIds: known.map(({ id }) => id), agreeing }, new Date());
  return findings;
}

function chargeOf(known: readonly KnownCharge[], told: ToldPayment): KnownCharge | undefined {
  return known.find((charge) => charge.reference === told.reference) ?? known.find((charge) => charge.processorPaymentId === told.processorPaymentId);
}

function theirSide({ amountAtom, currency, outcome, totals }: ToldPayment): TheirSide {
  return {
    amountAtom,
    currency,
    outcomeClass: outcome.outcomeClass,
    capturedAtom: totals.capturedAmountAtom,
    refundedAtom: totals.refundedAmountAtom,
    voided: totals.voided,
    disputed: totals.disputed,
  };
}

interface Pair {
  told: ToldPayment;
  charge: KnownCharge;
}

/** What may simply be learned is handed in like a callback; what only we say is asked once more, then shown to a person. */
async function compareKnown(deps: PaymentDeps, comparing: Comparing, { told, charge }: Pair): Promise<Finding[]> {
  const base = findingOf(deps, told, charge.id);
  if (!(await isKnownAlready(deps, { told, charge }))) {
    const stored = await handIn(deps, comparing, { told, charge });
    return stored ? [{ ...base, kind: 'learned', intentId: charge.paymentIntentId }] : [];
  }
  if (claims(charge, theirSide(told)).length === 0) return [];
  return raiseDifference(deps, comparing, { charge, base });
}

async function isKnownAlready(deps: PaymentDeps, { told, charge }: Pair): Promise<boolean> {
  const intent = await intentById(deps.db, charge.paymentIntentId);
  if (!intent) return true;
  const lease = { intentId: intent.id, token: -1 } as never;
  const origin = { actor: 'system', requestId: null, idempotencyKey: null, clockTime: null };
  const held = await loadPayment(deps, intent, { lease, clock: Date.now, origin });
  return tellsNothingNew(held, { chargeId: charge.id, payment: told }, deps.environment);
}

/** Stored like a callback, once per run; the payment applies it under its lease. */
async function handIn(deps: PaymentDeps, { run, connection }: Comparing, { told, charge }: Pair): Promise<boolean> {
  const id = newId();
  const sealed = deps.secrets.seal(
    Buffer.from(JSON.stringify(told)).toString('base64'),
    { table: 'processor_callbacks', column: 'body_sealed', row: id },
  );
  return transact(deps.db, systemChange(deps, run), async (tx) => {
    const stored = await insertCallback(tx, {
      id,
      accountId: run.accountId,
      processorId: connection.id,
      eventId: `reconciliation:${run.id}:${told.processorPaymentId}`,
      eventType: 'reconciliation',
      bodySealed: sealed,
      payment: told as unknown as Record<string, unknown>,
      paymentIntentId: charge.paymentIntentId,
      chargeId: charge.id,
      receivedAt: new Date(),
      appliedAt: null,
      result: null,
    });
    if (stored) await wakePayment(tx, charge.paymentIntentId);
    return stored;
  });
}

interface Doubt {
  charge: Pick<KnownCharge, 'id' | 'reference' | 'processorPaymentId'>;
  base: Finding;
}

/** The list may be older than our row: read our row, then ask the processor, and only then believe it. */
export async function raiseDifference(deps: PaymentDeps, { run, connection }: Comparing, { charge, base }: Doubt): Promise<Finding[]> {
  const now = await knownCharges(deps.db, connection.id, { references: [charge.reference], paymentIds: [] });
  const ours = now.find(({ id }) => id === charge.id);
  if (ours?.status !== 'succeeded') return [];
  const call: LookupCall = { operation: 'authorize', reference: ours.reference, processorPaymentId: ours.processorPaymentId };
  const answer = await deps.processors.processorFor(connection.kind).lookup(connection, call);
  if (answer.found === 'unknown') return [];
  const theirs = answer.found === 'yes' ? shownBy(ours, answer) : null;
  const words = theirs ? claims(ours, theirs) : ['succeeded here, not found there'];
  if (words.length === 0) return [];
  const charged = publicId('ch', deps.environment, charge.id);
  await transact(deps.db, systemChange(deps, run), (tx) =>
    raiseAttention(
      tx,
      {
        accountId: run.accountId,
        type: 'reconciliation_difference',
        kind: 'ch',
        objectId: charge.id,
        reason: `The processor tells something else about ${charged}: ${words.join('; ')}.`,
        details: { processor_id: connection.publicId, processor_payment_id: ours.processorPaymentId, ours: shown(ours), theirs: theirs ? shown(theirs) : null },
        actions: ['Compare both with the processor\'s own dashboard.'],
      },
      new Date(),
    ));
  return [{ ...base, kind: 'difference', detail: words.join('; ') }];
}

function shownBy(ours: KnownCharge, { outcome, totals }: { outcome: ToldPayment['outcome']; totals: ToldPayment['totals'] }): TheirSide {
  return theirSide({ amountAtom: null, currency: ours.currency, outcome, totals } as ToldPayment);
}

function shown(side: KnownCharge | TheirSide): Record<string, unknown> {
  return {
    status: 'status' in side ? side.status : side.outcomeClass,
    amount_atom: side.amountAtom,
    captured_atom: side.capturedAtom,
    refunded_atom: side.refundedAtom,
    voided: side.voided,
    disputed: side.disputed,
  };
}

/** A payment that we have no charge for: foreign, or one that our database has lost. */
async function compareUnknown(deps: PaymentDeps, { run, connection }: Comparing, told: ToldPayment): Promise<Finding[]> {
  const reference = told.reference === null ? null : parseReference(told.reference, environmentMarker[deps.environment]);
  if (!reference) return [];
  const adopted = await adoptAttempt(deps, systemChange(deps, run), { connection, told, reference });
  if (adopted) return learnLost(deps, { run, connection }, { told, charge: adopted });
  const base = findingOf(deps, told, null);
  const held = told.totals.capturedAmountAtom - told.totals.refundedAmountAtom;
  await transact(deps.db, systemChange(deps, run), (tx) =>
    raiseAttention(
      tx,
      {
        accountId: run.accountId,
        type: 'unknown_payment_at_processor',
        kind: 'processor',
        objectId: connection.id,
        about: told.processorPaymentId,
        reason: `The processor has a payment with our reference ${told.reference} that is not known here; it holds ${held} atoms ${told.currency}.`,
        details: { reference: told.reference, processor_payment_id: told.processorPaymentId, amount_atom: told.amountAtom, currency: told.currency, totals: told.totals, made_at: told.createdAt },
        actions: ['Refund it in the processor\'s own dashboard, unless what it paid for was delivered.'],
      },
      new Date(),
    ));
  return [{ ...base, kind: 'unknown_payment' }];
}

async function learnLost(deps: PaymentDeps, comparing: Comparing, { told, charge }: { told: ToldPayment; charge: ChargeRow }): Promise<Finding[]> {
  const known = await knownCharges(deps.db, comparing.connection.id, { references: [charge.reference], paymentIds: [] });
  if (known[0]) await handIn(deps, comparing, { told, charge: known[0] });
  return [{ ...findingOf(deps, told, charge.id), kind: 'attempt_restored', intentId: charge.paymentIntentId }];
}

export function findingOf(deps: Pick<PaymentDeps, 'environment'>, told: Pick<ToldPayment, 'reference' | 'processorPaymentId'>, chargeId: string | null): Finding {
  return {
    kind: 'learned',
    reference: told.reference ?? '',
    processor_payment_id: told.processorPaymentId,
    charge_id: chargeId ? publicId('ch', deps.environment, chargeId) : null,
    intentId: null,
    detail: null,
  };
}

export function systemChange({ environment }: Pick<PaymentDeps, 'environment'>, { accountId }: Pick<ReconciliationRow, 'accountId'>): Change {
  return { accountId, environment, actor: 'system', requestId: null, idempotencyKey: null, clockTime: null, commandId: newId() };
}
