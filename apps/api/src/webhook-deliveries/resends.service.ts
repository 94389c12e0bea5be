import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { transact } from '../../../../libs/db/change.js';
import { deliveryToResend } from '../../../../libs/db/delivery.queries.js';
import { openHeaders } from '../../../../libs/db/endpoint-headers.js';
import { ensureDelivery, recordManualAttempt } from '../../../../libs/db/delivery.writes.js';
import { prunedBody } from '../../../../libs/db/retention.writes.js';
import type { EventRow, WebhookDeliveryRow, WebhookEndpointRow } from '../../../../libs/db/schema/index.js';
import { findEndpoint, liveSecrets } from '../../../../libs/db/webhook-endpoint.queries.js';
import { DomainError, notFound } from '../../../../libs/errors/domain-error.js';
import type { DeliveryResultFields } from '../../../../libs/views/event.view.js';
import { publicId } from '../../../../libs/views/ids.js';
import { addressPolicy } from '../../../../libs/webhooks/address.js';
import { deliver, outcomeOf } from '../../../../libs/webhooks/deliver.js';
import { Poster } from '../../../../libs/webhooks/poster.js';
import type { Caller } from '../kernel/callers.js';
import { Infrastructure } from '../kernel/infrastructure.js';

/** Longer than a post can take: the caller's own post comes first, and the queue takes over if the caller dies. */
const handOverMs = 20_000;

/** Posts that a person asks for: at once, by this process, beside the queue. */
@Injectable()
export class ResendsService implements OnModuleDestroy {
  private readonly poster: Poster;

  constructor(private readonly infrastructure: Infrastructure) {
    const { config } = infrastructure;
    this.poster = new Poster({ ...addressPolicy(config), maxSockets: config.webhookSockets, deadlineMs: config.webhookDeadlineMs });
  }

  onModuleDestroy(): Promise<void> {
    return this.poster.close();
  }

  /** Posts an existing delivery again. @throws DomainError 409 when its endpoint is deleted or disabled. */
  async resend(caller: Caller, delivery: WebhookDeliveryRow): Promise<DeliveryResultFields> {
    const endpoint = await findEndpoint(this.infrastructure.db, caller.accountId, delivery.endpointId);
    if (!endpoint) throw new DomainError('conflict', 'The webhook endpoint of this delivery was deleted.');
    return this.post(caller, endpoint, delivery.id);
  }

  /** Posts an event to an endpoint, whether or not it was delivered there before. */
  async trigger(caller: Caller, endpoint: WebhookEndpointRow, event: EventRow): Promise<DeliveryResultFields> {
    mustBeKept(event);
    const target = { eventId: event.id, endpointId: endpoint.id, objectId: event.objectId, sequence: event.sequence, delayMs: handOverMs };
    const delivery = await transact(this.infrastructure.db, caller.change(), (tx) => ensureDelivery(tx, caller.change(), target));
    return this.post(caller, endpoint, delivery.id);
  }

  private async post(caller: Caller, endpoint: WebhookEndpointRow, deliveryId: string): Promise<DeliveryResultFields> {
    if (endpoint.status === 'disabled') throw new DomainError('conflict', 'The webhook endpoint is disabled; enable it first.');
    const { db, environment, secrets } = this.infrastructure;
    const due = await deliveryToResend(db, caller.accountId, deliveryId);
    if (!due) throw notFound('webhook delivery');
    mustBeKept(due);
    const live = await liveSecrets(db, endpoint.id, secrets);
    const receiver = {
      endpointId: publicId('webhook_endpoint', environment, endpoint.id),
      url: endpoint.url,
      format: endpoint.dataFormat,
      secrets: live.map(({ secret }) => secret),
      headers: openHeaders(endpoint.id, endpoint.headers, secrets),
    };
    const result = await deliver(this.poster, receiver, { ...due, eventId: publicId('event', environment, due.eventId) });
    const record = {
      deliveryId,
      endpointId: endpoint.id,
      eventId: due.eventId,
      url: endpoint.url,
      ...outcomeOf(result),
    };
    await transact(db, caller.change(), (tx) => recordManualAttempt(tx, caller.change(), { ...record, delivered: result.success }));
    return record;
  }
}

function mustBeKept({ data }: { data: string }): void {
  if (data === prunedBody) throw new DomainError('conflict', 'The body of this event is no longer kept; bodies are kept for 90 days.');
}
