import { Body, Controller, Delete, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import {
  changedSubscriptionItemShape, createSubscriptionItemBody, deletedSubscriptionItemShape, deleteSubscriptionItemBody, deleteSubscriptionItemQuery,
  updateSubscriptionItemBody,
  type CreateSubscriptionItemBody, type DeleteSubscriptionItemBody, type DeleteSubscriptionItemQuery, type UpdateSubscriptionItemBody,
} from './subscription-items.dto.js';
import { SubscriptionItemsService } from './subscription-items.service.js';

@ApiTags('subscriptions')
@Controller('subscription-items')
export class SubscriptionItemsController {
  constructor(private readonly service: SubscriptionItemsService) {}

  @Post()
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: changedSubscriptionItemShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createSubscriptionItemBody }) body: CreateSubscriptionItemBody) {
    return this.service.create(caller, body);
  }

  @Put(':subscription_item_id')
  @ApiOkResponse({ standardSchema: changedSubscriptionItemShape })
  update(@CurrentCaller() caller: Caller, @Param('subscription_item_id') id: string, @Body({ schema: updateSubscriptionItemBody }) body: UpdateSubscriptionItemBody) {
    return this.service.update(caller, id, body);
  }

  @Delete(':subscription_item_id')
  @ApiOkResponse({ standardSchema: deletedSubscriptionItemShape })
  remove(
    @CurrentCaller() caller: Caller,
    @Param('subscription_item_id') id: string,
    @Query({ schema: deleteSubscriptionItemQuery }) query: DeleteSubscriptionItemQuery,
    @Body({ schema: deleteSubscriptionItemBody }) body: DeleteSubscriptionItemBody,
  ) {
    return this.service.remove(caller, id, {
      drop_at_end: body.drop_at_end ?? query.drop_at_end ?? true,
      proration_behavior: body.proration_behavior ?? query.proration_behavior ?? 'create_prorations',
      is_preview: body.is_preview ?? query.is_preview ?? false,
    });
  }
}
