import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import { webhookEndpointView } from '../views/webhook-endpoint.view.js';
import { raiseAttention, settleAttention } from './attention.writes.js';
import { afterCommit } from './change.js';
import type { Tx } from './client.js';
import { oncePerCommand } from './command.writes.js';
import { cancelPendingDeliveries } from './delivery.writes.js';
import { appendEvents, previousValues } from './event.writes.js';
import { newId } from './mint.js';
import { events, webhookDeliveries, webhookEndpoints, webhookSecrets, type WebhookDeliveryRow, type WebhookEndpointRow } from './schema/index.js';
import type { SecretBox } from './secret.js';
import { requestWake } from './wake.js';
import { liveSecretRows, secretPlace } from './webhook-endpoint.queries.js';

export interface NewEndpoint {
  id: string;
  url: string;
  description: string | null;
  metadata: Record<string, unknown> | null;
  enabledEvents: string[];
  dataFormat: 'object' | 'string';
  /** The first signing secret, in clear. */
  secret: string;
}

/** Row, first secret and event; the new endpoint does not hear of its own creation. */
export async function createEndpoint(tx: Tx, change: Change, input: NewEndpoint, box: SecretBox): Promise<WebhookEndpointRow> {
  const now = new Date();
  const { secret, ...fields } = input;
  const row = { ...fields, accountId: change.accountId, createdAt: now, updatedAt: now };
  const draft = { ...row, status: 'enabled', statusReason: null, deletedAt: null } as const;
  await appendEvents(tx, change, [
    { type: 'webhook_endpoint.created', kind: 'webhook_endpoint', objectId: input.id, data: webhookEndpointView(draft, change.environment), previous: null },
  ]);
  const [created] = await tx.insert(webhookEndpoints).values(row).returning();
  await addSecret(tx, { endpointId: input.id, secret, at: now }, box);
  return created!;
}

export type EndpointPatch = Partial<
  Pick<WebhookEndpointRow, 'url' | 'description' | 'metadata' | 'enabledEvents' | 'dataFormat' | 'status' | 'statusReason' | 'deletedAt'>
>;

/** Changes the row that the caller has locked, with one event of `type`; nothing to change: no write, no event. */
export async function changeEndpoint(tx: Tx, change: Change, before: WebhookEndpointRow, { type, patch }: { type: string; patch: EndpointPatch }): Promise<WebhookEndpointRow> {
  const old = webhookEndpointView(before, change.environment);
  const wanted = webhookEndpointView({ ...before, ...patch }, change.environment);
  if (JSON.stringify(old) === JSON.stringify(wanted)) return before;
  const [row] = await tx
    .update(webhookEndpoints)
    .set({ ...patch, version: sql`${webhookEndpoints.version} + 1`, updatedAt: new Date() })
    .where(and(eq(webhookEndpoints.id, before.id), isNull(webhookEndpoints.deletedAt)))
    .returning();
  const data = webhookEndpointView(row!, change.environment);
  await appendEvents(tx, change, [{ type, kind: 'webhook_endpoint', objectId: before.id, data, previous: previousValues(old, data) }]);
  return row!;
}

const testType = 'webhook_endpoint.test';
const disabledAttention = 'webhook_endpoint_disabled';

export type DisableReason = 'requested' | 'gone' | 'failing';

const disableTexts: Record<Exclude<DisableReason, 'requested'>, string> = {
  gone: 'The receiver answered 410: it wants no more webhooks.',
  failing: 'Every attempt failed for a long time.',
};

/** No deliveries are made from now on, and those that wait are cancelled. One that nobody asked for goes on the attention list. */
export async function disableEndpoint(tx: Tx, change: Change, before: WebhookEndpointRow, reason: DisableReason): Promise<WebhookEndpointRow> {
  if (before.status === 'disabled') return before;
  const row = await changeEndpoint(tx, change, before, { type: 'webhook_endpoint.disabled', patch: { status: 'disabled', statusReason: reason } });
  await cancelPendingDeliveries(tx, before.id);
  if (reason !== 'requested') {
    await raiseAttention(tx, {
      accountId: before.accountId,
      type: disabledAttention,
      kind: 'webhook_endpoint',
      objectId: before.id,
      reason: disableTexts[reason],
      details: { url: before.url },
      actions: ['Repair the receiver, then POST /webhook-endpoints/{id}/enable.', 'Or DELETE /webhook-endpoints/{id}.'],
    }, row.updatedAt);
  }
  return row;
}

