import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiTags } from '@nestjs/swagger';
import { Caller, CurrentCaller } from '../kernel/callers.js';
import { cursorPageOf, pageOf } from '../kernel/lists.dto.js';
import { Roles } from '../kernel/roles.guard.js';
import {
  eventShape, listEventsBody, listEventsQuery, searchEventsBody, triggerResultShape, triggerWebhookBody,
  type ListEventsBody, type ListEventsQuery, type SearchEventsBody, type TriggerWebhookBody,
} from './events.dto.js';
import { EventsService } from './events.service.js';

@ApiTags('events')
@Controller('events')
export class EventsController {
  constructor(private readonly service: EventsService) {}

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

  @Get(':event_id')
  @ApiOkResponse({ standardSchema: eventShape })
  get(@CurrentCaller() caller: Caller, @Param('event_id') id: string) {
    return this.service.get(caller, id);
  }
}
