import { Injectable } from '@nestjs/common';
import { eq } from 'drizzle-orm';
import type { Db } from '../../../../libs/db/client.js';
import { snapshot } from '../../../../libs/db/snapshot.js';
import { transact } from '../../../../libs/db/change.js';
import { webhookJobs, type WebhookJobKind, type WebhookJobRow } from '../../../../libs/db/schema/index.js';
import { findWebhookJob, jobResults } from '../../../../libs/db/webhook-job.queries.js';
import { cancelWebhookJob, createWebhookJob } from '../../../../libs/db/webhook-job.writes.js';
import { payloadsKeptMs } from '../../../../libs/domain/webhook/retention.js';
import { invalidField, notFound } from '../../../../libs/errors/domain-error.js';
import { wakeWebhookJobWorkflow } from '../../../../libs/temporal/webhook-job.client.js';
import { parsePublicId, publicId } from '../../../../libs/views/ids.js';
import { webhookJobView } from '../../../../libs/views/webhook-job.view.js';
import type { Caller } from '../kernel/callers.js';
import { pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { composedPage } from '../kernel/lists.js';
import { invalidRequest } from '../kernel/validation.pipe.js';
import type { ListWebhookJobsQuery, RecoverBody, ResendFailedBody } from './webhook-jobs.dto.js';

interface Range {
  since?: Date | null;
  until?: Date | null;
}

/** What stands in the row is promised; its workflow does the work, and the reconciler starts it where Temporal was away. */
@Injectable()
export class WebhookJobsService {
  constructor(private readonly infrastructure: Infrastructure) {}

  recover(caller: Caller, endpoint: string, body: RecoverBody) {
    if (body.since.getTime() < Date.now() - payloadsKeptMs) throw invalidField('since', 'Bodies of events are kept for 90 days');
    return this.create(caller, endpoint, 'recover', body);
  }

  resendFailed(caller: Caller, endpoint: string, body: ResendFailedBody) {
    return this.create(caller, endpoint, 'resend_failed', body);
  }

  cancelPending(caller: Caller, endpoint: string) {
    return this.create(caller, endpoint, 'cancel_pending', {});
  }

  async list(caller: Caller, { endpoint_id, kind, status, ...query }: ListWebhookJobsQuery) {
    const { db } = this.infrastructure;
    const endpointId = endpoint_id === undefined ? undefined : parsePublicId('webhook_endpoint', caller.environment, endpoint_id);
    if (endpointId === null) throw invalidRequest([{ loc: ['query', 'endpoint_id'], msg: 'Not an id of kind webhook_endpoint', type: 'value_error' }]);
    const where = [
      eq(webhookJobs.accountId, caller.accountId),
      endpointId ? eq(webhookJobs.endpointId, endpointId) : undefined,
      kind ? eq(webhookJobs.kind, kind) : undefined,
      status ? eq(webhookJobs.status, status) : undefined,
    ];
    return composedPage(db, webhookJobs, query, { where, views: (at, rows) => this.views(at, rows) });
  }

  async get(caller: Caller, id: string) {
    return this.show(caller, pathId('job', id, caller));
  }

  async cancel(caller: Caller, id: string) {
    const jobId = pathId('job', id, caller);
    await transact(this.infrastructure.db, caller.change(), (tx) => cancelWebhookJob(tx, caller.change(), jobId));
    return this.show(caller, jobId);
  }

  private async create(caller: Caller, endpoint: string, kind: WebhookJobKind, { since, until }: Range) {
    const at = new Date();
    const job = { id: caller.objectId(), endpointId: pathId('webhook_endpoint', endpoint, caller), kind, since: since ?? null, until: until && until < at ? until : at };
    if (job.since && job.since >= job.until) throw invalidField('since', `must be before ${job.until.toISOString()}`);
    const row = await transact(this.infrastructure.db, caller.change(), (tx) => createWebhookJob(tx, caller.change(), job));
    await this.wake(row);
    return this.show(caller, row.id);
  }

  private async wake({ id, accountId }: WebhookJobRow): Promise<void> {
    const { environment, temporal, log } = this.infrastructure;
    const job = publicId('job', environment, id);
    const input = { jobId: id, job, account: publicId('acct', environment, accountId) };
    await wakeWebhookJobWorkflow(temporal.client, input).catch((err: unknown) => log.warn({ err, webhook_job_id: job }, 'webhook job is started later'));
  }

  private show(caller: Caller, id: string) {
    return snapshot(this.infrastructure.db, async (db) => {
      const row = await findWebhookJob(db, caller.accountId, id);
      if (!row) throw notFound('webhook job');
      return (await this.views(db, [row]))[0]!;
    });
  }

  /** What has become of the deliveries is read while a job runs, and stored when it ends. */
  private async views(db: Db, rows: readonly WebhookJobRow[]) {
    const running = rows.filter(({ status, kind }) => status === 'running' && kind !== 'cancel_pending');
    const results = await jobResults(db, running.map(({ id }) => id));
    return rows.map((row) => webhookJobView({ ...row, ...results.get(row.id) }, this.infrastructure.environment));
  }
}
