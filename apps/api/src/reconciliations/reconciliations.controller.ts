import { Body, Controller, Get, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf } from '../kernel/lists.dto.js';
import { Roles } from '../kernel/roles.guard.js';
import {
  reconciliationShape, reconciliationsQuery, startReconciliationBody, type ReconciliationsQuery, type StartReconciliationBody,
} from './reconciliations.dto.js';
import { ReconciliationsService } from './reconciliations.service.js';

@ApiTags('payment-processors')
@Controller('payment-processors/:payment_processor_id')
export class ReconciliationsController {
  constructor(private readonly service: ReconciliationsService) {}

  /** Compares what the processor has with what we have; runs in the background. */
  @Post('reconcile')
  @Roles('ADMIN')
  @ApiCreatedResponse({ standardSchema: reconciliationShape })
  start(
    @CurrentCaller() caller: Caller,
    @Param('payment_processor_id') id: string,
    @Body({ schema: startReconciliationBody }) body: StartReconciliationBody,
  ) {
    return this.service.start(caller, id, body);
  }

  @Get('reconciliations')
  @ApiOkResponse({ standardSchema: cursorPageOf(reconciliationShape) })
  browse(@CurrentCaller() caller: Caller, @Param('payment_processor_id') id: string, @Query({ schema: reconciliationsQuery }) query: ReconciliationsQuery) {
    return this.service.browse(caller, id, query);
  }
}
