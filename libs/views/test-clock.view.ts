import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';

export interface TestClockFields {
  id: string;
  accountId: string;
  name: string | null;
  status: 'ready' | 'advancing' | 'internal_failure';
  frozenTime: Date;
  targetTime: Date | null;
  advancedFrom: Date | null;
  actionsDone: number;
  waitingFor: string | null;
  failureReason: string | null;
  deletedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

/**
 * `frozen_time` is what the clock shows; while it advances, the time up to which everything has happened. `progress` tells of the
 * running or last advance: facts that happened, the way from its start to `target_time` in percent, and the subscription whose
 * payment holds it.
 */
export function testClockView(row: TestClockFields, environment: Environment) {
  return {
    id: publicId('clock', environment, row.id),
    object: 'test_clock',
    account_id: publicId('acct', environment, row.accountId),
    name: row.name,
    status: row.status,
    frozen_time: row.frozenTime.toISOString(),
    target_time: row.targetTime?.toISOString() ?? null,
    progress: { actions_done: row.actionsDone, percent: percentOf(row), waiting_for: row.waitingFor && publicId('sub', environment, row.waitingFor) },
    failure_reason: row.failureReason,
    is_deleted: row.deletedAt !== null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}

export type TestClockView = ReturnType<typeof testClockView>;

function percentOf({ status, frozenTime, advancedFrom, targetTime }: TestClockFields): number {
  if (status === 'ready' || !advancedFrom || !targetTime) return 100;
  const [from, to] = [advancedFrom.getTime(), targetTime.getTime()];
  return Math.floor((100 * (frozenTime.getTime() - from)) / (to - from));
}
