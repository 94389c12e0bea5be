import { and, eq, isNull, sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { EventObjectFilter } from '../domain/event/event-filter.js';
import { webhookEndpointView } from '../views/webhook-endpoint.view.js';
import { settleAttention } from './attention.writes.js';
import { afterCommit } from './change.js';
import type { Tx } from './client.js';
import { oncePerCommand } from './command.writes.js';
import { cancelPendingDeliveries } from './delivery.writes.js';
import { releaseWaiting } from './drain.writes.js';
import type { SealedHeaders } from './endpoint-headers.js';
import { appendEvents, previousValues } from './event.writes.js';
import { events, webhookDeliveries, webhookEndpoints, webhookSecrets, type WebhookDeliveryRow, type WebhookEndpointRow } from './schema/index.js';
import type { SecretBox } from './secret.js';
import { requestWake } from './wake.js';
import { addSecret } from './webhook-secret.writes.js';

export interface NewEndpoint {
  id: string;
  url: string;
  description: string | null;
  metadata: Record<string, unknown> | null;
  enabledEvents: string[];
  dataFormat: 'object' | 'string';
  filter?: EventObjectFilter | null;
  ordered?: boolean;
  ratePerSecond?: number | null;
  maxInFlight?: number | null;
  /** Sealed. */
  headers?: SealedHeaders | null;
  /** The first signing secret, in clear. */
  secret: string;
}

/** Row, first secret and event; the new endpoint does not hear of its own creation. */
export async function createEndpoint(tx: Tx, change: Change, input: NewEndpoint, box: SecretBox): Promise<WebhookEndpointRow> {
  const now = new Date();
  const { secret, ...fields } = input;
  const settings = { filter: null, ordered: false, ratePerSecond: null, maxInFlight: null, headers: null };
  const row = { ...settings, ...fields, accountId: change.accountId, createdAt: now, updatedAt: now };
  const draft = { ...row, status: 'enabled', statusReason: null, failingSince: null, failingToldAt: null, heldUntil: null, deletedAt: null } as const;
  await appendEvents(tx, change, [
    { type: 'webhook_endpoint.created', kind: 'webhook_endpoint', objectId: input.id, data: webhookEndpointView(draft, change.environment), previous: null },
  ]);
  const [created] = await tx.insert(webhookEndpoints).values(row).returning();
  await addSecret(tx, { endpointId: input.id, secret, at: now }, box);
  return created!;
}

type Setting = 'url' | 'description' | 'metadata' | 'enabledEvents' | 'filter' | 'dataFormat' | 'ordered' | 'ratePerSecond' | 'maxInFlight' | 'headers';
export type EndpointSettings = Partial<Pick<WebhookEndpointRow, Setting>>;
export type EndpointPatch = EndpointSettings & Partial<Pick<WebhookEndpointRow, 'status' | 'statusReason' | 'consecutiveFailures' | 'failingSince' | 'failingToldAt' | 'heldUntil' | 'deletedAt'>>;

/** What a person sets. What waited only for its turn waits no longer when the order is given up, nor is another receiver left alone. */
export async function updateEndpoint(tx: Tx, change: Change, before: WebhookEndpointRow, patch: EndpointSettings): Promise<WebhookEndpointRow> {
  const isElsewhere = patch.url !== undefined && patch.url !== before.url;
  const row = await changeEndpoint(tx, change, before, { type: 'webhook_endpoint.updated', patch: { ...patch, ...(isElsewhere ? { heldUntil: null } : {}) } });
  if (before.ordered && !row.ordered) await releaseWaiting(tx, row.id);
  return row;
}

export interface EndpointChange {
  type: string;
  patch: EndpointPatch;
  /** Others are told, this endpoint is not. */
  notToItself?: boolean;
}

/** Changes the row that the caller has locked, with one event of `type`; nothing to change: no write, no event. */
export async function changeEndpoint(tx: Tx, change: Change, before: WebhookEndpointRow, { type, patch, notToItself }: EndpointChange): Promise<WebhookEndpointRow> {
  const old = webhookEndpointView(before, change.environment);
  const wanted = webhookEndpointView({ ...before, ...patch }, change.environment);
  const sameHeaders = patch.headers === undefined || JSON.stringify(patch.headers) === JSON.stringify(before.headers);
  if (sameHeaders && JSON.stringify(old) === JSON.stringify(wanted)) return before;
  const [row] = await tx
    .update(webhookEndpoints)
    .set({ ...patch, version: sql`${webhookEndpoints.version} + 1`, updatedAt: new Date() })
    .where(and(eq(webhookEndpoints.id, before.id), isNull(webhookEndpoints.deletedAt)))
    .returning();
  const data = webhookEndpointView(row!, change.environment);
  const draft = { type, kind: 'webhook_endpoint' as const, objectId: before.id, data, previous: previousValues(old, data) };
  await appendEvents(tx, change, [{ ...draft, ...(notToItself ? { notTo: before.id } : {}) }]);
  return row!;
}

const testType = 'webhook_endpoint.test';

export const disabledAttention = 'webhook_endpoint_disabled';
export const failingAttention = 'webhook_endpoint_failing';

/** The row stays for its deliveries and attempts; what waits is cancelled, secrets and headers are forgotten, the dispatcher ends. */
export async function deleteEndpoint(tx: Tx, change: Change, before: WebhookEndpointRow): Promise<WebhookEndpointRow> {
  const row = await changeEndpoint(tx, change, before, { type: 'webhook_endpoint.deleted', patch: { deletedAt: new Date(), headers: null } });
  await cancelPendingDeliveries(tx, before.id);
  await tx.delete(webhookSecrets).where(eq(webhookSecrets.endpointId, before.id));
  for (const type of [disabledAttention, failingAttention]) {
    await settleAttention(tx, { type, objectId: before.id, resolution: 'The endpoint was deleted.' }, row.updatedAt);
  }
  afterCommit(tx, requestWake);
  return row;
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
