import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf } from '../kernel/lists.dto.js';
import { Roles } from '../kernel/roles.guard.js';
import { noBody } from '../webhook-endpoints/webhook-endpoints.dto.js';
import { attemptsShape, listedDeliveryShape, listWebhookDeliveriesQuery, resentDeliveryShape, type ListWebhookDeliveriesQuery } from './webhook-deliveries.dto.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';

@ApiTags('webhook-deliveries')
@Controller('webhook-deliveries')
export class WebhookDeliveriesController {
  constructor(private readonly service: WebhookDeliveriesService) {}

  /** Deliveries (one per event and endpoint), newest first in the order of commits: following the cursors never misses one that committed late. */
  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(listedDeliveryShape) })
  list(@CurrentCaller() caller: Caller, @Query({ schema: listWebhookDeliveriesQuery }) query: ListWebhookDeliveriesQuery) {
    return this.service.list(caller, query);
  }

  @Get(':delivery_id')
  @ApiOkResponse({ standardSchema: listedDeliveryShape })
  get(@CurrentCaller() caller: Caller, @Param('delivery_id') id: string) {
    return this.service.get(caller, id);
  }

  /** Every attempt, oldest first, with the receiver's answer. */
  @Get(':delivery_id/attempts')
  @ApiOkResponse({ standardSchema: attemptsShape })
  attempts(@CurrentCaller() caller: Caller, @Param('delivery_id') id: string) {
    return this.service.attempts(caller, id);
  }

  /** Posts the event again now, whatever the delivery's state, and answers with the result. A success cancels a planned retry. */
  @Post(':delivery_id/resend')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: resentDeliveryShape })
  resend(@CurrentCaller() caller: Caller, @Param('delivery_id') id: string, @Body({ schema: noBody }) _body: object) {
    return this.service.resend(caller, id);
  }

  /** Gives a waiting delivery up; one that does not wait: 409. */
  @Post(':delivery_id/cancel')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: listedDeliveryShape })
  cancel(@CurrentCaller() caller: Caller, @Param('delivery_id') id: string, @Body({ schema: noBody }) _body: object) {
    return this.service.cancel(caller, id);
  }
}
