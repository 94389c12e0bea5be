import { Body, Controller, Param, Post } from '@nestjs/common';
import { ApiCreatedResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { Roles } from '../kernel/roles.guard.js';
import { noBody } from '../webhook-endpoints/webhook-endpoints.dto.js';
import { recoverBody, resendFailedBody, webhookJobShape, type RecoverBody, type ResendFailedBody } from './webhook-jobs.dto.js';
import { WebhookJobsService } from './webhook-jobs.service.js';

@ApiTags('webhook-jobs')
@Controller('webhook-endpoints/:webhook_endpoint_id')
export class EndpointJobsController {
  constructor(private readonly service: WebhookJobsService) {}

  @Post('recover')
  @Roles('ADMIN')
  @ApiCreatedResponse({ standardSchema: webhookJobShape })
  recover(@CurrentCaller() caller: Caller, @Param('webhook_endpoint_id') id: string, @Body({ schema: recoverBody }) body: RecoverBody) {
    return this.service.recover(caller, id, body);
  }

  @Post('resend-failed')
  @Roles('ADMIN')
  @ApiCreatedResponse({ standardSchema: webhookJobShape })
  resendFailed(@CurrentCaller() caller: Caller, @Param('webhook_endpoint_id') id: string, @Body({ schema: resendFailedBody }) body: ResendFailedBody) {
    return this.service.resendFailed(caller, id, body);
  }

  @Post('cancel-pending')
  @Roles('ADMIN')
  @ApiCreatedResponse({ standardSchema: webhookJobShape })
  cancelPending(@CurrentCaller() caller: Caller, @Param('webhook_endpoint_id') id: string, @Body({ schema: noBody }) _body: object) {
    return this.service.cancelPending(caller, id);
  }
}
