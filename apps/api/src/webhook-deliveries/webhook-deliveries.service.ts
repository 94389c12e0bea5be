import { Injectable } from '@nestjs/common';
import { and, eq, gte, lt } from 'drizzle-orm';
import { transact } from '../../../../libs/db/change.js';
import { deliveryAttempts, findDelivery } from '../../../../libs/db/delivery.queries.js';
import { cancelDelivery } from '../../../../libs/db/delivery.writes.js';
import { webhookDeliveries, type WebhookDeliveryRow } from '../../../../libs/db/schema/index.js';
import { DomainError, notFound } from '../../../../libs/errors/domain-error.js';
import { deliveryResultView } from '../../../../libs/views/event.view.js';
import { parsePublicId, type IdKind } from '../../../../libs/views/ids.js';
import { webhookAttemptView, webhookDeliveryView } from '../../../../libs/views/webhook-delivery.view.js';
import type { Caller } from '../kernel/callers.js';
import { pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { cursorPage } from '../kernel/lists.js';
import { invalidRequest } from '../kernel/validation.pipe.js';
import { ResendsService } from './resends.service.js';
import type { ListWebhookDeliveriesQuery } from './webhook-deliveries.dto.js';

@Injectable()
export class WebhookDeliveriesService {
  constructor(private readonly infrastructure: Infrastructure, private readonly resends: ResendsService) {}

  list(caller: Caller, query: ListWebhookDeliveriesQuery) {
    const { endpoint_id, event_id, status, since, until } = query;
    const where = and(
      eq(webhookDeliveries.accountId, caller.accountId),
      endpoint_id === undefined ? undefined : eq(webhookDeliveries.endpointId, queryId('endpoint_id', 'webhook_endpoint', endpoint_id, caller)),
      event_id === undefined ? undefined : eq(webhookDeliveries.eventId, queryId('event_id', 'event', event_id, caller)),
      status ? eq(webhookDeliveries.status, status) : undefined,
      since ? gte(webhookDeliveries.createdAt, since) : undefined,
      until ? lt(webhookDeliveries.createdAt, until) : undefined,
    );
    return cursorPage(this.infrastructure.db, webhookDeliveries, query, { where: [where], view: (row) => this.view(row) });
  }

  async get(caller: Caller, id: string) {
    return this.view(await this.rowOf(caller, id));
  }

  async attempts(caller: Caller, id: string) {
    const row = await this.rowOf(caller, id);
    const attempts = await deliveryAttempts(this.infrastructure.db, caller.accountId, row.id);
    return { data: attempts.map((attempt) => webhookAttemptView(attempt, this.infrastructure.environment)) };
  }

  async resend(caller: Caller, id: string) {
    const row = await this.rowOf(caller, id);
    const result = await this.resends.resend(caller, row);
    return { ...this.view(await this.rowOf(caller, id)), result: deliveryResultView(result, this.infrastructure.environment) };
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

  private view(row: WebhookDeliveryRow) {
    return webhookDeliveryView(row, this.infrastructure.environment);
  }
}

function queryId(field: string, kind: IdKind, id: string, caller: Caller): string {
  const uuid = parsePublicId(kind, caller.environment, id);
  if (uuid === null) throw invalidRequest([{ loc: ['query', field], msg: `Not an id of kind ${kind}`, type: 'value_error' }]);
  return uuid;
}
