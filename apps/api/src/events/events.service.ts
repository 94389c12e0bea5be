import { Injectable } from '@nestjs/common';
import { decodePosition, encodePosition } from '../../../../libs/db/commit-order.js';
import { pendingCounts } from '../../../../libs/db/delivery.queries.js';
import { findEvent, pageOfEvents, type EventFilter } from '../../../../libs/db/event.queries.js';
import { scanEvents, type ScannedEvent } from '../../../../libs/db/event-scan.queries.js';
import type { EventRow, WebhookEndpointRow } from '../../../../libs/db/schema/index.js';
import { allEndpoints, findEndpoints } from '../../../../libs/db/webhook-endpoint.queries.js';
import { hearsEvent } from '../../../../libs/domain/event/event-filter.js';
import { DomainError, notFound } from '../../../../libs/errors/domain-error.js';
import { deliveryResultView, eventView } from '../../../../libs/views/event.view.js';
import { parseAnyPublicId, publicId, type IdKind } from '../../../../libs/views/ids.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId, unknownReference } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { invalidRequest } from '../kernel/validation.pipe.js';
import { ResendsService } from '../webhook-deliveries/resends.service.js';
import { checkTypes, eventSelection } from './events.selection.js';
import type { ListEventsBody, ListEventsQuery, SearchEventsBody, TriggerWebhookBody } from './events.dto.js';

@Injectable()
export class EventsService {
  constructor(private readonly infrastructure: Infrastructure, private readonly resends: ResendsService) {}

  async get(caller: Caller, id: string) {
    const row = await findEvent(this.infrastructure.db, caller.accountId, pathId('event', id, caller));
    if (!row) throw notFound('event');
    const [view] = await this.views([row]);
    return view;
  }

  listNumbered(caller: Caller, body: ListEventsBody) {
    return this.page(caller, body, { deliverySuccess: body.delivery_success });
  }

  search(caller: Caller, body: SearchEventsBody) {
    const objectId = parseAnyPublicId(caller.environment, body.object_id);
    if (objectId === null) throw invalidRequest([{ loc: ['body', 'object_id'], msg: 'Not an id of this environment', type: 'value_error' }]);
    return this.page(caller, { ...body, page_size: Math.min(body.page_size, body.limit ?? body.page_size) }, { objectId });
  }

  async list(caller: Caller, query: ListEventsQuery) {
    const { limit, cursor, ...filters } = query;
    const scan = { selection: eventSelection(caller, filters), order: 'newest first' as const, after: decodePosition(cursor), limit };
    const { rows, more, next } = await scanEvents(this.infrastructure.db, caller.accountId, scan);
    return { data: await this.views(rows), has_more: more, next_cursor: more ? encodePosition(next) : null };
  }

  async triggerWebhook(caller: Caller, body: TriggerWebhookBody) {
    const { db, environment } = this.infrastructure;
    const event = await findEvent(db, caller.accountId, bodyId('event_id', 'event', body.event_id, caller));
    if (!event) throw unknownReference('event_id', 'event');
    const endpoints = await this.receivers(caller, event, body.selected_webhooks ?? null);
    const results = await this.resends.trigger(caller, endpoints, event);
    return { webhook_delivery_results: Object.fromEntries(results.map((result) => [publicId('webhook_endpoint', environment, result.endpointId), deliveryResultView(result, environment)])) };
  }

  private async receivers(caller: Caller, event: EventRow, selected: string[] | null): Promise<WebhookEndpointRow[]> {
    const { db } = this.infrastructure;
    if (selected === null) {
      const all = await allEndpoints(db, caller.accountId);
      const heard = { type: event.type, objectId: publicId(event.kind as IdKind, caller.environment, event.objectId), data: JSON.parse(event.data) as object };
      return all.filter((endpoint) => endpoint.status !== 'disabled' && hearsEvent(endpoint, heard));
    }
    const ids = [...new Set(selected.map((id, index) => bodyId(`selected_webhooks.${index}`, 'webhook_endpoint', id, caller)))];
    const found = await findEndpoints(db, caller.accountId, ids);
    if (found.length < ids.length) throw unknownReference('selected_webhooks', 'webhook_endpoint');
    if (found.some((endpoint) => endpoint.status === 'disabled')) throw new DomainError('conflict', 'A selected webhook endpoint is disabled; enable it first.');
    return found;
  }

  private async page(caller: Caller, body: Pick<ListEventsBody, 'types' | 'created_at' | 'updated_at' | 'sort_descending' | 'page_number' | 'page_size'>, extra: EventFilter) {
    checkTypes(body.types ?? [], (index) => ['body', 'types', index]);
    const { rows, total } = await pageOfEvents(this.infrastructure.db, caller.accountId, {
      filter: { types: body.types, createdAt: body.created_at, updatedAt: body.updated_at, ...extra },
      descending: body.sort_descending,
      pageNumber: body.page_number,
      pageSize: body.page_size,
    });
    return { data: await this.views(rows), page_number: body.page_number, page_size: body.page_size, total_objects: total };
  }

  private async views(rows: readonly (EventRow | ScannedEvent)[]) {
    const pending = await pendingCounts(this.infrastructure.db, rows.map((row) => row.id));
    return rows.map((row) => eventView(row, pending.get(row.id) ?? 0));
  }
}
