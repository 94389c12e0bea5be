import { and, eq, isNull } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { Environment } from '../domain/environment.js';
import { invalidField, notFound } from '../errors/domain-error.js';
import { accountView } from '../views/account.view.js';
import { transact } from './change.js';
import type { Db, Tx } from './client.js';
import { appendEvents, previousValues } from './event.writes.js';
import { newId } from './mint.js';
import { onceIfKeyed } from './record.writes.js';
import { accounts, paymentRoutes, type AccountRow } from './schema/index.js';
import { createToken } from './token.writes.js';

/** The account that `change` names, with nothing in it; event `account.created`. */
export async function createAccount(tx: Tx, change: Change, { name }: { name: string }): Promise<AccountRow> {
  const now = new Date();
  const [row] = await tx.insert(accounts).values({ id: change.accountId, name, createdAt: now, updatedAt: now }).returning();
  const data = accountView(row!, change.environment);
  await appendEvents(tx, change, [{ type: 'account.created', kind: 'acct', objectId: row!.id, data, previous: null }]);
  return row!;
}

export type AccountPatch = Partial<Pick<AccountRow, 'name' | 'operatorRefundLimitAtom' | 'defaultPaymentRouteId' | 'execution' | 'dunningPolicy' | 'emailSettings' | 'billingSettings'>>;

/** Event `account.updated`. @throws DomainError 422 when the default route is not one of the account. */
export async function updateAccount(tx: Tx, change: Change, patch: AccountPatch): Promise<AccountRow> {
  const [before] = await tx.select().from(accounts).where(eq(accounts.id, change.accountId)).for('update');
  if (!before) throw notFound('account');
  await onceIfKeyed(tx, change, { objectId: before.id, step: 'update' }, async () => {
    if (patch.defaultPaymentRouteId) await checkRoute(tx, change, patch.defaultPaymentRouteId);
    const view = (row: AccountRow) => accountView(row, change.environment);
    if (Object.keys(previousValues(view(before), view({ ...before, ...patch }))).length === 0) return true;
    const [row] = await tx
      .update(accounts)
      .set({ ...patch, version: before.version + 1, updatedAt: new Date() })
      .where(eq(accounts.id, before.id))
      .returning();
    const previous = previousValues(view(before), view(row!));
    await appendEvents(tx, change, [{ type: 'account.updated', kind: 'acct', objectId: before.id, data: view(row!), previous }]);
    return true;
  });
  const [row] = await tx.select().from(accounts).where(eq(accounts.id, before.id));
  return row!;
}

async function checkRoute(tx: Tx, change: Change, routeId: string): Promise<void> {
  const own = and(eq(paymentRoutes.accountId, change.accountId), eq(paymentRoutes.id, routeId), isNull(paymentRoutes.deletedAt));
  const [route] = await tx.select({ id: paymentRoutes.id }).from(paymentRoutes).where(own);
  if (!route) throw invalidField('default_payment_route_id', 'No such route', 'unknown_reference');
}

export interface NewAccount {
  environment: Environment;
  name: string;
  tokenName?: string;
  /** Key of the tokens' hashes. */
  tokenKey: Buffer;
}

/** A new account with one ADMIN token, in one transaction. The token's text is not kept anywhere. */
export async function openAccount(db: Db, { environment, name, tokenName, tokenKey }: NewAccount): Promise<{ account: AccountRow; token: string }> {
  const change = systemChange(environment, newId());
  return transact(db, change, async (tx) => {
    const account = await createAccount(tx, change, { name });
    const { token } = await createToken(tx, change, { id: newId(), name: tokenName ?? 'First token', role: 'ADMIN', tokenKey });
    return { account, token };
  });
}

/** A change that no caller made: by the command line or a process itself. */
export function systemChange(environment: Environment, accountId: string): Change {
  return { accountId, environment, actor: 'system', requestId: null, idempotencyKey: null, commandId: newId(), clockTime: null };
}
