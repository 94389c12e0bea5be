import type { Environment } from '../domain/environment.js';
import { publicId, type IdKind } from './ids.js';

export interface ChargeStopFields {
  id: string;
  accountId: string;
  scope: 'account' | 'processor' | 'price';
  objectId: string;
  reason: string;
  startedBy: string | null;
  startedAt: Date;
  liftedBy: string | null;
  liftedAt: Date | null;
  restartPerSecond: number | null;
  drainedAt: Date | null;
}

const kinds: Record<ChargeStopFields['scope'], IdKind> = { account: 'acct', processor: 'processor', price: 'price' };

/** The id of what is stopped. */
export function stoppedObject({ scope, objectId }: Pick<ChargeStopFields, 'scope' | 'objectId'>, environment: Environment): string {
  return publicId(kinds[scope], environment, objectId);
}

/** `stands` until it is lifted, then `restarting` while payments wait, then `lifted`. */
export function chargeStopView(row: ChargeStopFields, environment: Environment, waiting: number) {
  return {
    id: publicId('stop', environment, row.id),
    object: 'charge_stop',
    account_id: publicId('acct', environment, row.accountId),
    scope: row.scope,
    object_id: stoppedObject(row, environment),
    status: row.liftedAt === null ? 'stands' : row.drainedAt === null ? 'restarting' : 'lifted',
    reason: row.reason,
    waiting_payments: waiting,
    started_by: row.startedBy,
    started_at: row.startedAt.toISOString(),
    lifted_by: row.liftedBy,
    lifted_at: row.liftedAt?.toISOString() ?? null,
    restart_per_second: row.restartPerSecond,
    drained_at: row.drainedAt?.toISOString() ?? null,
    created_at: row.startedAt.toISOString(),
    updated_at: (row.drainedAt ?? row.liftedAt ?? row.startedAt).toISOString(),
  };
}

export type ChargeStopView = ReturnType<typeof chargeStopView>;
