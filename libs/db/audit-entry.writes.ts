import type { Change } from '../domain/change/change.js';
import type { IdKind } from '../views/ids.js';
import type { Tx } from './client.js';
import { newId } from './mint.js';
import { auditEntries } from './schema/index.js';

export interface AuditedAction {
  /** Object and verb, for example `webhook_secret.revealed`. */
  action: string;
  kind: IdKind;
  objectId: string;
  /** Where the request came from. */
  address: string | null;
  /** Never a secret. */
  details?: Record<string, unknown> | null;
}

/** Writes down who did it, in the transaction that does it. */
export async function writeAudit(tx: Tx, change: Change, { details, ...action }: AuditedAction): Promise<void> {
  const { accountId, actor, requestId } = change;
  await tx.insert(auditEntries).values({ ...action, id: newId(), accountId, actor, requestId, details: details ?? null, createdAt: new Date() });
}
