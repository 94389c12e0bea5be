import type { Environment } from '../domain/environment.js';
import { publicId } from './ids.js';

export interface WebhookJobFields {
  id: string;
  accountId: string;
  endpointId: string;
  kind: 'recover' | 'resend_failed' | 'cancel_pending';
  status: 'running' | 'completed' | 'failed' | 'cancelled';
  reason: string | null;
  since: Date | null;
  until: Date;
  counted: number;
  total: number | null;
  processed: number;
  delivered: number | null;
  undelivered: number | null;
  finishedAt: Date | null;
  createdAt: Date;
  updatedAt: Date;
}

export function webhookJobView(row: WebhookJobFields, environment: Environment) {
  return {
    id: publicId('job', environment, row.id),
    object: 'webhook_job',
    account_id: publicId('acct', environment, row.accountId),
    endpoint_id: publicId('webhook_endpoint', environment, row.endpointId),
    kind: row.kind,
    status: row.status,
    reason: row.reason,
    since: row.since?.toISOString() ?? null,
    until: row.until.toISOString(),
    counted: row.counted,
    total: row.total,
    processed: row.processed,
    delivered: row.delivered,
    undelivered: row.undelivered,
    finished_at: row.finishedAt?.toISOString() ?? null,
    created_at: row.createdAt.toISOString(),
    updated_at: row.updatedAt.toISOString(),
  };
}
