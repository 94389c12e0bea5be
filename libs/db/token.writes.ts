import { and, eq, gt, isNull, lt, ne, or, sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { Role } from '../domain/role.js';
import { DomainError, notFound } from '../errors/domain-error.js';
import { apiTokenView } from '../views/api-token.view.js';
import type { Db, Tx } from './client.js';
import { appendEvents, previousValues } from './event.writes.js';
import { accounts, apiTokens, type ApiTokenRow } from './schema/index.js';
import { hashToken, hintOf, mintToken } from './token.js';

export interface NewToken {
  id: string;
  name: string;
  role: Role;
  expiresAt?: Date | null;
  allowedNetworks?: string[] | null;
  tokenKey: Buffer;
}

/**
 * A new token of the change's account; event `api_token.created`. `token` is its text: shown once, stored nowhere. A retry
 * whose first run was interrupted finds the row and draws a new text, because the first was never answered.
 */
export async function createToken(tx: Tx, change: Change, values: NewToken): Promise<{ row: ApiTokenRow; token: string }> {
  const { tokenKey, ...columns } = values;
  const token = mintToken(change.environment);
  const now = new Date();
  const text = { hash: hashToken(token, tokenKey), hint: hintOf(token) };
  const own = and(eq(apiTokens.id, values.id), eq(apiTokens.accountId, change.accountId));
  const [drawn] = await tx.update(apiTokens).set(text).where(own).returning();
  if (drawn) return { row: drawn, token };
  const [row] = await tx.insert(apiTokens).values({ ...columns, ...text, accountId: change.accountId, createdAt: now, updatedAt: now }).returning();
  const data = apiTokenView(row!, change.environment);
  await appendEvents(tx, change, [{ type: 'api_token.created', kind: 'tok', objectId: row!.id, data, previous: null }]);
  return { row: row!, token };
}

export type TokenPatch = Partial<Pick<ApiTokenRow, 'name' | 'role' | 'expiresAt' | 'allowedNetworks' | 'rolledToId'>>;

/** @throws DomainError 404; 409 `last_admin` when no lasting ADMIN token usable from anywhere would be left; 409 when it is revoked. */
export async function updateToken(tx: Tx, change: Change, { id, patch }: { id: string; patch: TokenPatch }): Promise<ApiTokenRow> {
  const before = await lockToken(tx, change, id);
  if (before.revokedAt) throw new DomainError('conflict', 'This token is revoked.');
  const next = { ...before, ...patch };
  const data = apiTokenView(next, change.environment);
  const previous = previousValues(apiTokenView(before, change.environment), data);
  if (Object.keys(previous).length === 0) return before;
  const weaker = next.role !== 'ADMIN' || (next.expiresAt && !before.expiresAt) || narrows(before.allowedNetworks, next.allowedNetworks);
  if (weaker) await keepOneAdmin(tx, before, patch.rolledToId);
  return store(tx, change, { before, patch, type: 'api_token.updated' });
}

export interface TokenRoll {
  id: string;
  successorId: string;
  overlapSeconds: number;
  tokenKey: Buffer;
}

/**
 * A successor with the same name, role, expiry and networks; the old token ends after the overlap. A retry whose first run was
 * interrupted finds the successor, also when the overlap is over by then.
 * @throws DomainError 404; 409 when the token is revoked, has expired or was rolled already.
 */
export async function rollToken(tx: Tx, change: Change, roll: TokenRoll): Promise<{ row: ApiTokenRow; token: string }> {
  const { id, successorId, overlapSeconds, tokenKey } = roll;
  const { name, role, allowedNetworks, expiresAt, revokedAt, rolledToId } = await lockToken(tx, change, id);
  const now = Date.now();
  const continued = rolledToId === successorId;
  if (revokedAt) throw new DomainError('conflict', 'This token is revoked.');
  if (rolledToId && !continued) throw new DomainError('conflict', 'This token was rolled already.');
  if (expiresAt && expiresAt.getTime() <= now && !continued) throw new DomainError('conflict', 'This token has expired.');
  const created = await createToken(tx, change, { id: successorId, name, role, allowedNetworks, expiresAt, tokenKey });
  if (continued) return created;
  const end = new Date(now + overlapSeconds * 1000);
  await updateToken(tx, change, { id, patch: { rolledToId: successorId, expiresAt: expiresAt && expiresAt < end ? expiresAt : end } });
  return created;
}

/** From now on the token is refused; event `api_token.deleted`. Revoking twice changes nothing. */
export async function revokeToken(tx: Tx, change: Change, id: string): Promise<ApiTokenRow> {
  const before = await lockToken(tx, change, id);
  if (before.revokedAt) return before;
  await keepOneAdmin(tx, before);
  return store(tx, change, { before, patch: { revokedAt: new Date() }, type: 'api_token.deleted' });
}

/** Records the use of a token, at most once a minute over all processes. */
export async function touchToken(db: Db, id: string): Promise<void> {
  const stale = or(isNull(apiTokens.lastUsedAt), lt(apiTokens.lastUsedAt, sql`clock_timestamp() - interval '1 minute'`));
  await db.update(apiTokens).set({ lastUsedAt: sql`clock_timestamp()` }).where(and(eq(apiTokens.id, id), stale));
}

interface TokenStep {
  before: ApiTokenRow;
  patch: Partial<ApiTokenRow>;
  type: 'api_token.updated' | 'api_token.deleted';
}

async function store(tx: Tx, change: Change, { before, patch, type }: TokenStep): Promise<ApiTokenRow> {
  const [row] = await tx
    .update(apiTokens)
    .set({ ...patch, version: before.version + 1, updatedAt: new Date() })
    .where(and(eq(apiTokens.id, before.id), eq(apiTokens.version, before.version)))
    .returning();
  if (!row) throw new DomainError('version_conflict');
  const data = apiTokenView(row, change.environment);
  const previous = previousValues(apiTokenView(before, change.environment), data);
  await appendEvents(tx, change, [{ type, kind: 'tok', objectId: row.id, data, previous }]);
  return row;
}

/** Takes the account's lock first, so that two callers cannot remove the last two ADMIN tokens at once. */
async function lockToken(tx: Tx, change: Change, id: string): Promise<ApiTokenRow> {
  await tx.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, change.accountId)).for('update');
  const [row] = await tx.select().from(apiTokens).where(and(eq(apiTokens.accountId, change.accountId), eq(apiTokens.id, id))).for('update');
  if (!row) throw notFound('token');
  return row;
}

