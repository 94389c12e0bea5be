import { and, asc, eq, getTableColumns, ne, sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { Tx } from './client.js';
import { findCustomer } from './customer.queries.js';
import { updateCustomer } from './customer.writes.js';
import { appendEvents } from './event.writes.js';
import { customers, subscriptions, type PaymentMethodRow } from './schema/index.js';
import { subscriptionViews } from './subscription.queries.js';

/**
 * Announces, for every living subscription that relied on the method, that it is gone: event
 * `customer.subscription.payment_method_detached`. The subscription itself is not written; its row is locked for the sequence.
 */
export async function announceDetached(tx: Tx, change: Change, method: PaymentMethodRow): Promise<void> {
  const { customerId } = method;
  if (customerId === null) return;
  const rows = await tx
    .select(getTableColumns(subscriptions))
    .from(subscriptions)
    .innerJoin(customers, eq(customers.id, subscriptions.customerId))
    .where(
      and(
        eq(subscriptions.customerId, customerId),
        ne(subscriptions.status, 'cancelled'),
        sql`coalesce(${subscriptions.defaultPaymentMethodId}, ${customers.defaultPaymentMethodId}) = ${method.id}`,
      ),
    )
    .orderBy(asc(subscriptions.id))
    .for('update', { of: subscriptions });
  if (rows.length === 0) return;
  const views = await subscriptionViews(tx, rows, change.environment);
  await appendEvents(tx, change, rows.map((row, index) => ({
    type: 'customer.subscription.payment_method_detached', kind: 'sub', objectId: row.id, customerId, data: views[index]!, previous: {},
  })));
}

/** A detached method is nobody's default. Event `customer.updated`. */
export async function forgetDefault(tx: Tx, change: Change, method: PaymentMethodRow): Promise<void> {
  if (method.customerId === null) return;
  const customer = await findCustomer(tx, method.accountId, method.customerId);
  if (customer?.defaultPaymentMethodId === method.id) await updateCustomer(tx, change, { id: customer.id, patch: () => ({ defaultPaymentMethodId: null }) });
}
