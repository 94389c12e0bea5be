import { setTimeout as pause } from 'node:timers/promises';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { transact } from '../../../../libs/db/change.js';
import { deliveryToResend } from '../../../../libs/db/delivery.queries.js';
import { openHeaders } from '../../../../libs/db/endpoint-headers.js';
import { ensureDelivery, recordManualAttempt } from '../../../../libs/db/delivery.writes.js';
import { takeTurn } from '../../../../libs/db/drain.writes.js';
import { prunedBody } from '../../../../libs/db/retention.writes.js';
import type { EventRow, WebhookDeliveryRow, WebhookEndpointRow } from '../../../../libs/db/schema/index.js';
import { findEndpoint, liveSecrets } from '../../../../libs/db/webhook-endpoint.queries.js';
import { noteArrival } from '../../../../libs/db/webhook-endpoint-status.writes.js';
import { DomainError, notFound } from '../../../../libs/errors/domain-error.js';
import type { DeliveryResultFields } from '../../../../libs/views/event.view.js';
import { publicId } from '../../../../libs/views/ids.js';
import { addressPolicy } from '../../../../libs/webhooks/address.js';
import { deliver, outcomeOf } from '../../../../libs/webhooks/deliver.js';
import { Poster } from '../../../../libs/webhooks/poster.js';
import type { Caller } from '../kernel/callers.js';
import { Infrastructure } from '../kernel/infrastructure.js';

/** Added to what a post can take, a wait for its turn included: the caller's own post comes first, and the queue takes over if the caller dies. */
const handOverMarginMs = 5_000;

const usedUp = 'The rate of the webhook endpoint is used up for the next 2 s; many deliveries at its own pace: POST /webhook-endpoints/{id}/resend-failed.';

/** Posts that a person asks for: by this process, beside the queue, at once or as soon as the endpoint's rate allows. */
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
    const [inMs] = await this.turnsAt([endpoint]);
    return this.post(caller, endpoint, { deliveryId: delivery.id, inMs: inMs! });
  }

  /** Posts an event to endpoints, whether or not it was delivered there before; to all of them or, where one has no turn left, to none. */
  async trigger(caller: Caller, endpoints: WebhookEndpointRow[], event: EventRow): Promise<DeliveryResultFields[]> {
    mustBeKept(event);
    const turns = await this.turnsAt(endpoints);
    return Promise.all(endpoints.map((endpoint, index) => this.triggerOne(caller, endpoint, { event, inMs: turns[index]! })));
  }

  private async triggerOne(caller: Caller, endpoint: WebhookEndpointRow, { event, inMs }: { event: EventRow; inMs: number }): Promise<DeliveryResultFields> {
    const { config } = this.infrastructure;
    const target = { eventId: event.id, endpointId: endpoint.id, objectId: event.objectId, sequence: event.sequence, delayMs: config.webhookDeadlineMs + handOverMarginMs };
    const delivery = await transact(this.infrastructure.db, caller.change(), (tx) => ensureDelivery(tx, caller.change(), target));
    return this.post(caller, endpoint, { deliveryId: delivery.id, inMs });
  }

  private async post(caller: Caller, endpoint: WebhookEndpointRow, { deliveryId, inMs }: { deliveryId: string; inMs: number }): Promise<DeliveryResultFields> {
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
    if (inMs > 0) await pause(inMs);
    const result = await deliver(this.poster, receiver, { ...due, eventId: publicId('event', environment, due.eventId) });
    const record = {
      deliveryId,
      endpointId: endpoint.id,
      eventId: due.eventId,
      url: endpoint.url,
      ...outcomeOf(result),
    };
    await transact(db, caller.change(), async (tx) => {
      await recordManualAttempt(tx, caller.change(), { ...record, delivered: result.success });
      if (result.success) await noteArrival(tx, caller.change(), endpoint.id);
    });
    return record;
  }

  /** Milliseconds until the turn of a post to each endpoint. @throws DomainError 429 when the rate of one is used up. */
  private async turnsAt(endpoints: readonly WebhookEndpointRow[]): Promise<number[]> {
    const turns = await Promise.all(endpoints.map(({ id }) => takeTurn(this.infrastructure.db, id)));
    return turns.map((ms) => {
      if (ms === undefined) throw new DomainError('rate_limited', usedUp, { retryAfterSeconds: 2 });
      return ms;
    });
  }
}

function mustBeKept({ data }: { data: string }): void {
  if (data === prunedBody) throw new DomainError('conflict', 'The body of this event is no longer kept; bodies are kept for 90 days.');
}
