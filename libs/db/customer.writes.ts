import { and, eq, ne } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { DomainError, invalidField } from '../errors/domain-error.js';
import { customerView } from '../views/customer.view.js';
import type { Tx } from './client.js';
import { createRecord, deleteRecord, lockRecord, updateRecord, type RecordKind } from './record.writes.js';
import { customers, paymentMethods, subscriptions, type CustomerRow } from './schema/index.js';

const kind: RecordKind<typeof customers> = { table: customers, kind: 'cus', name: 'customer', view: customerView, customerId: (row) => row.id };

export type CustomerFields = Omit<typeof customers.$inferInsert, 'id' | 'accountId' | 'version' | 'createdAt' | 'updatedAt' | 'deletedAt'>;

/** Event `customer.created`. */
export async function createCustomer(tx: Tx, change: Change, { id, fields }: { id: string; fields: CustomerFields }): Promise<CustomerRow> {
  const now = new Date();
  return createRecord(tx, change, kind, { ...fields, id, accountId: change.accountId, createdAt: now, updatedAt: now });
}

/** Event `customer.updated`. @throws DomainError 404; 422 when the payment method is not one attached to this customer. */
export async function updateCustomer(
  tx: Tx,
  change: Change,
  { id, patch }: { id: string; patch: (before: CustomerRow) => Partial<CustomerFields> },
): Promise<CustomerRow> {
  return updateRecord(tx, change, kind, {
    id,
    patch: async (before) => {
      const fields = patch(before);
      if (fields.defaultPaymentMethodId) await checkMethod(tx, change, { customerId: id, methodId: fields.defaultPaymentMethodId });
      return fields;
    },
  });
}

/** Event `customer.deleted`. @throws DomainError 404; 409 while a subscription is not cancelled. */
export async function deleteCustomer(tx: Tx, change: Change, id: string): Promise<CustomerRow> {
  await lockRecord(tx, change, kind, id);
  const [living] = await tx
    .select({ id: subscriptions.id })
    .from(subscriptions)
    .where(and(eq(subscriptions.customerId, id), ne(subscriptions.status, 'cancelled')))
    .limit(1);
  if (living) throw new DomainError('conflict', 'The customer has a subscription that is not cancelled.');
  return deleteRecord(tx, change, kind, id);
}

async function checkMethod(tx: Tx, change: Change, { customerId, methodId }: { customerId: string; methodId: string }): Promise<void> {
  const [method] = await tx
    .select({ customerId: paymentMethods.customerId, status: paymentMethods.status })
    .from(paymentMethods)
    .where(and(eq(paymentMethods.accountId, change.accountId), eq(paymentMethods.id, methodId)))
    .for('share');
  if (!method) throw invalidField('default_payment_method_id', 'No such pm', 'unknown_reference');
  if (method.customerId !== customerId || method.status !== 'attached') {
    throw invalidField('default_payment_method_id', 'Not attached to this customer', 'not_attached');
  }
}
