import { index, pgTable, text, uuid } from 'drizzle-orm/pg-core';
import { accountId, id, instant, object } from './columns.js';

/** Who did what with a secret. Only ever added to; written in the transaction of what it tells of. */
export const auditEntries = pgTable(
  'audit_entries',
  {
    id: id(),
    accountId: accountId(),
    action: text().notNull(),
    /** Kind of the object's id. */
    kind: text().notNull(),
    objectId: uuid().notNull(),
    /** Public id of the token; null for the service itself. */
    actor: text(),
    /** Where the request came from. */
    address: text(),
    requestId: text(),
    details: object(),
    createdAt: instant().notNull(),
  },
  (t) => [
    index('audit_entries_account').on(t.accountId, t.id),
    index('audit_entries_object').on(t.objectId, t.id),
  ],
);

export type AuditEntryRow = typeof auditEntries.$inferSelect;
