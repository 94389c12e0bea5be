import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf } from '../kernel/lists.dto.js';
import { Roles } from '../kernel/roles.guard.js';
import { attentionQuery, attentionShape, resolveAttentionBody, type AttentionQuery, type ResolveAttentionBody } from './attention.dto.js';
import { AttentionService } from './attention.service.js';

@ApiTags('attention')
@Controller('attention')
export class AttentionController {
  constructor(private readonly service: AttentionService) {}

  /** What waits for a person, newest first: why, and what can be done. */
  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(attentionShape) })
  browse(@CurrentCaller() caller: Caller, @Query({ schema: attentionQuery }) query: AttentionQuery) {
    return this.service.browse(caller, query);
  }

  @Get(':attention_id')
  @ApiOkResponse({ standardSchema: attentionShape })
  get(@CurrentCaller() caller: Caller, @Param('attention_id') id: string) {
    return this.service.get(caller, id);
  }

  /** Closes an item, with an `action` where one is needed; resolving a paused link's item reopens the link. A resolved one answers 409. */
  @Post(':attention_id/resolve')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: attentionShape })
  resolve(@CurrentCaller() caller: Caller, @Param('attention_id') id: string, @Body({ schema: resolveAttentionBody }) body: ResolveAttentionBody) {
    return this.service.resolve(caller, id, body);
  }
}
