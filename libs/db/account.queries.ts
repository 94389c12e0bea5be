import { asc, eq } from 'drizzle-orm';
import type { Db, Tx } from './client.js';
import { accounts, type AccountRow } from './schema/index.js';

export async function findAccount(db: Db | Tx, accountId: string): Promise<AccountRow | null> {
  const [row] = await db.select().from(accounts).where(eq(accounts.id, accountId));
  return row ?? null;
}

/** Every account of this environment, oldest first: for the command line only. */
export async function listAccounts(db: Db): Promise<AccountRow[]> {
  return db.select().from(accounts).orderBy(asc(accounts.id));
}