/** Whether an address that was allowed may be refused: null allows every one. */
function narrows(before: string[] | null, next: string[] | null): boolean {
  return next !== null && !before?.every((network) => next.includes(network));
}

/**
 * A token that never expires must leave one that never expires; one that expires anyway must leave any. What is left must work
 * from any address, unless it is the successor, which works from where its predecessor did.
 */
async function keepOneAdmin(tx: Tx, leaving: ApiTokenRow, successorId: string | null = null): Promise<void> {
  if (leaving.role !== 'ADMIN') return;
  const lasting = leaving.expiresAt
    ? or(isNull(apiTokens.expiresAt), gt(apiTokens.expiresAt, sql`clock_timestamp()`))
    : isNull(apiTokens.expiresAt);
  const reachable = successorId ? or(isNull(apiTokens.allowedNetworks), eq(apiTokens.id, successorId)) : isNull(apiTokens.allowedNetworks);
  const others = and(eq(apiTokens.accountId, leaving.accountId), ne(apiTokens.id, leaving.id), isNull(apiTokens.revokedAt));
  const [other] = await tx
    .select({ id: apiTokens.id })
    .from(apiTokens)
    .where(and(others, eq(apiTokens.role, 'ADMIN'), lasting, reachable))
    .limit(1);
  if (!other) throw new DomainError('last_admin');
}
