import { Injectable } from '@nestjs/common';
import { eq, isNull } from 'drizzle-orm';
import { transact } from '../../../../libs/db/change.js';
import { equals } from '../../../../libs/db/list.queries.js';
import { findProcessor } from '../../../../libs/db/processor.queries.js';
import { recentCalls } from '../../../../libs/db/processor-health.queries.js';
import { createProcessor, deleteProcessor, rotateCredentials, updateProcessor, type ProcessorPatch } from '../../../../libs/db/processor.writes.js';
import { paymentProcessors, type PaymentProcessorRow } from '../../../../libs/db/schema/index.js';
import { snapshot } from '../../../../libs/db/snapshot.js';
import { notFound } from '../../../../libs/errors/domain-error.js';
import { checkConnection } from '../../../../libs/payments/check-connection.js';
import { openConnection } from '../../../../libs/payments/connection-cache.js';
import { requireConnection, requireKind, sealCredentials } from '../../../../libs/payments/connections.js';
import { rotatedCredentials } from '../../../../libs/payments/rotate-credentials.js';
import { paymentProcessorView, processorHealthView } from '../../../../libs/views/payment-processor.view.js';
import type { Caller } from '../kernel/callers.js';
import { pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { cursorPage, listPage } from '../kernel/lists.js';
import { Payments } from '../kernel/payments.js';
import type {
  CreatePaymentProcessorBody, ListPaymentProcessorsBody, PaymentProcessorsQuery, RotateCredentialsBody, UpdatePaymentProcessorBody,
} from './payment-processors.dto.js';

@Injectable()
export class PaymentProcessorsService {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly payments: Payments,
  ) {}

  async create(caller: Caller, body: CreatePaymentProcessorBody) {
    requireKind(this.payments.deps.processors, body.kind);
    requireConnection(this.payments.deps.processors, body.kind, { settings: body.settings ?? null, credentials: body.credentials ?? null });
    const { db, secrets } = this.infrastructure;
    const id = caller.objectId();
    return transact(db, caller.change(), (tx) =>
      createProcessor(tx, caller.change(), {
        id,
        name: body.name,
        kind: body.kind,
        settings: body.settings ?? null,
        credentialsSealed: sealCredentials(secrets, id, body.credentials ?? null),
        isEnabled: body.is_enabled,
      }),
    );
  }

  async get(caller: Caller, publicId: string) {
    return snapshot(this.infrastructure.db, async (db) => {
      const row = await this.find(caller, publicId, db);
      const health = processorHealthView(row, await recentCalls(db, caller.accountId, row.id));
      return { ...paymentProcessorView(row, caller.environment), health };
    });
  }

  async update(caller: Caller, publicId: string, body: UpdatePaymentProcessorBody) {
    const row = await this.find(caller, publicId);
    requireConnection(this.payments.deps.processors, row.kind, { settings: body.settings, credentials: body.credentials });
    const { db, secrets } = this.infrastructure;
    const patch: ProcessorPatch = {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.settings === undefined ? {} : { settings: body.settings }),
      ...(body.credentials === undefined ? {} : { credentialsSealed: sealCredentials(secrets, row.id, body.credentials), credentialsOverlapUntil: null }),
      ...(body.is_enabled === undefined ? {} : { isEnabled: body.is_enabled }),
    };
    return transact(db, caller.change(), (tx) => updateProcessor(tx, caller.change(), { id: row.id, patch }));
  }

  async rotate(caller: Caller, publicId: string, body: RotateCredentialsBody) {
    const row = await this.find(caller, publicId);
    requireConnection(this.payments.deps.processors, row.kind, { credentials: body.credentials });
    const { db, secrets } = this.infrastructure;
    const overlapUntil = body.overlap_seconds === 0 ? null : new Date(Date.now() + body.overlap_seconds * 1000);
    const next = (before: PaymentProcessorRow) => rotatedCredentials(secrets, before, { credentials: body.credentials, overlapUntil });
    return transact(db, caller.change(), (tx) => rotateCredentials(tx, caller.change(), { id: row.id, next }));
  }

  async check(caller: Caller, publicId: string) {
    const row = await this.find(caller, publicId);
    const { ok, detail, durationMs } = await checkConnection(this.payments.deps, openConnection(row, this.infrastructure));
    return { ok, detail, duration_ms: durationMs };
  }

  async delete(caller: Caller, publicId: string) {
    const id = pathId('processor', publicId, caller);
    return transact(this.infrastructure.db, caller.change(), (tx) => deleteProcessor(tx, caller.change(), id));
  }

  async list(caller: Caller, body: ListPaymentProcessorsBody) {
    return listPage(this.infrastructure.db, paymentProcessors, body, {
      where: this.conditions(caller, body),
      sorts: { name: paymentProcessors.name },
      view: (row) => paymentProcessorView(row, caller.environment),
    });
  }

  async page(caller: Caller, query: PaymentProcessorsQuery) {
    return cursorPage(this.infrastructure.db, paymentProcessors, query, {
      where: this.conditions(caller, query),
      view: (row) => paymentProcessorView(row, caller.environment),
    });
  }

  private conditions(caller: Caller, filter: Pick<ListPaymentProcessorsBody, 'kind' | 'is_enabled'>) {
    return [
      eq(paymentProcessors.accountId, caller.accountId),
      isNull(paymentProcessors.deletedAt),
      ...equals(paymentProcessors.kind, filter.kind),
      ...equals(paymentProcessors.isEnabled, filter.is_enabled),
    ];
  }

  private async find(caller: Caller, publicId: string, db = this.infrastructure.db) {
    const row = await findProcessor(db, caller.accountId, pathId('processor', publicId, caller));
    if (!row) throw notFound('payment processor');
    return row;
  }
}
