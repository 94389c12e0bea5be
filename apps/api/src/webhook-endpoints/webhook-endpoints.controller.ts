import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, pageOf } from '../kernel/lists.dto.js';
import { Roles } from '../kernel/roles.guard.js';
import { webhookDeliveryShape } from '../webhook-deliveries/webhook-deliveries.dto.js';
import {
  createWebhookEndpointBody, deletedWebhookEndpointShape, listWebhookEndpointsBody, listWebhookEndpointsQuery, noBody,
  revealedWebhookEndpointShape, revokeSecretBody, rotateSecretBody, updateWebhookEndpointBody, webhookEndpointShape, type CreateWebhookEndpointBody,
  type ListWebhookEndpointsBody, type ListWebhookEndpointsQuery, type RevokeSecretBody, type RotateSecretBody, type UpdateWebhookEndpointBody,
} from './webhook-endpoints.dto.js';
import { WebhookEndpointsService } from './webhook-endpoints.service.js';
import { WebhookSecretsService } from './webhook-secrets.service.js';

@ApiTags('webhook-endpoints')
@Controller('webhook-endpoints')
export class WebhookEndpointsController {
  constructor(private readonly service: WebhookEndpointsService, private readonly secrets: WebhookSecretsService) {}

  /** Registers a receiver and shows its signing secret. It hears of every matching change from now on, not of its own creation. */
  @Post()
  @Roles('ADMIN')
  @ApiCreatedResponse({ standardSchema: revealedWebhookEndpointShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createWebhookEndpointBody }) body: CreateWebhookEndpointBody) {
    return this.service.create(caller, body);
  }

  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(webhookEndpointShape) })
  listNumbered(@CurrentCaller() caller: Caller, @Body({ schema: listWebhookEndpointsBody }) body: ListWebhookEndpointsBody) {
    return this.service.listNumbered(caller, body);
  }

  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(webhookEndpointShape) })
  list(@CurrentCaller() caller: Caller, @Query({ schema: listWebhookEndpointsQuery }) query: ListWebhookEndpointsQuery) {
    return this.service.list(caller, query);
  }

  @Get(':webhook_endpoint_id')
  @ApiOkResponse({ standardSchema: webhookEndpointShape })
  get(@CurrentCaller() caller: Caller, @Param('webhook_endpoint_id') id: string) {
    return this.service.get(caller, id);
  }

  @Put(':webhook_endpoint_id')
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: webhookEndpointShape })
  update(@CurrentCaller() caller: Caller, @Param('webhook_endpoint_id') id: string, @Body({ schema: updateWebhookEndpointBody }) body: UpdateWebhookEndpointBody) {
    return this.service.update(caller, id, body);
  }

  /** Ends the endpoint: what waits is cancelled. */
  @Delete(':webhook_endpoint_id')
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: deletedWebhookEndpointShape })
  delete(@CurrentCaller() caller: Caller, @Param('webhook_endpoint_id') id: string) {
    return this.service.delete(caller, id);
  }

  /** The endpoint with its newest secret, and with all that sign now. Each call is written to the audit log. */
  @Get(':webhook_endpoint_id/reveal_secret')
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: revealedWebhookEndpointShape })
  revealSecret(@CurrentCaller() caller: Caller, @Param('webhook_endpoint_id') id: string) {
    return this.secrets.reveal(caller, id);
  }

  /** A new secret signs first; the ones of now sign beside it until they expire. */
  @Post(':webhook_endpoint_id/rotate_secret')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: revealedWebhookEndpointShape })
  rotateSecret(@CurrentCaller() caller: Caller, @Param('webhook_endpoint_id') id: string, @Body({ schema: rotateSecretBody }) body: RotateSecretBody) {
    return this.secrets.rotate(caller, id, body);
  }

  /** Ends one of the older secrets at once: the next webhooks are not signed with it. */
  @Post(':webhook_endpoint_id/revoke_secret')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: revealedWebhookEndpointShape })
  revokeSecret(@CurrentCaller() caller: Caller, @Param('webhook_endpoint_id') id: string, @Body({ schema: revokeSecretBody }) body: RevokeSecretBody) {
    return this.secrets.revoke(caller, id, body);
  }

  /** Takes deliveries again; those that were cancelled stay so. */
  @Post(':webhook_endpoint_id/enable')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: webhookEndpointShape })
  enable(@CurrentCaller() caller: Caller, @Param('webhook_endpoint_id') id: string, @Body({ schema: noBody }) _body: object) {
    return this.service.enable(caller, id);
  }

  /** Makes no deliveries from now on and cancels those that wait. */
  @Post(':webhook_endpoint_id/disable')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: webhookEndpointShape })
  disable(@CurrentCaller() caller: Caller, @Param('webhook_endpoint_id') id: string, @Body({ schema: noBody }) _body: object) {
    return this.service.disable(caller, id);
  }

  /** Deliveries are made and wait. A disabled endpoint cannot be paused: 409. */
  @Post(':webhook_endpoint_id/pause')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: webhookEndpointShape })
  pause(@CurrentCaller() caller: Caller, @Param('webhook_endpoint_id') id: string, @Body({ schema: noBody }) _body: object) {
    return this.service.pause(caller, id);
  }

  /** Delivers what has waited. A disabled endpoint is enabled, not resumed: 409. */
  @Post(':webhook_endpoint_id/resume')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: webhookEndpointShape })
  resume(@CurrentCaller() caller: Caller, @Param('webhook_endpoint_id') id: string, @Body({ schema: noBody }) _body: object) {
    return this.service.resume(caller, id);
  }

  /** Stores an event `webhook_endpoint.test` and delivers it here, whatever the filter says. Answers with the delivery. */
  @Post(':webhook_endpoint_id/test')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: webhookDeliveryShape })
  test(@CurrentCaller() caller: Caller, @Param('webhook_endpoint_id') id: string, @Body({ schema: noBody }) _body: object) {
    return this.service.test(caller, id);
  }
}
