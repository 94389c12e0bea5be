import { Injectable } from '@nestjs/common';
import { eq } from 'drizzle-orm';
import { transact } from '../../../../libs/db/change.js';
import { equals } from '../../../../libs/db/list.queries.js';
import { findProcessor, ofAccount } from '../../../../libs/db/processor.queries.js';
import { findReconciliation } from '../../../../libs/db/reconciliation.queries.js';
import { isReconciling, openReconciliation } from '../../../../libs/db/reconciliation.writes.js';
import { paymentProcessors, reconciliations } from '../../../../libs/db/schema/index.js';
import { DomainError, invalidField, notFound } from '../../../../libs/errors/domain-error.js';
import { openConnection } from '../../../../libs/payments/connection-cache.js';
import { canList } from '../../../../libs/payments/reconcile.js';
import { reconciliationView } from '../../../../libs/views/reconciliation.view.js';
import type { Caller } from '../kernel/callers.js';
import { pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { cursorPage } from '../kernel/lists.js';
import { Payments } from '../kernel/payments.js';
import type { ReconciliationsQuery, StartReconciliationBody } from './reconciliations.dto.js';

const hour = 3_600_000;
const standardMs = 72 * hour;
const longestMs = 90 * 24 * hour;

@Injectable()
export class ReconciliationsService {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly payments: Payments,
  ) {}

  async start(caller: Caller, processorId: string, body: StartReconciliationBody) {
    const connection = await this.connection(caller, processorId);
    const { since, until } = rangeOf(body, Date.now());
    const id = caller.objectId();
    const supported = canList(this.payments.deps, openConnection(connection, this.infrastructure));
    return transact(this.infrastructure.db, caller.change(), async (tx) => {
      await tx.select({ id: paymentProcessors.id }).from(paymentProcessors).where(ofAccount(caller.accountId, connection.id)).for('update');
      const known = await findReconciliation(tx, caller.accountId, id);
      if (known) return reconciliationView(known, caller.environment);
      if (await isReconciling(tx, connection.id)) throw new DomainError('conflict', 'A reconciliation of this connection is running.');
      const row = await openReconciliation(tx, { id, accountId: caller.accountId, processorId: connection.id, since, until, supported });
      return reconciliationView(row!, caller.environment);
    });
  }

  async browse(caller: Caller, processorId: string, query: ReconciliationsQuery) {
    const connection = await this.connection(caller, processorId);
    return cursorPage(this.infrastructure.db, reconciliations, query, {
      where: [eq(reconciliations.accountId, caller.accountId), eq(reconciliations.processorId, connection.id), ...equals(reconciliations.status, query.status)],
      view: (row) => reconciliationView(row, caller.environment),
    });
  }

  private async connection(caller: Caller, publicId: string) {
    const row = await findProcessor(this.infrastructure.db, caller.accountId, pathId('processor', publicId, caller));
    if (!row) throw notFound('payment processor');
    return row;
  }
}

/** @throws DomainError 422 naming the bound. */
function rangeOf(body: StartReconciliationBody, now: number): { since: Date; until: Date } {
  const until = body.until ?? new Date(now);
  const since = body.since ?? new Date(until.getTime() - standardMs);
  if (until.getTime() > now) throw invalidField('until', 'Not in the future');
  if (since.getTime() < now - longestMs) throw invalidField('since', 'At most 90 days ago');
  if (since >= until) throw invalidField('since', 'Before `until`');
  return { since, until };
}
