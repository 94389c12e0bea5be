import { Injectable } from '@nestjs/common';
import { transact } from '../../../../libs/db/change.js';
import { decodePosition, encodePosition, type CommitPosition } from '../../../../libs/db/commit-order.js';
import {
  heldBack, listedDelivery, pageOfAttempts, pageOfDeliveries, type AttemptFilter, type DeliveryFilter, type ListedDelivery, type SubjectFilter,
} from '../../../../libs/db/delivery-list.queries.js';
import { deliveryAttempts, findDelivery } from '../../../../libs/db/delivery.queries.js';
import { cancelDelivery } from '../../../../libs/db/delivery.writes.js';
import type { WebhookDeliveryRow } from '../../../../libs/db/schema/index.js';
import { unknownFilters } from '../../../../libs/domain/event/event-filter.js';
import { attemptsLeft, waitingReason } from '../../../../libs/domain/webhook/waiting.js';
import { DomainError, notFound } from '../../../../libs/errors/domain-error.js';
import { deliveryResultView } from '../../../../libs/views/event.view.js';
import { parseAnyPublicId, parsePublicId, type IdKind } from '../../../../libs/views/ids.js';
import { listedDeliveryView, webhookAttemptView } from '../../../../libs/views/webhook-delivery.view.js';
import type { Caller } from '../kernel/callers.js';
import { pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { invalidRequest } from '../kernel/validation.pipe.js';
import { ResendsService } from './resends.service.js';
import type { ListWebhookAttemptsQuery, ListWebhookDeliveriesQuery } from './webhook-deliveries.dto.js';

@Injectable()
export class WebhookDeliveriesService {
  constructor(private readonly infrastructure: Infrastructure, private readonly resends: ResendsService) {}

  async list(caller: Caller, query: ListWebhookDeliveriesQuery) {
    const { db } = this.infrastructure;
    const filter: DeliveryFilter = { ...subjectOf(caller, query), status: query.status };
    const { rows, hasMore } = await pageOfDeliveries(db, caller.accountId, { filter, limit: query.limit, before: decodePosition(query.cursor) });
    return { data: await this.views(rows), has_more: hasMore, next_cursor: nextCursor(hasMore, rows.at(-1)?.delivery) };
  }

  async get(caller: Caller, id: string) {
    const [view] = await this.views([await this.listedRow(caller, id)]);
    return view!;
  }

  async attempts(caller: Caller, id: string) {
    const { delivery, event } = await this.listedRow(caller, id);
    const attempts = await deliveryAttempts(this.infrastructure.db, caller.accountId, delivery.id);
    return { data: attempts.map((attempt) => webhookAttemptView(attempt, event.type, this.infrastructure.environment)) };
  }

  async listAttempts(caller: Caller, query: ListWebhookAttemptsQuery) {
    const { db, environment } = this.infrastructure;
    const filter: AttemptFilter = {
      ...subjectOf(caller, query),
      deliveryId: query.delivery_id === undefined ? undefined : queryId('delivery_id', 'whd', query.delivery_id, caller),
      succeeded: query.outcome === undefined ? undefined : query.outcome === 'succeeded',
      responseStatus: query.response_code,
    };
    const { rows, hasMore } = await pageOfAttempts(db, caller.accountId, { filter, limit: query.limit, before: decodePosition(query.cursor) });
    const data = rows.map(({ attempt, eventType }) => webhookAttemptView(attempt, eventType, environment));
    return { data, has_more: hasMore, next_cursor: nextCursor(hasMore, rows.at(-1)?.attempt) };
  }

  async resend(caller: Caller, id: string) {
    const row = await this.rowOf(caller, id);
    const result = await this.resends.resend(caller, row);
    return { ...(await this.get(caller, id)), result: deliveryResultView(result, this.infrastructure.environment) };
  }

  async cancel(caller: Caller, id: string) {
    const { id: deliveryId } = await this.rowOf(caller, id);
    await transact(this.infrastructure.db, caller.change(), async (tx) => {
      if (await cancelDelivery(tx, deliveryId)) return;
      const row = await findDelivery(tx, caller.accountId, deliveryId);
      if (row?.status !== 'cancelled' || caller.idempotencyKey === null) {
        throw new DomainError('invalid_state_transition', `A delivery that is ${row?.status} cannot be cancelled; only a pending one can.`);
      }
    });
    return this.get(caller, id);
  }

  private async rowOf(caller: Caller, id: string): Promise<WebhookDeliveryRow> {
    const row = await findDelivery(this.infrastructure.db, caller.accountId, pathId('whd', id, caller));
    if (!row) throw notFound('webhook delivery');
    return row;
  }

  private async listedRow(caller: Caller, id: string): Promise<ListedDelivery> {
    const row = await listedDelivery(this.infrastructure.db, caller.accountId, pathId('whd', id, caller));
    if (!row) throw notFound('webhook delivery');
    return row;
  }

  private async views(rows: readonly ListedDelivery[]) {
    const { db, environment, config } = this.infrastructure;
    const now = new Date();
    const inSequence = rows.filter(({ delivery, endpoint }) => endpoint.ordered && delivery.status === 'pending');
    const held = await heldBack(db, inSequence.map(({ delivery }) => delivery));
    return rows.map((row) => listedDeliveryView({
      ...row,
      waitingFor: waitingReason({ ...row.delivery, heldBack: held.has(row.delivery.id), endpoint: row.endpoint }, now),
      attemptsLeft: attemptsLeft(row.delivery, config.webhookRetrySchedule),
    }, environment));
  }
}

function nextCursor(hasMore: boolean, last: CommitPosition | undefined): string | null {
  return hasMore && last ? encodePosition(last) : null;
}

function subjectOf(caller: Caller, query: ListWebhookDeliveriesQuery | ListWebhookAttemptsQuery): SubjectFilter {
  const { endpoint_id, event_id, object_id, customer_id, event_type, since, until } = query;
  const id = (field: string, kind: IdKind, value: string | undefined) => (value === undefined ? undefined : queryId(field, kind, value, caller));
  const objectId = object_id === undefined ? undefined : parseAnyPublicId(caller.environment, object_id);
  if (objectId === null) throw invalidQuery('object_id', 'Not an id of this environment');
  if (event_type !== undefined && unknownFilters([event_type]).length > 0) throw invalidQuery('event_type', `No event type or prefix ${JSON.stringify(event_type)}`);
  return {
    endpointId: id('endpoint_id', 'webhook_endpoint', endpoint_id),
    eventId: id('event_id', 'event', event_id),
    customerId: id('customer_id', 'cus', customer_id),
    objectId, eventType: event_type, since, until,
  };
}

function queryId(field: string, kind: IdKind, id: string, caller: Caller): string {
  const uuid = parsePublicId(kind, caller.environment, id);
  if (uuid === null) throw invalidQuery(field, `Not an id of kind ${kind}`);
  return uuid;
}

function invalidQuery(field: string, msg: string): Error {
  return invalidRequest([{ loc: ['query', field], msg, type: 'value_error' }]);
}
