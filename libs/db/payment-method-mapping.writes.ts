import { and, asc, eq, gt, isNotNull, isNull, ne, sql } from 'drizzle-orm';
import type { Tx } from './client.js';
import { newId } from './mint.js';
import { paymentMethodMappings, paymentMethods, paymentProcessors, type PaymentProcessorRow } from './schema/index.js';

const pageSize = 1_000;

/**
 * A method made from a test card has a mapping on every simulator connection. Whoever adds methods holds this lock shared,
 * whoever adds a connection holds it exclusively, until the transaction's end: neither misses the other.
 */
export async function lockTestCards(tx: Tx, accountId: string, mode: 'shared' | 'exclusive'): Promise<void> {
  const key = sql`hashtextextended(${`test-cards:${accountId}`}, 0)`;
  await tx.execute(mode === 'shared' ? sql`select pg_advisory_xact_lock_shared(${key})` : sql`select pg_advisory_xact_lock(${key})`);
}

export interface Credential {
  theirPaymentMethodId: string;
  networkTransactionId: string | null;
  /** The connection's own mark of the card: equal for the same card. */
  fingerprint: string | null;
}

/** Maps one method to all simulator connections of its account; connections that know it already are left alone. */
export async function mapToSimulators(tx: Tx, method: { id: string; accountId: string }, credential: Credential): Promise<void> {
  const connections = await tx
    .select({ id: paymentProcessors.id })
    .from(paymentProcessors)
    .where(and(eq(paymentProcessors.accountId, method.accountId), eq(paymentProcessors.kind, 'simulator'), isNull(paymentProcessors.deletedAt)))
    .orderBy(asc(paymentProcessors.id));
  const now = new Date();
  const rows = connections.map((connection) => ({
    id: newId(), accountId: method.accountId, paymentMethodId: method.id, processorId: connection.id, ...credential, createdAt: now, updatedAt: now,
  }));
  if (rows.length > 0) await tx.insert(paymentMethodMappings).values(rows).onConflictDoNothing();
}

/** Gives the new simulator connection every method that another simulator connection of the account knows. */
export async function mapTestCardsTo(tx: Tx, connection: PaymentProcessorRow): Promise<void> {
  let after: string | null = null;
  for (;;) {
    const page: KnownMethod[] = await knownMethods(tx, connection, after);
    if (page.length === 0) return;
    const now = new Date();
    const rows = page.map((known) => ({ ...known, id: newId(), accountId: connection.accountId, processorId: connection.id, createdAt: now, updatedAt: now }));
    await tx.insert(paymentMethodMappings).values(rows).onConflictDoNothing();
    after = page.at(-1)!.paymentMethodId;
  }
}

interface KnownMethod extends Credential {
  paymentMethodId: string;
}

async function knownMethods(tx: Tx, connection: PaymentProcessorRow, after: string | null): Promise<KnownMethod[]> {
  return tx
    .selectDistinctOn([paymentMethodMappings.paymentMethodId], {
      paymentMethodId: paymentMethodMappings.paymentMethodId,
      theirPaymentMethodId: paymentMethodMappings.theirPaymentMethodId,
      networkTransactionId: paymentMethodMappings.networkTransactionId,
      fingerprint: paymentMethodMappings.fingerprint,
    })
    .from(paymentMethodMappings)
    .innerJoin(paymentMethods, eq(paymentMethods.id, paymentMethodMappings.paymentMethodId))
    .innerJoin(paymentProcessors, eq(paymentProcessors.id, paymentMethodMappings.processorId))
    .where(
      and(
        eq(paymentMethods.accountId, connection.accountId),
        isNotNull(paymentMethods.shownAt),
        ne(paymentMethods.status, 'detached'),
        eq(paymentProcessors.kind, 'simulator'),
        ne(paymentProcessors.id, connection.id),
        after === null ? undefined : gt(paymentMethods.id, after),
      ),
    )
    .orderBy(asc(paymentMethodMappings.paymentMethodId), asc(paymentMethodMappings.id))
    .limit(pageSize);
}
