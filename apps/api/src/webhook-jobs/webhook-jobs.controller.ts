import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf } from '../kernel/lists.dto.js';
import { Roles } from '../kernel/roles.guard.js';
import { noBody } from '../webhook-endpoints/webhook-endpoints.dto.js';
import { listWebhookJobsQuery, webhookJobShape, type ListWebhookJobsQuery } from './webhook-jobs.dto.js';
import { WebhookJobsService } from './webhook-jobs.service.js';

@ApiTags('webhook-jobs')
@Controller('webhook-jobs')
export class WebhookJobsController {
  constructor(private readonly service: WebhookJobsService) {}

  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(webhookJobShape) })
  list(@CurrentCaller() caller: Caller, @Query({ schema: listWebhookJobsQuery }) query: ListWebhookJobsQuery) {
    return this.service.list(caller, query);
  }

  @Get(':webhook_job_id')
  @ApiOkResponse({ standardSchema: webhookJobShape })
  get(@CurrentCaller() caller: Caller, @Param('webhook_job_id') id: string) {
    return this.service.get(caller, id);
  }

  /** What it has put into the queue stays there. */
  @Post(':webhook_job_id/cancel')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: webhookJobShape })
  cancel(@CurrentCaller() caller: Caller, @Param('webhook_job_id') id: string, @Body({ schema: noBody }) _body: object) {
    return this.service.cancel(caller, id);
  }
}
