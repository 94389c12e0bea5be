import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { z } from 'zod';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, pageOf } from '../kernel/lists.dto.js';
import { Roles } from '../kernel/roles.guard.js';
import {
  createPaymentRouteBody, deletePaymentRouteShape, evaluatePaymentRouteBody, listPaymentRoutesBody, paymentRouteShape, paymentRoutesQuery,
  paymentRouteVersionShape, publishPaymentRouteBody, routeEvaluationShape, updatePaymentRouteBody,
  type CreatePaymentRouteBody, type EvaluatePaymentRouteBody, type ListPaymentRoutesBody, type PaymentRoutesQuery,
  type PublishPaymentRouteBody, type UpdatePaymentRouteBody,
} from './payment-routes.dto.js';
import { PaymentRoutesService } from './payment-routes.service.js';

@ApiTags('payment-routes')
@Controller('payment-routes')
export class PaymentRoutesController {
  constructor(private readonly service: PaymentRoutesService) {}

  /** Makes version 1 and publishes it, unless `draft`. A mistake in the document is 422 and names its path. */
  @Post()
  @ApiCreatedResponse({ standardSchema: paymentRouteShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createPaymentRouteBody }) body: CreatePaymentRouteBody) {
    return this.service.create(caller, body);
  }

  /** Routes, newest first. */
  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(paymentRouteShape) })
  page(@CurrentCaller() caller: Caller, @Query({ schema: paymentRoutesQuery }) query: PaymentRoutesQuery) {
    return this.service.page(caller, query);
  }

  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(paymentRouteShape) })
  list(@CurrentCaller() caller: Caller, @Body({ schema: listPaymentRoutesBody }) body: ListPaymentRoutesBody) {
    return this.service.list(caller, body);
  }

  @Get(':payment_route_id')
  @ApiOkResponse({ standardSchema: paymentRouteShape })
  get(@CurrentCaller() caller: Caller, @Param('payment_route_id') id: string) {
    return this.service.get(caller, id);
  }

  /** With a document makes the next version and publishes it, unless `draft`. An OPERATOR may not rename a live route: 403. */
  @Put(':payment_route_id')
  @ApiOkResponse({ standardSchema: paymentRouteShape })
  update(@CurrentCaller() caller: Caller, @Param('payment_route_id') id: string, @Body({ schema: updatePaymentRouteBody }) body: UpdatePaymentRouteBody) {
    return this.service.update(caller, id, body);
  }

  @Delete(':payment_route_id')
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: deletePaymentRouteShape })
  delete(@CurrentCaller() caller: Caller, @Param('payment_route_id') id: string) {
    return this.service.delete(caller, id);
  }

  /** Publishes a draft, or rolls back to an older version. */
  @Post(':payment_route_id/publish')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: paymentRouteShape })
  publish(@CurrentCaller() caller: Caller, @Param('payment_route_id') id: string, @Body({ schema: publishPaymentRouteBody }) body: PublishPaymentRouteBody) {
    return this.service.publish(caller, id, body.version);
  }

  /** All versions, newest first. */
  @Get(':payment_route_id/versions')
  @ApiOkResponse({ standardSchema: z.object({ data: z.array(paymentRouteVersionShape) }) })
  versions(@CurrentCaller() caller: Caller, @Param('payment_route_id') id: string) {
    return this.service.versions(caller, id);
  }

  /** What the route would do with a hypothetical payment; nothing is stored. */
  @Post(':payment_route_id/evaluate')
  @HttpCode(200)
  @Roles('READ_ONLY')
  @ApiOkResponse({ standardSchema: routeEvaluationShape })
  evaluate(@CurrentCaller() caller: Caller, @Param('payment_route_id') id: string, @Body({ schema: evaluatePaymentRouteBody }) body: EvaluatePaymentRouteBody) {
    return this.service.evaluate(caller, id, body);
  }
}
