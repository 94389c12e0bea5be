import { sql } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { Environment } from '../domain/environment.js';
import { systemChange } from './account.writes.js';
import { raiseAttention, settleAttention } from './attention.writes.js';
import { afterCommit, transact } from './change.js';
import type { Db, Tx } from './client.js';
import { cancelPendingDeliveries } from './delivery.writes.js';
import { releasePutOff } from './drain.writes.js';
import type { WebhookEndpointRow } from './schema/index.js';
import { requestWake } from './wake.js';
import { lockEndpoint } from './webhook-endpoint.queries.js';
import { changeEndpoint, disabledAttention, failingAttention } from './webhook-endpoint.writes.js';

export type DisableReason = 'requested' | 'gone' | 'failing';

const disableTexts: Record<Exclude<DisableReason, 'requested'>, string> = {
  gone: 'The receiver answered 410: it wants no more webhooks.',
  failing: 'Every attempt failed for a long time.',
};

/** No deliveries are made from now on, and those that wait are cancelled. One that nobody asked for goes on the attention list. */
export async function disableEndpoint(tx: Tx, change: Change, before: WebhookEndpointRow, reason: DisableReason): Promise<WebhookEndpointRow> {
  if (before.status === 'disabled') return before;
  const patch = { status: 'disabled', statusReason: reason, failingToldAt: null } as const;
  const row = await changeEndpoint(tx, change, before, { type: 'webhook_endpoint.disabled', patch });
  await cancelPendingDeliveries(tx, before.id);
  await settleAttention(tx, { type: failingAttention, objectId: before.id, resolution: 'The endpoint was disabled.' }, row.updatedAt);
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
  const patch = { status: 'enabled', statusReason: null, consecutiveFailures: 0, failingSince: null, failingToldAt: null, heldUntil: null } as const;
  const row = await changeEndpoint(tx, change, before, { type: 'webhook_endpoint.enabled', patch });
  await settleAttention(tx, { type: disabledAttention, objectId: before.id, resolution: 'The endpoint was enabled again.' }, row.updatedAt);
  return row;
}

/** Deliveries wait until `resumeEndpoint`. */
export async function pauseEndpoint(tx: Tx, change: Change, before: WebhookEndpointRow): Promise<WebhookEndpointRow> {
  return changeEndpoint(tx, change, before, { type: 'webhook_endpoint.paused', patch: { status: 'paused', statusReason: 'requested' } });
}

/** Somebody says that the receiver is there: what waited for its next retry, or for the silence that it asked for, is due now. */
export async function resumeEndpoint(tx: Tx, change: Change, before: WebhookEndpointRow): Promise<WebhookEndpointRow> {
  afterCommit(tx, requestWake);
  await releasePutOff(tx, before.id);
  const patch = { status: 'enabled', statusReason: null, heldUntil: null, consecutiveFailures: 0 } as const;
  return changeEndpoint(tx, change, before, { type: 'webhook_endpoint.resumed', patch });
}

/** A webhook arrived by a post beside the queue: the streak of failures ends as it does by one of the queue's own, and so does the silence that was asked for. */
export async function noteArrival(tx: Tx, change: Change, endpointId: string): Promise<void> {
  const { rows } = await tx.execute<{ told: boolean }>(sql`
    update webhook_endpoints set consecutive_failures = 0, failing_since = null, held_until = null
     where id = ${endpointId} and (consecutive_failures > 0 or failing_since is not null or held_until is not null)
    returning failing_told_at is not null as told`);
  if (rows.length === 0) return;
  const endpoint = rows[0]!.told ? await lockEndpoint(tx, change.accountId, endpointId) : undefined;
  if (endpoint) await recoverEndpoint(tx, change, endpoint);
  await releasePutOff(tx, endpointId);
  afterCommit(tx, requestWake);
}

/** A success after others were told that the endpoint fails. */
export async function recoverEndpoint(tx: Tx, change: Change, before: WebhookEndpointRow): Promise<void> {
  if (before.failingToldAt === null) return;
  const row = await changeEndpoint(tx, change, before, { type: 'webhook_endpoint.recovered', patch: { failingToldAt: null }, notToItself: true });
  await settleAttention(tx, { type: failingAttention, objectId: before.id, resolution: 'A webhook arrived again.' }, row.updatedAt);
}

/** Fewer attempts than this are no habit: a single one that is to be repeated tomorrow says little. */
const fewestFailures = 3;
const mostAtOnce = 100;

/**
 * Tells the account's other endpoints, once, and the attention list of each endpoint that did nothing but fail for `afterMs`. Safe in
 * several workers at once. Returns how many it told of.
 */
export async function tellOfFailingEndpoints(db: Db, environment: Environment, { afterMs }: { afterMs: number }): Promise<number> {
  const { rows } = await db.execute<{ id: string; account: string }>(sql`
    select id, account_id as account from webhook_endpoints
     where failing_since <= clock_timestamp() - ${afterMs}::float8 * interval '1 millisecond' and failing_told_at is null
       and consecutive_failures >= ${fewestFailures} and status = 'enabled' and deleted_at is null
     limit ${mostAtOnce}`);
  let told = 0;
  for (const { id, account } of rows) {
    const change = systemChange(environment, account);
    told += await transact(db, change, (tx) => tellOfFailing(tx, change, id));
  }
  return told;
}

async function tellOfFailing(tx: Tx, change: Change, id: string): Promise<number> {
  const before = await lockEndpoint(tx, change.accountId, id);
  if (!before || before.failingSince === null || before.failingToldAt !== null || before.status !== 'enabled') return 0;
  const patch = { failingToldAt: new Date() };
  const row = await changeEndpoint(tx, change, before, { type: 'webhook_endpoint.failing', patch, notToItself: true });
  await raiseAttention(tx, {
    accountId: row.accountId,
    type: failingAttention,
    kind: 'webhook_endpoint',
    objectId: row.id,
    reason: `Every webhook to it failed since ${before.failingSince.toISOString()}.`,
    details: { url: row.url, since: before.failingSince.toISOString(), failures: row.consecutiveFailures },
    actions: ['Look at GET /webhook-deliveries?endpoint_id={id}&status=pending and their attempts, and repair the receiver.', 'Or POST /webhook-endpoints/{id}/pause until it works.'],
  }, row.updatedAt);
  return 1;
}
