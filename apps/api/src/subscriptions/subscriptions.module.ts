import { Module } from '@nestjs/common';
import { SubscriptionAnswersService } from './subscription-answers.service.js';
import { SubscriptionPreviewsService } from './subscription-previews.service.js';
import { SubscriptionReadsService } from './subscription-reads.service.js';
import { SubscriptionsController } from './subscriptions.controller.js';
import { SubscriptionsService } from './subscriptions.service.js';
import { ValidSubscriptionsController } from './valid-subscriptions.controller.js';

@Module({
  controllers: [SubscriptionsController, ValidSubscriptionsController],
  providers: [SubscriptionsService, SubscriptionAnswersService, SubscriptionPreviewsService, SubscriptionReadsService],
  exports: [SubscriptionsService, SubscriptionPreviewsService],
})
export class SubscriptionsModule {}
