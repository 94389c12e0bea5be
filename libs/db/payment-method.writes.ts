import { and, eq, inArray, isNull, lt } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { DomainError, invalidField, notFound } from '../errors/domain-error.js';
import { paymentMethodMappingView, type PaymentMethodMappingView, type PaymentMethodView } from '../views/payment-method.view.js';
import type { Db, Tx } from './client.js';
import { oncePerCommand } from './command.writes.js';
import { appendEvents, previousValues, type EventDraft } from './event.writes.js';
import { newId } from './mint.js';
import { announceDetached, forgetDefault } from './payment-method-detached.writes.js';
import { lockTestCards, mapToSimulators, type Credential } from './payment-method-mapping.writes.js';
import { customerExists, mappingsOf, shownMethods, viewMethod } from './payment-method.queries.js';
import { findProcessor } from './processor.queries.js';
import { paymentMethodMappings, paymentMethods, type PaymentMethodRow } from './schema/index.js';

export type HiddenMethod = Pick<PaymentMethodRow, 'id' | 'displayName' | 'billingAddress' | 'customFields' | 'metadata'>;

/**
 * The row that a tokenisation begins with. Nobody sees it until `showPaymentMethod`; `sweepHiddenMethods` removes what a
 * crash left. A second run of the command finds the row.
 */
export async function hidePaymentMethod(tx: Tx, change: Change, method: HiddenMethod): Promise<void> {
  const now = new Date();
  await tx.insert(paymentMethods).values({ ...method, accountId: change.accountId, createdAt: now, updatedAt: now }).onConflictDoNothing();
}

/** Removes a hidden row whose tokenisation came to nothing. */
export async function discardHiddenMethod(tx: Tx, change: Change, id: string): Promise<void> {
  await tx.delete(paymentMethods).where(and(eq(paymentMethods.id, id), eq(paymentMethods.accountId, change.accountId), isNull(paymentMethods.shownAt)));
}

/** Removes hidden rows older than `olderThanMs`, at most 500 a call; answers how many. Nobody was ever told of them. */
export async function sweepHiddenMethods(db: Db, { olderThanMs }: { olderThanMs: number }): Promise<number> {
  const left = db
    .select({ id: paymentMethods.id })
    .from(paymentMethods)
    .where(and(isNull(paymentMethods.shownAt), lt(paymentMethods.createdAt, new Date(Date.now() - olderThanMs))))
    .limit(500)
    .for('update', { skipLocked: true });
  const gone = await db.delete(paymentMethods).where(inArray(paymentMethods.id, left)).returning({ id: paymentMethods.id });
  return gone.length;
}

export type ShownMethod = HiddenMethod &
  Pick<
    PaymentMethodRow,
    'provider' | 'cardBrand' | 'cardFunding' | 'cardCountry' | 'cardIin' | 'lastFour' | 'expMonth' | 'expYear' | 'fingerprint'
  >;

export interface Shown {
  method: ShownMethod;
  credential: Credential;
  /** The connection that tokenised; null: a test card, which every simulator connection knows. */
  processorId: string | null;
  /** Attach at once, where the customer is known. */
  attachTo: string | null;
}

/** The authorised method appears; event `payment_method.created`, and `payment_method.attached` if it is attached at once. */
export async function showPaymentMethod(tx: Tx, change: Change, shown: Shown): Promise<PaymentMethodView> {
  return oncePerCommand(tx, change, { objectId: shown.method.id, step: 'show' }, async () => {
    await lockTestCards(tx, change.accountId, 'shared');
    const now = new Date();
    const values = { ...shown.method, accountId: change.accountId, status: 'authorized' as const, shownAt: now, createdAt: now, updatedAt: now };
    const [row] = await tx.insert(paymentMethods).values(values).onConflictDoUpdate({ target: paymentMethods.id, set: values }).returning();
    await mapMethod(tx, row!, shown);
    const data = await viewMethod(tx, row!, change.environment);
    await appendEvents(tx, change, [draft('payment_method.created', row!, { data, before: null })]);
    if (shown.attachTo === null) return data;
    return attachLocked(tx, change, { row: row!, customerId: shown.attachTo });
  });
}

async function mapMethod(tx: Tx, row: PaymentMethodRow, { processorId, credential }: Shown): Promise<void> {
  if (processorId === null) return mapToSimulators(tx, row, credential);
  const now = new Date();
  await tx.insert(paymentMethodMappings).values({
    id: newId(), accountId: row.accountId, paymentMethodId: row.id, processorId, ...credential, createdAt: now, updatedAt: now,
  });
}

/** @throws DomainError 404; 409 `invalid_state_transition` unless it is `authorized`; 422 for an unknown customer. */
export async function attachPaymentMethod(tx: Tx, change: Change, { id, customerId }: { id: string; customerId: string }): Promise<PaymentMethodView> {
  return oncePerCommand(tx, change, { objectId: id, step: 'attach' }, async () => {
    const row = await lockMethod(tx, change, id);
    return attachLocked(tx, change, { row, customerId });
  });
}

async function attachLocked(tx: Tx, change: Change, { row, customerId }: { row: PaymentMethodRow; customerId: string }): Promise<PaymentMethodView> {
  if (row.status !== 'authorized') throw refusedMove(row, 'attached');
  if (!(await customerExists(tx, change.accountId, customerId))) throw invalidField('customer_id', 'No such customer', 'unknown_reference');
  return store(tx, change, { before: row, patch: { status: 'attached', customerId }, type: 'payment_method.attached' });
}

