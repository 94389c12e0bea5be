import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf } from '../kernel/lists.dto.js';
import { deliveryAttemptShape, listWebhookAttemptsQuery, type ListWebhookAttemptsQuery } from './webhook-deliveries.dto.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';

@ApiTags('webhook-deliveries')
@Controller('webhook-attempts')
export class WebhookAttemptsController {
  constructor(private readonly service: WebhookDeliveriesService) {}

  /** Attempts across deliveries, newest first in the order of commits. */
  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(deliveryAttemptShape) })
  list(@CurrentCaller() caller: Caller, @Query({ schema: listWebhookAttemptsQuery }) query: ListWebhookAttemptsQuery) {
    return this.service.listAttempts(caller, query);
  }
}
