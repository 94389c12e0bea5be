import type { Change } from '../domain/change/change.js';
import type { Environment } from '../domain/environment.js';
import { accountView } from '../views/account.view.js';
import { transact } from './change.js';
import type { Db, Tx } from './client.js';
import { appendEvents } from './event.writes.js';
import { newId } from './mint.js';
import { accounts, type AccountRow } from './schema/index.js';
import { createToken } from './token.writes.js';

/** The account that `change` names, with nothing in it; event `account.created`. */
export async function createAccount(tx: Tx, change: Change, { name }: { name: string }): Promise<AccountRow> {
  const now = new Date();
  const [row] = await tx.insert(accounts).values({ id: change.accountId, name, createdAt: now, updatedAt: now }).returning();
  const data = accountView(row!, change.environment);
  await appendEvents(tx, change, [{ type: 'account.created', kind: 'acct', objectId: row!.id, data, previous: null }]);
  return row!;
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