/** Deliveries are made again from now on; what was cancelled stays so. */
export async function enableEndpoint(tx: Tx, change: Change, before: WebhookEndpointRow): Promise<WebhookEndpointRow> {
  if (before.status !== 'disabled') return before;
  await tx.update(webhookEndpoints).set({ consecutiveFailures: 0, failingSince: null }).where(eq(webhookEndpoints.id, before.id));
  const row = await changeEndpoint(tx, change, before, { type: 'webhook_endpoint.enabled', patch: { status: 'enabled', statusReason: null } });
  await settleAttention(tx, { type: disabledAttention, objectId: before.id, resolution: 'The endpoint was enabled again.' }, row.updatedAt);
  return row;
}

/** Deliveries wait until `resumeEndpoint`. */
export async function pauseEndpoint(tx: Tx, change: Change, before: WebhookEndpointRow): Promise<WebhookEndpointRow> {
  return changeEndpoint(tx, change, before, { type: 'webhook_endpoint.paused', patch: { status: 'paused', statusReason: 'requested' } });
}

export async function resumeEndpoint(tx: Tx, change: Change, before: WebhookEndpointRow): Promise<WebhookEndpointRow> {
  afterCommit(tx, requestWake);
  return changeEndpoint(tx, change, before, { type: 'webhook_endpoint.resumed', patch: { status: 'enabled', statusReason: null } });
}

/** The row stays for its deliveries and attempts; what waits is cancelled, secrets are forgotten, the dispatcher ends. */
export async function deleteEndpoint(tx: Tx, change: Change, before: WebhookEndpointRow): Promise<WebhookEndpointRow> {
  const row = await changeEndpoint(tx, change, before, { type: 'webhook_endpoint.deleted', patch: { deletedAt: new Date() } });
  await cancelPendingDeliveries(tx, before.id);
  await tx.delete(webhookSecrets).where(eq(webhookSecrets.endpointId, before.id));
  await settleAttention(tx, { type: disabledAttention, objectId: before.id, resolution: 'The endpoint was deleted.' }, row.updatedAt);
  afterCommit(tx, requestWake);
  return row;
}

export interface Rotation {
  /** The new secret, in clear. */
  secret: string;
  /** How long the older ones stay live; 0 ends them now. */
  expireAfterSeconds: number;
}

export const mostLiveSecrets = 10;

/** A new secret signs first; those that are live now sign beside it until they expire. The caller has locked the row. */
export async function rotateSecret(tx: Tx, change: Change, before: WebhookEndpointRow, rotation: Rotation, box: SecretBox): Promise<void> {
  const at = new Date();
  const end = new Date(at.getTime() + rotation.expireAfterSeconds * 1000);
  for (const row of await liveSecretRows(tx, before.id)) {
    if (row.expiresAt !== null && row.expiresAt <= end) continue;
    await tx.update(webhookSecrets).set({ expiresAt: end }).where(eq(webhookSecrets.id, row.id));
  }
  await addSecret(tx, { endpointId: before.id, secret: rotation.secret, at }, box);
  const [row] = await tx
    .update(webhookEndpoints)
    .set({ version: sql`${webhookEndpoints.version} + 1`, updatedAt: at })
    .where(eq(webhookEndpoints.id, before.id))
    .returning();
  const data = webhookEndpointView(row!, change.environment);
  const previous = previousValues(webhookEndpointView(before, change.environment), data);
  await appendEvents(tx, change, [{ type: 'webhook_endpoint.updated', kind: 'webhook_endpoint', objectId: before.id, data, previous }]);
}

/** An event that goes to this endpoint whatever its filter says; answers with its delivery, the same one for the same command. */
export async function testEndpoint(tx: Tx, change: Change, row: WebhookEndpointRow): Promise<WebhookDeliveryRow> {
  const id = await oncePerCommand(tx, change, { objectId: row.id, step: 'test' }, async () => {
    const data = webhookEndpointView(row, change.environment);
    await appendEvents(tx, change, [{ type: testType, kind: 'webhook_endpoint', objectId: row.id, data, previous: null, alsoTo: [row.id] }]);
    const [delivery] = await tx
      .select({ id: webhookDeliveries.id })
      .from(webhookDeliveries)
      .innerJoin(events, eq(events.id, webhookDeliveries.eventId))
      .where(and(eq(events.commandId, change.commandId), eq(events.type, testType), eq(webhookDeliveries.endpointId, row.id)));
    return delivery!.id;
  });
  const [delivery] = await tx.select().from(webhookDeliveries).where(eq(webhookDeliveries.id, id));
  return delivery!;
}

async function addSecret(tx: Tx, { endpointId, secret, at }: { endpointId: string; secret: string; at: Date }, box: SecretBox): Promise<void> {
  const id = newId();
  await tx.insert(webhookSecrets).values({ id, endpointId, sealed: box.seal(secret, secretPlace(id)), createdAt: at });
}
