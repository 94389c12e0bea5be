import { Module } from '@nestjs/common';
import { WebhookDeliveriesModule } from '../webhook-deliveries/webhook-deliveries.module.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';

@Module({ imports: [WebhookDeliveriesModule], controllers: [EventsController], providers: [EventsService] })
export class EventsModule {}
