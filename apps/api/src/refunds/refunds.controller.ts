import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, pageOf } from '../kernel/lists.dto.js';
import { createRefundBody, listRefundsBody, refundShape, refundsQuery, type CreateRefundBody, type ListRefundsBody, type RefundsQuery } from './refunds.dto.js';
import { RefundsService } from './refunds.service.js';

@ApiTags('refunds')
@Controller('refunds')
export class RefundsController {
  constructor(private readonly service: RefundsService) {}

  /**
   * Gives captured money back, all or part of it. 422 `refund_exceeds_captured` above what is left; 409 beside another
   * operation on the charge, for a payment that took no money, and for a likely duplicate sent without an idempotency key.
   * A refund whose outcome is not known yet stays `pending` and goes on by itself.
   */
  @Post()
  @ApiCreatedResponse({ standardSchema: refundShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createRefundBody }) body: CreateRefundBody) {
    return this.service.create(caller, body);
  }

  /** Refunds, newest first. */
  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(refundShape) })
  page(@CurrentCaller() caller: Caller, @Query({ schema: refundsQuery }) query: RefundsQuery) {
    return this.service.page(caller, query);
  }

  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(refundShape) })
  list(@CurrentCaller() caller: Caller, @Body({ schema: listRefundsBody }) body: ListRefundsBody) {
    return this.service.list(caller, body);
  }

  @Get(':refund_id')
  @ApiOkResponse({ standardSchema: refundShape })
  get(@CurrentCaller() caller: Caller, @Param('refund_id') id: string) {
    return this.service.get(caller, id);
  }
}
