import { and, eq } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { DomainError, notFound } from '../errors/domain-error.js';
import { paymentProcessorView, type PaymentProcessorView } from '../views/payment-processor.view.js';
import { settleAttention } from './attention.writes.js';
import type { Tx } from './client.js';
import { oncePerCommand } from './command.writes.js';
import { appendEvents, previousValues } from './event.writes.js';
import { lockTestCards, mapTestCardsTo } from './payment-method-mapping.writes.js';
import { ofAccount } from './processor.queries.js';
import { paymentProcessors, type PaymentProcessorRow } from './schema/index.js';

export interface NewProcessor {
  id: string;
  name: string;
  kind: PaymentProcessorRow['kind'];
  settings: Record<string, unknown> | null;
  credentialsSealed: string | null;
  isEnabled: boolean;
}

/** A new connection; event `payment_processor.created`. Methods made from test cards work at a new simulator at once. */
export async function createProcessor(tx: Tx, change: Change, values: NewProcessor): Promise<PaymentProcessorView> {
  return oncePerCommand(tx, change, { objectId: values.id }, async () => {
    if (values.kind === 'simulator') await lockTestCards(tx, change.accountId, 'exclusive');
    const now = new Date();
    const [row] = await tx.insert(paymentProcessors).values({ ...values, accountId: change.accountId, createdAt: now, updatedAt: now }).returning();
    if (values.kind === 'simulator') await mapTestCardsTo(tx, row!);
    const data = paymentProcessorView(row!, change.environment);
    await appendEvents(tx, change, [{ type: 'payment_processor.created', kind: 'processor', objectId: row!.id, data, previous: null }]);
    return data;
  });
}

export type ProcessorPatch = Partial<Pick<PaymentProcessorRow, 'name' | 'settings' | 'credentialsSealed' | 'credentialsOverlapUntil' | 'isEnabled'>>;

/** Event `payment_processor.updated`, none if nothing changes. @throws DomainError 404. */
export async function updateProcessor(tx: Tx, change: Change, { id, patch }: { id: string; patch: ProcessorPatch }): Promise<PaymentProcessorView> {
  return store(tx, change, { id, patch, type: 'payment_processor.updated' });
}

/**
 * The connection takes no new charge; captures, refunds and lookups of its charges go on. Event
 * `payment_processor.deleted`. @throws DomainError 404.
 */
export async function deleteProcessor(tx: Tx, change: Change, id: string): Promise<PaymentProcessorView> {
  const at = new Date();
  const deleted = await store(tx, change, { id, patch: { isEnabled: false, deletedAt: at }, type: 'payment_processor.deleted' });
  await settleAttention(tx, { type: 'processor_degraded', objectId: id, resolution: 'The connection was deleted.' }, at);
  return deleted;
}

/** What the new credentials are depends on the old ones: `next` is asked under the row's lock. Event `payment_processor.updated`. */
export async function rotateCredentials(
  tx: Tx,
  change: Change,
  { id, next }: { id: string; next: (before: PaymentProcessorRow) => ProcessorPatch },
): Promise<PaymentProcessorView> {
  return store(tx, change, { id, patch: next, type: 'payment_processor.updated' });
}

interface Step {
  id: string;
  patch: Partial<PaymentProcessorRow> | ((before: PaymentProcessorRow) => ProcessorPatch);
  type: 'payment_processor.updated' | 'payment_processor.deleted';
}

async function store(tx: Tx, change: Change, { id, patch: wanted, type }: Step): Promise<PaymentProcessorView> {
  return oncePerCommand(tx, change, { objectId: id }, async () => {
    const [before] = await tx.select().from(paymentProcessors).where(ofAccount(change.accountId, id)).for('update');
    if (!before) throw notFound('payment processor');
    const patch = typeof wanted === 'function' ? wanted(before) : wanted;
    const view = paymentProcessorView(before, change.environment);
    const next = paymentProcessorView({ ...before, ...patch }, change.environment);
    if (Object.keys(previousValues(view, next)).length === 0 && patch.credentialsSealed === undefined) return view;
    const [row] = await tx
      .update(paymentProcessors)
      .set({ ...patch, version: before.version + 1, updatedAt: new Date() })
      .where(and(eq(paymentProcessors.id, id), eq(paymentProcessors.version, before.version)))
      .returning();
    if (!row) throw new DomainError('version_conflict');
    const data = paymentProcessorView(row, change.environment);
    await appendEvents(tx, change, [{ type, kind: 'processor', objectId: id, data, previous: previousValues(view, data) }]);
    return data;
  });
}
