import type { Environment } from '../domain/environment.js';
import { publicId, type IdKind } from './ids.js';

export interface AuditEntryFields {
  id: string;
  accountId: string;
  action: string;
  kind: string;
  objectId: string;
  actor: string | null;
  address: string | null;
  requestId: string | null;
  details: Record<string, unknown> | null;
  createdAt: Date;
}

export function auditEntryView(row: AuditEntryFields, environment: Environment) {
  return {
    id: publicId('audit', environment, row.id),
    object: 'audit_entry',
    account_id: publicId('acct', environment, row.accountId),
    action: row.action,
    object_id: publicId(row.kind as IdKind, environment, row.objectId),
    actor: row.actor,
    ip_address: row.address,
    request_id: row.requestId,
    details: row.details,
    created_at: row.createdAt.toISOString(),
  };
}
