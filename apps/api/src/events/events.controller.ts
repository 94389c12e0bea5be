import { Body, Controller, Get, HttpCode, Param, Post, Query, Req, Res, type StreamableFile } from '@nestjs/common';
import { ApiHeader, ApiOkResponse, ApiTags } from '@nestjs/swagger';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, pageOf } from '../kernel/lists.dto.js';
import { Roles } from '../kernel/roles.guard.js';
import { EventExportsService } from './event-exports.service.js';
import { EventReaders } from './event-readers.js';
import { EventStreamsService } from './event-streams.service.js';
import {
  eventShape, exportEventsQuery, listEventsBody, listEventsQuery, searchEventsBody, streamEventsQuery, triggerResultShape, triggerWebhookBody,
  type ExportEventsQuery, type ListEventsBody, type ListEventsQuery, type SearchEventsBody, type StreamEventsQuery, type TriggerWebhookBody,
} from './events.dto.js';
import { EventsService } from './events.service.js';

@ApiTags('events')
@Controller('events')
export class EventsController {
  constructor(
    private readonly service: EventsService,
    private readonly exports: EventExportsService,
    private readonly streams: EventStreamsService,
    private readonly readers: EventReaders,
  ) {}

  @Post('list')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(eventShape) })
  listNumbered(@CurrentCaller() caller: Caller, @Body({ schema: listEventsBody }) body: ListEventsBody) {
    return this.service.listNumbered(caller, body);
  }

  /** The events of one object. */
  @Post('search')
  @HttpCode(200)
  @ApiOkResponse({ standardSchema: pageOf(eventShape) })
  search(@CurrentCaller() caller: Caller, @Body({ schema: searchEventsBody }) body: SearchEventsBody) {
    return this.service.search(caller, body);
  }

  /** Posts an event again to some or all endpoints, now, and answers with the result of each. */
  @Post('trigger-webhook')
  @HttpCode(200)
  @Roles('ADMIN')
  @ApiOkResponse({ standardSchema: triggerResultShape })
  triggerWebhook(@CurrentCaller() caller: Caller, @Body({ schema: triggerWebhookBody }) body: TriggerWebhookBody) {
    return this.service.triggerWebhook(caller, body);
  }

  /** Newest first, in the order of commits: following the cursors back never misses an event that committed late. */
  @Get()
  @ApiOkResponse({ standardSchema: cursorPageOf(eventShape) })
  list(@CurrentCaller() caller: Caller, @Query({ schema: listEventsQuery }) query: ListEventsQuery) {
    return this.service.list(caller, query);
  }

  /** Lines of JSON, each as one event's GET answers; the last one is `{"object":"export","complete":…,"events":…,"cursor":…}`. */
  @Get('export')
  @ApiOkResponse({ content: { 'application/x-ndjson': { schema: { type: 'string' } } } })
  export(@CurrentCaller() caller: Caller, @Query({ schema: exportEventsQuery }) query: ExportEventsQuery, @Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<StreamableFile> {
    return this.exports.open(this.readers.open('export', caller, { request, reply }), query);
  }

  /** Server-sent events; `data` is byte for byte a webhook's body. */
  @Get('stream')
  @ApiHeader({ name: 'Last-Event-ID', required: false, schema: { type: 'string' }, description: 'The last `id` that was received' })
  @ApiOkResponse({ content: { 'text/event-stream': { schema: { type: 'string' } } } })
  stream(@CurrentCaller() caller: Caller, @Query({ schema: streamEventsQuery }) query: StreamEventsQuery, @Req() request: FastifyRequest, @Res({ passthrough: true }) reply: FastifyReply): Promise<StreamableFile> {
    return this.streams.open(this.readers.open('stream', caller, { request, reply }), query);
  }

  @Get(':event_id')
  @ApiOkResponse({ standardSchema: eventShape })
  get(@CurrentCaller() caller: Caller, @Param('event_id') id: string) {
    return this.service.get(caller, id);
  }
}
