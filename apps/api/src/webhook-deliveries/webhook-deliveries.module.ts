import { Module } from '@nestjs/common';
import { ResendsService } from './resends.service.js';
import { WebhookAttemptsController } from './webhook-attempts.controller.js';
import { WebhookDeliveriesController } from './webhook-deliveries.controller.js';
import { WebhookDeliveriesService } from './webhook-deliveries.service.js';

@Module({ controllers: [WebhookDeliveriesController, WebhookAttemptsController], providers: [WebhookDeliveriesService, ResendsService], exports: [ResendsService] })
export class WebhookDeliveriesModule {}
