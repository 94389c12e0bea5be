import { and, asc, eq, inArray, isNotNull, isNull } from 'drizzle-orm';
import type { Environment } from '../domain/environment.js';
import { paymentMethodView, type MappingFields, type PaymentMethodView } from '../views/payment-method.view.js';
import type { Db, Tx } from './client.js';
import { customers, paymentMethodMappings, paymentMethods, paymentProcessors, type PaymentMethodRow } from './schema/index.js';

/** Shown methods of an account: hidden ones are still being made and exist for nobody. */
export function shownMethods(accountId: string) {
  return and(eq(paymentMethods.accountId, accountId), isNotNull(paymentMethods.shownAt));
}

export async function findPaymentMethod(db: Db | Tx, accountId: string, id: string): Promise<PaymentMethodRow | null> {
  const [row] = await db.select().from(paymentMethods).where(and(eq(paymentMethods.id, id), shownMethods(accountId)));
  return row ?? null;
}

/** Mappings to connections that are not deleted, by method, oldest first. */
export async function mappingsOf(db: Db | Tx, methodIds: string[]): Promise<Map<string, MappingFields[]>> {
  const byMethod = new Map<string, MappingFields[]>(methodIds.map((id) => [id, []]));
  if (methodIds.length === 0) return byMethod;
  const rows = await db
    .select({
      id: paymentMethodMappings.id,
      paymentMethodId: paymentMethodMappings.paymentMethodId,
      processorId: paymentMethodMappings.processorId,
      theirPaymentMethodId: paymentMethodMappings.theirPaymentMethodId,
      networkTransactionId: paymentMethodMappings.networkTransactionId,
      createdAt: paymentMethodMappings.createdAt,
      updatedAt: paymentMethodMappings.updatedAt,
      connectionName: paymentProcessors.name,
      connectionKind: paymentProcessors.kind,
    })
    .from(paymentMethodMappings)
    .innerJoin(paymentProcessors, eq(paymentProcessors.id, paymentMethodMappings.processorId))
    .where(and(inArray(paymentMethodMappings.paymentMethodId, methodIds), isNull(paymentProcessors.deletedAt)))
    .orderBy(asc(paymentMethodMappings.id));
  for (const row of rows) byMethod.get(row.paymentMethodId)!.push(row);
  return byMethod;
}

export async function viewMethods(db: Db | Tx, rows: PaymentMethodRow[], environment: Environment): Promise<PaymentMethodView[]> {
  const mappings = await mappingsOf(db, rows.map((row) => row.id));
  return rows.map((row) => paymentMethodView(row, mappings.get(row.id)!, environment));
}

export async function viewMethod(db: Db | Tx, row: PaymentMethodRow, environment: Environment): Promise<PaymentMethodView> {
  return (await viewMethods(db, [row], environment))[0]!;
}

/** Whether the account has this customer, not deleted. */
export async function customerExists(db: Db | Tx, accountId: string, id: string): Promise<boolean> {
  const [row] = await db
    .select({ id: customers.id })
    .from(customers)
    .where(and(eq(customers.id, id), eq(customers.accountId, accountId), isNull(customers.deletedAt)));
  return row !== undefined;
}
