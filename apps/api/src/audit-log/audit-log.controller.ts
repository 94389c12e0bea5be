import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf } from '../kernel/lists.dto.js';
import { Roles } from '../kernel/roles.guard.js';
import { auditEntryShape, auditLogQuery, type AuditLogQuery } from './audit-log.dto.js';
import { AuditLogService } from './audit-log.service.js';

@ApiTags('audit-log')
@Controller('audit-log')
export class AuditLogController {
  constructor(private readonly service: AuditLogService) {}

  /** Who created, revealed, rotated or revoked a signing secret, when, and from which address. Newest first. */
  @Get()
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: cursorPageOf(auditEntryShape) })
  list(@CurrentCaller() caller: Caller, @Query({ schema: auditLogQuery }) query: AuditLogQuery) {
    return this.service.list(caller, query);
  }
}
