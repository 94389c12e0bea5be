import { transact } from '../../../../libs/db/change.js';
import type { Db, Tx } from '../../../../libs/db/client.js';
import { oncePerCommand } from '../../../../libs/db/command.writes.js';
import type { WebhookEndpointRow } from '../../../../libs/db/schema/index.js';
import { lockEndpoint } from '../../../../libs/db/webhook-endpoint.queries.js';
import { notFound } from '../../../../libs/errors/domain-error.js';
import type { Caller } from '../kernel/callers.js';

/** One change of the locked row; a retry of the same command finds it done. */
export async function changeLocked(db: Db, caller: Caller, endpointId: string, effect: (tx: Tx, row: WebhookEndpointRow) => Promise<unknown>): Promise<void> {
  const change = caller.change();
  await transact(db, change, async (tx) => {
    const row = await lockedRow(tx, caller, endpointId);
    await oncePerCommand(tx, change, { objectId: endpointId }, async () => {
      await effect(tx, row);
      return true;
    });
  });
}

/** @throws DomainError 404 */
export async function lockedRow(tx: Tx, caller: Caller, endpointId: string): Promise<WebhookEndpointRow> {
  const row = await lockEndpoint(tx, caller.accountId, endpointId);
  if (!row) throw notFound('webhook endpoint');
  return row;
}
