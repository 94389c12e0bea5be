import { applyDecorators, Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import { RouteConfig } from '@nestjs/platform-fastify';
import { ApiBody, ApiOkResponse, ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { FastifyRequest } from 'fastify';
import { CallbacksService } from './callbacks.service.js';

/** Needs no token: the processor's own signature is the proof. The body is kept as the bytes that were signed. */
const SignedByProcessor = () => applyDecorators(RouteConfig({ public: true, raw: true }), ApiSecurity({}));

@ApiTags('callbacks')
@Controller('callbacks')
export class CallbacksController {
  constructor(private readonly service: CallbacksService) {}

  /** What a processor posts about its payments. */
  @Post(':processor_id')
  @HttpCode(200)
  @SignedByProcessor()
  @ApiBody({ description: 'As the processor signs it, of any content type.', schema: {} })
  @ApiOkResponse({ description: 'Stored, now or before.' })
  receive(@Param('processor_id') id: string, @Req() request: FastifyRequest): Promise<{ received: true }> {
    return this.service.receive(id, request);
  }
}
