import { z } from 'zod';
import { instant, text } from '../kernel/fields.dto.js';
import { cursorQuery } from '../kernel/lists.dto.js';

export const auditLogQuery = cursorQuery({
  action: text(100).optional().describe('For example `webhook_secret.revealed`'),
  object_id: text(100).optional(),
  actor: text(100).optional().describe('Id of the token'),
  since: instant.optional(),
  until: instant.optional(),
});
export type AuditLogQuery = z.infer<typeof auditLogQuery>;

export const auditEntryShape = z.object({
  id: z.string(),
  object: z.literal('audit_entry'),
  account_id: z.string(),
  action: z.string(),
  object_id: z.string(),
  actor: z.string().nullable().describe('The token that it was done with'),
  ip_address: z.string().nullable(),
  request_id: z.string().nullable(),
  details: z.record(z.string(), z.unknown()).nullable(),
  created_at: z.iso.datetime(),
}).meta({ id: 'AuditEntry' });
