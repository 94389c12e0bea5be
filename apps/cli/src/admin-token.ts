import { listAccounts } from '../../../libs/db/account.queries.js';
import { openAccount } from '../../../libs/db/account.writes.js';
import type { Db } from '../../../libs/db/client.js';
import { findCredential } from '../../../libs/db/token.queries.js';
import { hashToken } from '../../../libs/db/token.js';
import { mintFor } from './commands/token.js';
import { readJson, writeJson } from './stack/file.js';
import type { Home } from './stack/home.js';
import { withDatabase, type Target } from './target.js';

type Kept = Partial<Record<Target['environment'], string>>;

/**
 * The ADMIN token that this installation shows its owner, kept in the home (0600). The first call makes the first account;
 * a token that was revoked meanwhile, or lost by a crash before it was kept, is replaced.
 */
export async function adminToken(home: Home, target: Target): Promise<string> {
  const path = home.file('tokens.json');
  const kept = readJson<Kept>(path)?.[target.environment];
  return withDatabase(target.databaseUrl, async (db) => {
    if (kept !== undefined && (await isUsable(db, kept, target.tokenKey))) return kept;
    const [first] = await listAccounts(db);
    const token = first
      ? await mintFor(db, target, { account: first, role: 'ADMIN', name: 'Local start' })
      : (await openAccount(db, { environment: target.environment, name: 'First account', tokenKey: target.tokenKey })).token;
    writeJson(path, { ...readJson<Kept>(path), [target.environment]: token });
    return token;
  });
}

async function isUsable(db: Db, token: string, key: Buffer): Promise<boolean> {
  const credential = await findCredential(db, hashToken(token, key));
  if (credential === null || credential.role !== 'ADMIN' || credential.revokedAt !== null) return false;
  return credential.expiresAt === null || credential.expiresAt > new Date();
}
