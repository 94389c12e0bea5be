import { Module } from '@nestjs/common';
import { WebhookEndpointsController } from './webhook-endpoints.controller.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';
import { WebhookSecretsService } from './webhook-secrets.service.js';

@Module({ controllers: [WebhookEndpointsController], providers: [WebhookEndpointsService, WebhookSecretsService] })
export class WebhookEndpointsModule {}
