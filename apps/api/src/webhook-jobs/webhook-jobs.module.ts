import { Module } from '@nestjs/common';
import { EndpointJobsController } from './endpoint-jobs.controller.js';
import { WebhookJobsController } from './webhook-jobs.controller.js';
import { WebhookJobsService } from './webhook-jobs.service.js';

@Module({ controllers: [WebhookJobsController, EndpointJobsController], providers: [WebhookJobsService] })
export class WebhookJobsModule {}
