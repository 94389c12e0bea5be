import { Injectable } from '@nestjs/common';
import { eq, isNull } from 'drizzle-orm';
import { transact } from '../../../../libs/db/change.js';
import type { Tx } from '../../../../libs/db/client.js';
import { oncePerCommand } from '../../../../libs/db/command.writes.js';
import { webhookEndpoints, type WebhookEndpointRow } from '../../../../libs/db/schema/index.js';
import { writeAudit } from '../../../../libs/db/audit-entry.writes.js';
import { changedHeaders } from '../../../../libs/db/endpoint-headers.js';
import { findEndpoint, liveSecrets } from '../../../../libs/db/webhook-endpoint.queries.js';
import { createEndpoint, deleteEndpoint, testEndpoint, updateEndpoint, type EndpointSettings } from '../../../../libs/db/webhook-endpoint.writes.js';
import { disableEndpoint, enableEndpoint, pauseEndpoint, resumeEndpoint } from '../../../../libs/db/webhook-endpoint-status.writes.js';
import { unknownFilters } from '../../../../libs/domain/event/event-filter.js';
import { DomainError, invalidField, notFound } from '../../../../libs/errors/domain-error.js';
import { parseAnyPublicId } from '../../../../libs/views/ids.js';
import { webhookDeliveryView } from '../../../../libs/views/webhook-delivery.view.js';
import { revealedEndpointView, webhookEndpointView } from '../../../../libs/views/webhook-endpoint.view.js';
import { addressPolicy } from '../../../../libs/webhooks/address.js';
import { mintSecret } from '../../../../libs/webhooks/secret.js';
import { refuseTarget } from '../../../../libs/webhooks/target.js';
import type { Caller } from '../kernel/callers.js';
import { pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { cursorPage, listPage } from '../kernel/lists.js';
import { invalidRequest } from '../kernel/validation.pipe.js';
import { changeLocked, lockedRow } from './locked-endpoint.js';
import type { CreateWebhookEndpointBody, ListWebhookEndpointsBody, ListWebhookEndpointsQuery, UpdateWebhookEndpointBody } from './webhook-endpoints.dto.js';

const everything = ['*'];

@Injectable()
export class WebhookEndpointsService {
  constructor(private readonly infrastructure: Infrastructure) {}

  async create(caller: Caller, body: CreateWebhookEndpointBody) {
    const { db, secrets } = this.infrastructure;
    this.checkUrl(body.url);
    checkFilters(body.enabled_events);
    checkObjects(caller, body.filter);
    const id = caller.objectId();
    const change = caller.change();
    await transact(db, change, (tx) => oncePerCommand(tx, change, { objectId: id }, async () => {
      await createEndpoint(tx, change, {
        id,
        url: body.url,
        description: body.description ?? null,
        metadata: body.metadata ?? null,
        enabledEvents: body.enabled_events ?? everything,
        dataFormat: body.data_format ?? 'object',
        filter: body.filter ?? null,
        ordered: body.ordered ?? false,
        ratePerSecond: body.rate_per_second ?? null,
        maxInFlight: body.max_in_flight ?? null,
        headers: changedHeaders({ id, headers: null }, body.headers ?? null, secrets),
        secret: body.secret ?? mintSecret(),
      }, secrets);
      const details = { imported: body.secret !== undefined };
      await writeAudit(tx, change, { action: 'webhook_secret.created', kind: 'webhook_endpoint', objectId: id, address: caller.address, details });
      return true;
    }));
    return this.revealed(await this.rowOf(caller, id));
  }

  async get(caller: Caller, id: string) {
    return this.view(await this.rowOf(caller, pathId('webhook_endpoint', id, caller)));
  }

  listNumbered(caller: Caller, body: ListWebhookEndpointsBody) {
    return listPage(this.infrastructure.db, webhookEndpoints, body, { where: mine(caller, body.status), view: (row) => this.view(row) });
  }

  list(caller: Caller, query: ListWebhookEndpointsQuery) {
    return cursorPage(this.infrastructure.db, webhookEndpoints, query, { where: mine(caller, query.status), view: (row) => this.view(row) });
  }

  update(caller: Caller, id: string, body: UpdateWebhookEndpointBody) {
    if (body.url !== undefined) this.checkUrl(body.url);
    checkFilters(body.enabled_events);
    checkObjects(caller, body.filter);
    const patch: EndpointSettings = {
      ...(body.url === undefined ? {} : { url: body.url }),
      ...(body.description === undefined ? {} : { description: body.description }),
      ...(body.metadata === undefined ? {} : { metadata: body.metadata }),
      ...(body.enabled_events === undefined ? {} : { enabledEvents: body.enabled_events ?? everything }),
      ...(body.data_format === undefined ? {} : { dataFormat: body.data_format }),
      ...(body.filter === undefined ? {} : { filter: body.filter }),
      ...(body.ordered === undefined ? {} : { ordered: body.ordered }),
      ...(body.rate_per_second === undefined ? {} : { ratePerSecond: body.rate_per_second }),
      ...(body.max_in_flight === undefined ? {} : { maxInFlight: body.max_in_flight }),
    };
    const { secrets } = this.infrastructure;
    return this.change(caller, id, (tx, row) => {
      const headers = body.headers === undefined ? {} : { headers: changedHeaders(row, body.headers, secrets) };
      return updateEndpoint(tx, caller.change(), row, { ...patch, ...headers });
    });
  }

  async delete(caller: Caller, id: string) {
    const endpointId = pathId('webhook_endpoint', id, caller);
    const change = caller.change();
    await transact(this.infrastructure.db, change, (tx) => oncePerCommand(tx, change, { objectId: endpointId }, async () => {
      await deleteEndpoint(tx, change, await lockedRow(tx, caller, endpointId));
      return true;
    }));
    return { id, object: 'webhook_endpoint', webhook_endpoint_id: id, is_deleted: true, message: 'The webhook endpoint was deleted.' };
  }

  enable(caller: Caller, id: string) {
    return this.change(caller, id, (tx, row) => enableEndpoint(tx, caller.change(), row));
  }

  disable(caller: Caller, id: string) {
    return this.change(caller, id, (tx, row) => disableEndpoint(tx, caller.change(), row, 'requested'));
  }

  pause(caller: Caller, id: string) {
    return this.change(caller, id, (tx, row) => pauseEndpoint(tx, caller.change(), mustNotBeDisabled(row, 'paused')));
  }

  resume(caller: Caller, id: string) {
    return this.change(caller, id, (tx, row) => resumeEndpoint(tx, caller.change(), mustNotBeDisabled(row, 'resumed')));
  }

  async test(caller: Caller, id: string) {
    const endpointId = pathId('webhook_endpoint', id, caller);
    const change = caller.change();
    const delivery = await transact(this.infrastructure.db, change, async (tx) =>
      testEndpoint(tx, change, mustNotBeDisabled(await lockedRow(tx, caller, endpointId), 'tested')));
    return webhookDeliveryView(delivery, this.infrastructure.environment);
  }

  private async change(caller: Caller, id: string, effect: (tx: Tx, row: WebhookEndpointRow) => Promise<unknown>) {
    const endpointId = pathId('webhook_endpoint', id, caller);
    await changeLocked(this.infrastructure.db, caller, endpointId, effect);
    return this.view(await this.rowOf(caller, endpointId));
  }

  private async rowOf(caller: Caller, endpointId: string): Promise<WebhookEndpointRow> {
    const row = await findEndpoint(this.infrastructure.db, caller.accountId, endpointId);
    if (!row) throw notFound('webhook endpoint');
    return row;
  }

  private view(row: WebhookEndpointRow) {
    return webhookEndpointView(row, this.infrastructure.environment);
  }

  private async revealed(row: WebhookEndpointRow) {
    const { db, secrets, environment } = this.infrastructure;
    return revealedEndpointView(row, await liveSecrets(db, row.id, secrets), environment);
  }

  private checkUrl(url: string): void {
    const reason = refuseTarget(url, addressPolicy(this.infrastructure.config));
    if (reason) throw invalidField('url', reason, 'url_refused');
  }
}

function mustNotBeDisabled(row: WebhookEndpointRow, verb: string): WebhookEndpointRow {
  if (row.status === 'disabled') throw new DomainError('invalid_state_transition', `A disabled endpoint cannot be ${verb}; enable it first.`);
  return row;
}

function mine(caller: Caller, status: WebhookEndpointRow['status'] | null | undefined) {
  return [eq(webhookEndpoints.accountId, caller.accountId), isNull(webhookEndpoints.deletedAt), status ? eq(webhookEndpoints.status, status) : undefined];
}

function checkFilters(enabledEvents: string[] | null | undefined): void {
  const unknown = unknownFilters(enabledEvents ?? []);
  if (unknown.length === 0) return;
  throw invalidRequest(unknown.map(({ index, entry }) => ({ loc: ['body', 'enabled_events', index], msg: `No event type or prefix ${JSON.stringify(entry)}`, type: 'unknown_event_type' })));
}

/** Which objects there are is not asked: one that is made later is heard too. */
function checkObjects(caller: Caller, filter: CreateWebhookEndpointBody['filter']): void {
  const unreadable = (filter?.object_ids ?? []).map((id, index) => ({ id, index })).filter(({ id }) => parseAnyPublicId(caller.environment, id) === null);
  if (unreadable.length === 0) return;
  throw invalidRequest(unreadable.map(({ index }) => ({ loc: ['body', 'filter', 'object_ids', index], msg: 'Not an id of this environment', type: 'unknown_reference' })));
}
