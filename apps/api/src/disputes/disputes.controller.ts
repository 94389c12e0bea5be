import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, pageOf } from '../kernel/lists.dto.js';
import { createDisputeBody, disputeShape, disputesQuery, listDisputesBody, type CreateDisputeBody, type DisputesQuery, type ListDisputesBody } from './disputes.dto.js';
import { DisputesService } from './disputes.service.js';

@ApiTags('disputes')
@Controller('dispute')
export class DisputesController {
  constructor(private readonly service: DisputesService) {}

  /** Reports a dispute by hand, of a payment named by our id or by the processor's. */
  @Post()
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: disputeShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createDisputeBody }) body: CreateDisputeBody) {
    return this.service.create(caller, body);
  }

  /** Disputes, newest first. */
  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(disputeShape) })
  page(@CurrentCaller() caller: Caller, @Query({ schema: disputesQuery }) query: DisputesQuery) {
    return this.service.page(caller, query);
  }

  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(disputeShape) })
  list(@CurrentCaller() caller: Caller, @Body({ schema: listDisputesBody }) body: ListDisputesBody) {
    return this.service.list(caller, body);
  }

  @Get(':dispute_id')
  @ApiOkResponse({ standardSchema: disputeShape })
  get(@CurrentCaller() caller: Caller, @Param('dispute_id') id: string) {
    return this.service.get(caller, id);
  }
}
