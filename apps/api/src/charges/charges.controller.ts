import { Body, Controller, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, pageOf } from '../kernel/lists.dto.js';
import {
  chargeShape, chargesQuery, getQuery, listChargesBody, updateChargeBody, type ChargesQuery, type ListChargesBody, type UpdateChargeBody,
} from './charges.dto.js';
import { ChargesService } from './charges.service.js';

@ApiTags('charges')
@Controller('charges')
export class ChargesController {
  constructor(private readonly service: ChargesService) {}

  /** Attempts at processors, newest first. */
  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(chargeShape) })
  page(@CurrentCaller() caller: Caller, @Query({ schema: chargesQuery }) query: ChargesQuery) {
    return this.service.page(caller, query);
  }

  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(chargeShape) })
  list(@CurrentCaller() caller: Caller, @Body({ schema: listChargesBody }) body: ListChargesBody) {
    return this.service.list(caller, body);
  }

  @Get(':charge_id')
  @ApiOkResponse({ standardSchema: chargeShape })
  get(@CurrentCaller() caller: Caller, @Param('charge_id') id: string, @Query({ schema: getQuery }) _query: unknown) {
    return this.service.get(caller, id);
  }

  @Put(':charge_id')
  @ApiOkResponse({ standardSchema: chargeShape })
  update(@CurrentCaller() caller: Caller, @Param('charge_id') id: string, @Body({ schema: updateChargeBody }) body: UpdateChargeBody) {
    return this.service.update(caller, id, body);
  }
}
