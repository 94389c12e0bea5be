import { Injectable } from '@nestjs/common';
import { eq, gte, lt } from 'drizzle-orm';
import { equals } from '../../../../libs/db/list.queries.js';
import { auditEntries } from '../../../../libs/db/schema/index.js';
import { auditEntryView } from '../../../../libs/views/audit-entry.view.js';
import { parseAnyPublicId } from '../../../../libs/views/ids.js';
import type { Caller } from '../kernel/callers.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { cursorPage } from '../kernel/lists.js';
import { invalidRequest } from '../kernel/validation.pipe.js';
import type { AuditLogQuery } from './audit-log.dto.js';

@Injectable()
export class AuditLogService {
  constructor(private readonly infrastructure: Infrastructure) {}

  list(caller: Caller, query: AuditLogQuery) {
    const { db, environment } = this.infrastructure;
    const where = [
      eq(auditEntries.accountId, caller.accountId),
      ...equals(auditEntries.action, query.action),
      ...equals(auditEntries.actor, query.actor),
      query.object_id === undefined ? undefined : eq(auditEntries.objectId, objectOf(caller, query.object_id)),
      query.since ? gte(auditEntries.createdAt, query.since) : undefined,
      query.until ? lt(auditEntries.createdAt, query.until) : undefined,
    ];
    return cursorPage(db, auditEntries, query, { where, view: (row) => auditEntryView(row, environment) });
  }
}

function objectOf(caller: Caller, id: string): string {
  const uuid = parseAnyPublicId(caller.environment, id);
  if (uuid === null) throw invalidRequest([{ loc: ['query', 'object_id'], msg: 'Not an id of this environment', type: 'value_error' }]);
  return uuid;
}
