import { Module } from '@nestjs/common';
import { WebhookDeliveriesModule } from '../webhook-deliveries/webhook-deliveries.module.js';
import { EventExportsService } from './event-exports.service.js';
import { EventReaders } from './event-readers.js';
import { EventStreamsService } from './event-streams.service.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';

@Module({ imports: [WebhookDeliveriesModule], controllers: [EventsController], providers: [EventsService, EventExportsService, EventStreamsService, EventReaders] })
export class EventsModule {}
