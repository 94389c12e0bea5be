import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, pageOf } from '../kernel/lists.dto.js';
import { mergeCancel } from './subscription-requests.js';
import { SubscriptionReadsService } from './subscription-reads.service.js';
import {
  cancelledSubscriptionShape, cancelSubscriptionBody, cancelSubscriptionOptionalBody, cancelSubscriptionQuery, createdSubscriptionShape,
  createSubscriptionBody, emptyBody, listSubscriptionsBody, pauseSubscriptionBody, resumedSubscriptionShape, resumeSubscriptionBody,
  subscriptionShape, subscriptionsQuery, updatedSubscriptionShape, updateSubscriptionBody,
  type CancelSubscriptionBody, type CancelSubscriptionOptionalBody, type CancelSubscriptionQuery, type CreateSubscriptionBody,
  type ListSubscriptionsBody, type PauseSubscriptionBody, type ResumeSubscriptionBody, type SubscriptionsQuery, type UpdateSubscriptionBody,
} from './subscriptions.dto.js';
import { SubscriptionsService } from './subscriptions.service.js';

@ApiTags('subscriptions')
@Controller('subscriptions')
export class SubscriptionsController {
  constructor(
    private readonly service: SubscriptionsService,
    private readonly reads: SubscriptionReadsService,
  ) {}

  /**
   * Begins a subscription. Without a trial the answer waits for the first payment, at most 10 s; a decline answers 200 with
   * `billing_status: incomplete`, and may be confirmed again by `POST /invoices/{id}/pay`. It ends after 23 h unpaid.
   */
  @Post()
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: createdSubscriptionShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createSubscriptionBody }) body: CreateSubscriptionBody) {
    return this.service.create(caller, body);
  }

  /** Subscriptions, by page number. */
  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(subscriptionShape) })
  list(@CurrentCaller() caller: Caller, @Body({ schema: listSubscriptionsBody }) body: ListSubscriptionsBody) {
    return this.reads.list(caller, body);
  }

  /** Subscriptions, newest first, by cursor. */
  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(subscriptionShape) })
  browse(@CurrentCaller() caller: Caller, @Query({ schema: subscriptionsQuery }) query: SubscriptionsQuery) {
    return this.reads.browse(caller, query);
  }

  @Get(':subscription_id')
  @ApiOkResponse({ standardSchema: subscriptionShape })
  get(@CurrentCaller() caller: Caller, @Param('subscription_id') id: string) {
    return this.service.get(caller, id);
  }

  /** Changes what is given: absent stays, null clears. */
  @Put(':subscription_id')
  @ApiOkResponse({ standardSchema: updatedSubscriptionShape })
  update(@CurrentCaller() caller: Caller, @Param('subscription_id') id: string, @Body({ schema: updateSubscriptionBody }) body: UpdateSubscriptionBody) {
    return this.service.update(caller, id, body);
  }

  /**
   * Pauses now, keeping the time that is left, or at the period's end for some cycles. While paused it changes only
   * `resumes_at`. 409 `invalid_state_transition` while the first payment is open.
   */
  @Put(':subscription_id/pause')
  @ApiOkResponse({ standardSchema: subscriptionShape })
  pause(@CurrentCaller() caller: Caller, @Param('subscription_id') id: string, @Body({ schema: pauseSubscriptionBody }) body: PauseSubscriptionBody) {
    return this.service.pause(caller, id, body);
  }

  /** Gives kept time back at once; where a new period begins, it stays paused until that is paid. */
  @Put(':subscription_id/resume')
  @ApiOkResponse({ standardSchema: resumedSubscriptionShape })
  resume(@CurrentCaller() caller: Caller, @Param('subscription_id') id: string, @Body({ schema: resumeSubscriptionBody }) body: ResumeSubscriptionBody) {
    return this.service.resume(caller, id, body);
  }

  /** Cancels now. To cancel at the period's end, set `cancel_at_end` by PUT. */
  @Post(':subscription_id/cancel')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: cancelledSubscriptionShape })
  cancel(@CurrentCaller() caller: Caller, @Param('subscription_id') id: string, @Body({ schema: cancelSubscriptionBody }) body: CancelSubscriptionBody) {
    return this.service.cancel(caller, id, body);
  }

  /** The same as `POST …/cancel`; the fields may stand in the query. */
  @Delete(':subscription_id')
  @ApiOkResponse({ standardSchema: cancelledSubscriptionShape })
  remove(
    @CurrentCaller() caller: Caller,
    @Param('subscription_id') id: string,
    @Query({ schema: cancelSubscriptionQuery }) query: CancelSubscriptionQuery,
    @Body({ schema: cancelSubscriptionOptionalBody }) body: CancelSubscriptionOptionalBody,
  ) {
    return this.service.cancel(caller, id, mergeCancel(query, body));
  }

  /** Subscriptions carry no discount yet: there is none to take off, and the answer is the subscription as it stands. */
  @Delete(':subscription_id/discount')
  @ApiOkResponse({ standardSchema: subscriptionShape })
  removeDiscount(@CurrentCaller() caller: Caller, @Param('subscription_id') id: string) {
    return this.service.get(caller, id);
  }

  /** Ends the trial now: the first period begins and is charged. */
  @Post(':subscription_id/cancel-subscription-trial')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: subscriptionShape })
  endTrial(@CurrentCaller() caller: Caller, @Param('subscription_id') id: string, @Body({ schema: emptyBody }) _body: unknown) {
    return this.service.endTrial(caller, id);
  }

  /** Looks at payments and payment methods again, and answers the subscription as it stands. */
  @Post(':subscription_id/refresh-status')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: subscriptionShape })
  refresh(@CurrentCaller() caller: Caller, @Param('subscription_id') id: string, @Body({ schema: emptyBody }) _body: unknown) {
    return this.service.refresh(caller, id);
  }
}