/**
 * No later charge uses it; what runs goes on. Subscriptions that relied on it are told by event.
 * @throws DomainError 404; 409 if it is detached already.
 */
export async function detachPaymentMethod(tx: Tx, change: Change, id: string): Promise<PaymentMethodView> {
  return oncePerCommand(tx, change, { objectId: id, step: 'detach' }, async () => {
    const row = await lockMethod(tx, change, id);
    if (row.status === 'detached') throw refusedMove(row, 'detached');
    const view = await store(tx, change, { before: row, patch: { status: 'detached' }, type: 'payment_method.detached' });
    await announceDetached(tx, change, row);
    await forgetDefault(tx, change, row);
    return view;
  });
}

/** Notes that the method was authorised again; event `payment_method.authorized`. @throws DomainError 404; 409 if detached. */
export async function noteAuthorisation(tx: Tx, change: Change, { id, processorId, networkTransactionId }: Authorisation): Promise<PaymentMethodView> {
  return oncePerCommand(tx, change, { objectId: id, step: 'authorize' }, async () => {
    const row = await lockMethod(tx, change, id);
    if (row.status === 'detached') throw refusedMove(row, 'authorized');
    if (networkTransactionId) {
      const pair = and(eq(paymentMethodMappings.paymentMethodId, id), eq(paymentMethodMappings.processorId, processorId));
      await tx.update(paymentMethodMappings).set({ networkTransactionId, updatedAt: new Date() }).where(pair);
    }
    return store(tx, change, { before: row, patch: {}, type: 'payment_method.authorized' });
  });
}

export interface Authorisation {
  id: string;
  processorId: string;
  networkTransactionId: string | null;
}

export interface NewMapping extends Credential {
  methodId: string;
  processorId: string;
}

/**
 * Says how a connection knows the method; event `payment_method.updated`.
 * @throws DomainError 404; 409 if it is detached or the pair exists; 422 for an unknown connection.
 */
export async function importMapping(tx: Tx, change: Change, mapping: NewMapping): Promise<PaymentMethodMappingView> {
  return oncePerCommand(tx, change, { objectId: mapping.methodId, step: 'mapping' }, async () => {
    const row = await lockMethod(tx, change, mapping.methodId);
    if (row.status === 'detached') throw refusedMove(row, 'mapped');
    const processor = await findProcessor(tx, change.accountId, mapping.processorId);
    if (!processor) throw invalidField('processor_id', 'No such connection', 'unknown_reference');
    const before = await viewMethod(tx, row, change.environment);
    const { methodId, ...values } = mapping;
    const now = new Date();
    const added = await tx
      .insert(paymentMethodMappings)
      .values({ ...values, id: newId(), accountId: change.accountId, paymentMethodId: methodId, createdAt: now, updatedAt: now })
      .onConflictDoNothing()
      .returning({ id: paymentMethodMappings.id });
    if (added.length === 0) throw new DomainError('conflict', 'This connection knows the payment method already.');
    await store(tx, change, { before: row, patch: {}, type: 'payment_method.updated', view: before });
    const stored = (await mappingsOf(tx, [methodId])).get(methodId)!.find((entry) => entry.id === added[0]!.id)!;
    return paymentMethodMappingView(stored, change.environment);
  });
}

async function lockMethod(tx: Tx, change: Change, id: string): Promise<PaymentMethodRow> {
  const [row] = await tx.select().from(paymentMethods).where(and(eq(paymentMethods.id, id), shownMethods(change.accountId))).for('update');
  if (!row) throw notFound('payment method');
  return row;
}

interface Step {
  before: PaymentMethodRow;
  patch: Partial<Pick<PaymentMethodRow, 'status' | 'customerId'>>;
  type: string;
  view?: PaymentMethodView;
}

async function store(tx: Tx, change: Change, { before, patch, type, view }: Step): Promise<PaymentMethodView> {
  const old = view ?? (await viewMethod(tx, before, change.environment));
  const [row] = await tx
    .update(paymentMethods)
    .set({ ...patch, version: before.version + 1, updatedAt: new Date() })
    .where(and(eq(paymentMethods.id, before.id), eq(paymentMethods.version, before.version)))
    .returning();
  if (!row) throw new DomainError('version_conflict');
  const data = await viewMethod(tx, row, change.environment);
  await appendEvents(tx, change, [draft(type, row, { data, before: old })]);
  return data;
}

function draft(type: string, row: PaymentMethodRow, { data, before }: { data: PaymentMethodView; before: PaymentMethodView | null }): EventDraft {
  const previous = before === null ? null : previousValues(before, data);
  return { type, kind: 'pm', objectId: row.id, customerId: row.customerId, data, previous };
}

const moves: Record<PaymentMethodRow['status'], string> = {
  authorized: 'attach, detach',
  attached: 'detach',
  detached: 'none',
};

function refusedMove(row: PaymentMethodRow, wanted: string): DomainError {
  const message = `A payment method that is ${row.status} cannot become ${wanted}; allowed: ${moves[row.status]}.`;
  return new DomainError('invalid_state_transition', message, { extra: { payment_method_status: row.status } });
}
