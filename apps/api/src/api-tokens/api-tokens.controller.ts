import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query } from '@nestjs/common';
import { ApiCreatedResponse, ApiNoContentResponse, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, pageOf } from '../kernel/lists.dto.js';
import { Roles } from '../kernel/roles.guard.js';
import {
  apiTokenShape, apiTokensQuery, apiTokenWithSecretShape, createApiTokenBody, listApiTokensBody, rollApiTokenBody, updateApiTokenBody,
  type ApiTokensQuery, type CreateApiTokenBody, type ListApiTokensBody, type RollApiTokenBody, type UpdateApiTokenBody,
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

  /** Tokens by page number, revoked ones included. */
  @Post('list')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: pageOf(apiTokenShape) })
  listNumbered(@CurrentCaller() caller: Caller, @Body({ schema: listApiTokensBody }) body: ListApiTokensBody) {
    return this.service.listNumbered(caller, body);
  }

  /** Tokens of the account, newest first, revoked ones included. */
  @Get()
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: cursorPageOf(apiTokenShape) })
  list(@CurrentCaller() caller: Caller, @Query({ schema: apiTokensQuery }) query: ApiTokensQuery) {
    return this.service.list(caller, query);
  }

  @Get(':token_id')
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: apiTokenShape })
  get(@CurrentCaller() caller: Caller, @Param('token_id') id: string) {
    return this.service.get(caller, id);
  }

  /**
   * Changes name, role, expiry or networks; holds within a second. The last lasting ADMIN token usable from anywhere stays one: 409.
   * Networks that shut this very request out of the token it uses: 422.
   */
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

  /** Makes a successor; the old token goes on for `overlap_seconds` (default a day). An expired token is 409. */
  @Post(':token_id/roll')
  @Roles('ADMIN')
  @ApiCreatedResponse({ standardSchema: apiTokenWithSecretShape })
  roll(@CurrentCaller() caller: Caller, @Param('token_id') id: string, @Body({ schema: rollApiTokenBody }) body: RollApiTokenBody) {
    return this.service.roll(caller, id, body);
  }
}
