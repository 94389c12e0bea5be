import { and, eq, sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { webhookEndpointView } from '../views/webhook-endpoint.view.js';
import type { Tx } from './client.js';
import { appendEvents, previousValues } from './event.writes.js';
import { newId } from './mint.js';
import { webhookEndpoints, webhookSecrets, type WebhookEndpointRow } from './schema/index.js';
import type { SecretBox } from './secret.js';
import { liveSecretRows, secretPlace } from './webhook-endpoint.queries.js';

export const mostLiveSecrets = 5;

export interface Rotation {
  /** The new secret, in clear. */
  secret: string;
  /** How long the older ones stay live; 0 ends them now. */
  expireAfterSeconds: number;
}

/** A new secret signs first; those that are live now sign beside it until they expire. The caller has locked the row. Returns the new one's id. */
export async function rotateSecret(tx: Tx, change: Change, before: WebhookEndpointRow, rotation: Rotation, box: SecretBox): Promise<string> {
  const at = new Date();
  const end = new Date(at.getTime() + rotation.expireAfterSeconds * 1000);
  for (const row of await liveSecretRows(tx, before.id)) {
    if (row.expiresAt !== null && row.expiresAt <= end) continue;
    await tx.update(webhookSecrets).set({ expiresAt: end }).where(eq(webhookSecrets.id, row.id));
  }
  const id = await addSecret(tx, { endpointId: before.id, secret: rotation.secret, at }, box);
  await tellOfSecrets(tx, change, before, at);
  return id;
}

/** Ends one secret now. The caller has locked the row and knows that it is live and not the newest. */
export async function revokeSecret(tx: Tx, change: Change, before: WebhookEndpointRow, secretId: string): Promise<void> {
  await tx
    .update(webhookSecrets)
    .set({ expiresAt: sql`clock_timestamp()` as unknown as Date })
    .where(and(eq(webhookSecrets.id, secretId), eq(webhookSecrets.endpointId, before.id)));
  await tellOfSecrets(tx, change, before, new Date());
}

export async function addSecret(tx: Tx, { endpointId, secret, at }: { endpointId: string; secret: string; at: Date }, box: SecretBox): Promise<string> {
  const id = newId();
  await tx.insert(webhookSecrets).values({ id, endpointId, sealed: box.seal(secret, secretPlace(id)), createdAt: at });
  return id;
}

async function tellOfSecrets(tx: Tx, change: Change, before: WebhookEndpointRow, at: Date): Promise<void> {
  const [row] = await tx
    .update(webhookEndpoints)
    .set({ version: sql`${webhookEndpoints.version} + 1`, updatedAt: at })
    .where(eq(webhookEndpoints.id, before.id))
    .returning();
  const data = webhookEndpointView(row!, change.environment);
  const previous = previousValues(webhookEndpointView(before, change.environment), data);
  await appendEvents(tx, change, [{ type: 'webhook_endpoint.updated', kind: 'webhook_endpoint', objectId: before.id, data, previous }]);
}
