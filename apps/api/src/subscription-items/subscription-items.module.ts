import { Module } from '@nestjs/common';
import { SubscriptionsModule } from '../subscriptions/subscriptions.module.js';
import { SubscriptionItemsController } from './subscription-items.controller.js';
import { SubscriptionItemsService } from './subscription-items.service.js';

@Module({ imports: [SubscriptionsModule], controllers: [SubscriptionItemsController], providers: [SubscriptionItemsService] })
export class SubscriptionItemsModule {}
