import { Body, Controller, Get, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { pageOf } from '../kernel/lists.dto.js';
import { Roles } from '../kernel/roles.guard.js';
import { SubscriptionReadsService } from './subscription-reads.service.js';
import {
  listSubscriptionItemsBody, subscriptionItemShape, validSubscriptionsBody, validSubscriptionsShape,
  type ListSubscriptionItemsBody, type ValidSubscriptionsBody,
} from './subscriptions.dto.js';

@ApiTags('subscriptions')
@Controller()
export class ValidSubscriptionsController {
  constructor(private readonly reads: SubscriptionReadsService) {}

  /** The customer's subscriptions under which service may be given now. */
  @Post('customers/:customer_id/list_valid_subscriptions')
  @HttpCode(200)
  @Roles('READ_ONLY')
  @ApiOkResponse({ standardSchema: validSubscriptionsShape })
  valid(@CurrentCaller() caller: Caller, @Param('customer_id') id: string, @Body({ schema: validSubscriptionsBody }) body: ValidSubscriptionsBody) {
    return this.reads.valid(caller, id, body);
  }

  @Get('subscription-items/:subscription_item_id')
  @ApiOkResponse({ standardSchema: subscriptionItemShape })
  item(@CurrentCaller() caller: Caller, @Param('subscription_item_id') id: string) {
    return this.reads.item(caller, id);
  }

  @Post('subscription-items/list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(subscriptionItemShape) })
  items(@CurrentCaller() caller: Caller, @Body({ schema: listSubscriptionItemsBody }) body: ListSubscriptionItemsBody) {
    return this.reads.items(caller, body);
  }
}
