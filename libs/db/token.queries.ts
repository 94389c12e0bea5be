import { and, eq } from 'drizzle-orm';
import type { Role } from '../domain/role.js';
import type { Db } from './client.js';
import { apiTokens, type ApiTokenRow } from './schema/index.js';

/** What authentication needs to know of a token. */
export interface Credential {
  id: string;
  accountId: string;
  role: Role;
  expiresAt: Date | null;
  revokedAt: Date | null;
  allowedNetworks: string[] | null;
}

export async function findCredential(db: Db, hash: string): Promise<Credential | null> {
  const { id, accountId, role, expiresAt, revokedAt, allowedNetworks } = apiTokens;
  const [row] = await db.select({ id, accountId, role, expiresAt, revokedAt, allowedNetworks }).from(apiTokens).where(eq(apiTokens.hash, hash));
  return row ?? null;
}

export async function findToken(db: Db, accountId: string, id: string): Promise<ApiTokenRow | null> {
  const [row] = await db.select().from(apiTokens).where(and(eq(apiTokens.accountId, accountId), eq(apiTokens.id, id)));
  return row ?? null;
}
