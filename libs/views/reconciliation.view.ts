import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';

export interface ReconciliationFields {
  id: string;
  accountId: string;
  processorId: string;
  since: Date;
  until: Date;
  status: 'running' | 'done' | 'failed' | 'not_supported';
  compared: number;
  differences: number;
  details: Record<string, unknown> | null;
  night: string | null;
  startedAt: Date;
  finishedAt: Date | null;
}

/** `details.healed`: what was learned from the processor; what a person must look at is on the attention list. */
export function reconciliationView(row: ReconciliationFields, environment: Environment) {
  return {
    id: publicId('recon', environment, row.id),
    object: 'reconciliation',
    account_id: publicId('acct', environment, row.accountId),
    processor_id: publicId('processor', environment, row.processorId),
    since: row.since.toISOString(),
    until: row.until.toISOString(),
    status: row.status,
    compared: row.compared,
    differences: row.differences,
    details: row.details ?? {},
    night: row.night,
    started_at: row.startedAt.toISOString(),
    finished_at: row.finishedAt?.toISOString() ?? null,
  };
}

export type ReconciliationView = ReturnType<typeof reconciliationView>;
