import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf } from '../kernel/lists.dto.js';
import { Roles } from '../kernel/roles.guard.js';
import {
  apiTokenShape, apiTokenWithSecretShape, createApiTokenBody, rollApiTokenBody, updateApiTokenBody,
  type CreateApiTokenBody, type RollApiTokenBody, type UpdateApiTokenBody,
} from './api-tokens.dto.js';
import { ApiTokensService } from './api-tokens.service.js';

@ApiTags('api-tokens')
@Controller('api-tokens')
export class ApiTokensController {
  constructor(private readonly service: ApiTokensService) {}

  /** Makes a token and shows it once. */
  @Post()
  @Roles('ADMIN')
  @ApiCreatedResponse({ standardSchema: apiTokenWithSecretShape })
  create(@CurrentCaller() caller: Caller, @Body({ schema: createApiTokenBody }) body: CreateApiTokenBody) {
    return this.service.create(caller, body);
  }

  /** All tokens of the account, newest first, revoked ones included. */
  @Get()
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: cursorPageOf(apiTokenShape) })
  list(@CurrentCaller() caller: Caller) {
    return this.service.list(caller);
  }

  @Get(':token_id')
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: apiTokenShape })
  get(@CurrentCaller() caller: Caller, @Param('token_id') id: string) {
    return this.service.get(caller, id);
  }

  /** Changes name, role, expiry or networks; holds within a second. The last lasting ADMIN token stays one: 409. */
  @Put(':token_id')
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: apiTokenShape })
  update(@CurrentCaller() caller: Caller, @Param('token_id') id: string, @Body({ schema: updateApiTokenBody }) body: UpdateApiTokenBody) {
    return this.service.update(caller, id, body);
  }

  /** Revokes a token within a second. The last ADMIN token cannot be revoked: 409. */
  @Delete(':token_id')
  @HttpCode(204)
  @Roles('ADMIN')
  @ApiNoContentResponse({ description: 'Revoked.' })
  revoke(@CurrentCaller() caller: Caller, @Param('token_id') id: string): Promise<void> {
    return this.service.revoke(caller, id);
  }

  /** Makes a successor; the old token goes on for `overlap_seconds` (default a day). */
  @Post(':token_id/roll')
  @Roles('ADMIN')
  @ApiCreatedResponse({ standardSchema: apiTokenWithSecretShape })
  roll(@CurrentCaller() caller: Caller, @Param('token_id') id: string, @Body({ schema: rollApiTokenBody }) body: RollApiTokenBody) {
    return this.service.roll(caller, id, body);
  }
}
