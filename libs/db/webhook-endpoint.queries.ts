import { and, asc, desc, eq, gt, inArray, isNull, or, sql, type SQL } from 'drizzle-orm';
import type { LiveSecret } from '../views/webhook-endpoint.view.js';
import type { Db, Tx } from './client.js';
import { webhookEndpoints, webhookSecrets, type WebhookEndpointRow, type WebhookSecretRow } from './schema/index.js';
import type { SecretBox } from './secret.js';

export async function findEndpoint(db: Db | Tx, accountId: string, id: string): Promise<WebhookEndpointRow | undefined> {
  const [row] = await db.select().from(webhookEndpoints).where(ofAccount(accountId, eq(webhookEndpoints.id, id)));
  return row;
}

/** The same row, held until the transaction ends. */
export async function lockEndpoint(tx: Tx, accountId: string, id: string): Promise<WebhookEndpointRow | undefined> {
  const [row] = await tx.select().from(webhookEndpoints).where(ofAccount(accountId, eq(webhookEndpoints.id, id))).for('update');
  return row;
}

export async function findEndpoints(db: Db, accountId: string, ids: readonly string[]): Promise<WebhookEndpointRow[]> {
  if (ids.length === 0) return [];
  return db.select().from(webhookEndpoints).where(ofAccount(accountId, inArray(webhookEndpoints.id, [...ids])));
}

/** Every endpoint of the account that is not deleted, oldest first. */
export async function allEndpoints(db: Db, accountId: string): Promise<WebhookEndpointRow[]> {
  return db.select().from(webhookEndpoints).where(ofAccount(accountId)).orderBy(asc(webhookEndpoints.id));
}

/** The endpoint's secrets that have not expired, newest first, opened. */
export async function liveSecrets(db: Db | Tx, endpointId: string, box: SecretBox): Promise<LiveSecret[]> {
  const rows = await liveSecretRows(db, endpointId);
  return rows.map((row) => ({ id: row.id, secret: box.open(row.sealed, secretPlace(row.id)), createdAt: row.createdAt, expiresAt: row.expiresAt }));
}

export async function liveSecretRows(db: Db | Tx, endpointId: string): Promise<WebhookSecretRow[]> {
  return db
    .select()
    .from(webhookSecrets)
    .where(and(eq(webhookSecrets.endpointId, endpointId), or(isNull(webhookSecrets.expiresAt), gt(webhookSecrets.expiresAt, sql`clock_timestamp()`))))
    .orderBy(desc(webhookSecrets.createdAt), desc(webhookSecrets.id));
}

export function secretPlace(secretId: string) {
  return { table: 'webhook_secrets', column: 'sealed', row: secretId };
}

function ofAccount(accountId: string, ...conditions: (SQL | undefined)[]): SQL | undefined {
  return and(eq(webhookEndpoints.accountId, accountId), isNull(webhookEndpoints.deletedAt), ...conditions);
}
