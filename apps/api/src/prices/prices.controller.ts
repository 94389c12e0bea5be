import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiParam, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, expandQuery, pageOf, type ExpandQuery } from '../kernel/lists.dto.js';
import {
  amountPath, createPriceBody, findByAmountQuery, listPricesBody, priceShape, pricesQuery, updatePriceBody,
  type AmountPath, type CreatePriceBody, type FindByAmountQuery, type ListPricesBody, type PricesQuery, type UpdatePriceBody,
} from './prices.dto.js';
import { PricesService } from './prices.service.js';

@ApiTags('prices')
@Controller('prices')
export class PricesController {
  constructor(private readonly service: PricesService) {}

  /** Creates a one-time or recurring price of a product; standard pricing, per unit. Currency default: usd. */
  @Post()
  @ApiCreatedResponse({ standardSchema: priceShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createPriceBody }) body: CreatePriceBody) {
    return this.service.create(caller, body);
  }

  /** Prices, by page number. */
  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(priceShape) })
  list(@CurrentCaller() caller: Caller, @Body({ schema: listPricesBody }) body: ListPricesBody) {
    return this.service.list(caller, body);
  }

  /** Prices, newest first, by cursor. */
  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(priceShape) })
  browse(@CurrentCaller() caller: Caller, @Query({ schema: pricesQuery }) query: PricesQuery) {
    return this.service.browse(caller, query);
  }

  /** Prices of exactly this amount in atoms, newest first. */
  @Get('find-by-amount/:amount')
  @ApiParam({ name: 'amount', schema: { type: 'integer', minimum: 0 } })
  @ApiOkResponse({ standardSchema: pageOf(priceShape) })
  findByAmount(
    @CurrentCaller() caller: Caller,
    @Param({ schema: amountPath }) path: AmountPath,
    @Query({ schema: findByAmountQuery }) query: FindByAmountQuery,
  ) {
    return this.service.findByAmount(caller, path, query);
  }

  @Get(':price_id')
  @ApiOkResponse({ standardSchema: priceShape })
  get(@CurrentCaller() caller: Caller, @Param('price_id') id: string, @Query({ schema: expandQuery }) _expand: ExpandQuery) {
    return this.service.get(caller, id);
  }

  /** Active prices that can be bought only together with this one or its product. */
  @Get(':price_id/add-ons')
  @ApiOkResponse({ standardSchema: z.array(priceShape) })
  addOns(@CurrentCaller() caller: Caller, @Param('price_id') id: string) {
    return this.service.addOns(caller, id);
  }

  /** Changes what is given. Once the price was used, what is paid stays: 409. */
  @Put(':price_id')
  @ApiOkResponse({ standardSchema: priceShape })
  update(@CurrentCaller() caller: Caller, @Param('price_id') id: string, @Body({ schema: updatePriceBody }) body: UpdatePriceBody) {
    return this.service.update(caller, id, body);
  }

  /** Deletes a price that nobody used, else archives it (`is_active: false`). */
  @Delete(':price_id')
  @ApiOkResponse({ description: 'Deleted or archived; `message` says which.' })
  delete(@CurrentCaller() caller: Caller, @Param('price_id') id: string) {
    return this.service.delete(caller, id);
  }
}
