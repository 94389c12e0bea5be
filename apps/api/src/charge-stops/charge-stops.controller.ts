import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, pageOf } from '../kernel/lists.dto.js';
import { Roles } from '../kernel/roles.guard.js';
import {
  chargeStopShape, chargeStopsQuery, liftChargeStopBody, listChargeStopsBody, startChargeStopBody,
  type ChargeStopsQuery, type LiftChargeStopBody, type ListChargeStopsBody, type StartChargeStopBody,
} from './charge-stops.dto.js';
import { ChargeStopsService } from './charge-stops.service.js';

@ApiTags('charge-stops')
@Controller('charge-stops')
export class ChargeStopsController {
  constructor(private readonly service: ChargeStopsService) {}

  /** After the answer no attempt begins in its scope. Lookups, callbacks, captures, voids and refunds go on. */
  @Post()
  @Roles('ADMIN')
  @ApiCreatedResponse({ standardSchema: chargeStopShape })
  start(@CurrentCaller() caller: Caller, @Body({ schema: startChargeStopBody }) body: StartChargeStopBody) {
    return this.service.start(caller, body);
  }

  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(chargeStopShape) })
  browse(@CurrentCaller() caller: Caller, @Query({ schema: chargeStopsQuery }) query: ChargeStopsQuery) {
    return this.service.browse(caller, query);
  }

  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(chargeStopShape) })
  list(@CurrentCaller() caller: Caller, @Body({ schema: listChargeStopsBody }) body: ListChargeStopsBody) {
    return this.service.list(caller, body);
  }

  @Get(':charge_stop_id')
  @ApiOkResponse({ standardSchema: chargeStopShape })
  get(@CurrentCaller() caller: Caller, @Param('charge_stop_id') id: string) {
    return this.service.get(caller, id);
  }

  /** What waited begins again, at most so many a second. New payments begin at once. */
  @Post(':charge_stop_id/lift')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: chargeStopShape })
  lift(@CurrentCaller() caller: Caller, @Param('charge_stop_id') id: string, @Body({ schema: liftChargeStopBody }) body: LiftChargeStopBody) {
    return this.service.lift(caller, id, body);
  }
}
