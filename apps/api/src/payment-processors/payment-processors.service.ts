import { Injectable } from '@nestjs/common';
import { eq, isNull } from 'drizzle-orm';
import { transact } from '../../../../libs/db/change.js';
import { equals } from '../../../../libs/db/list.queries.js';
import { findProcessor } from '../../../../libs/db/processor.queries.js';
import { createProcessor, deleteProcessor, updateProcessor, type ProcessorPatch } from '../../../../libs/db/processor.writes.js';
import { paymentProcessors } from '../../../../libs/db/schema/index.js';
import { notFound } from '../../../../libs/errors/domain-error.js';
import { requireConnection, requireKind, sealCredentials } from '../../../../libs/payments/connections.js';
import { paymentProcessorView } from '../../../../libs/views/payment-processor.view.js';
import type { Caller } from '../kernel/callers.js';
import { pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { cursorPage, listPage } from '../kernel/lists.js';
import { Payments } from '../kernel/payments.js';
import type { CreatePaymentProcessorBody, ListPaymentProcessorsBody, PaymentProcessorsQuery, UpdatePaymentProcessorBody } from './payment-processors.dto.js';

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
    return paymentProcessorView(await this.find(caller, publicId), caller.environment);
  }

  async update(caller: Caller, publicId: string, body: UpdatePaymentProcessorBody) {
    const row = await this.find(caller, publicId);
    requireConnection(this.payments.deps.processors, row.kind, { settings: body.settings, credentials: body.credentials });
    const { db, secrets } = this.infrastructure;
    const patch: ProcessorPatch = {
      ...(body.name === undefined ? {} : { name: body.name }),
      ...(body.settings === undefined ? {} : { settings: body.settings }),
      ...(body.credentials === undefined ? {} : { credentialsSealed: sealCredentials(secrets, row.id, body.credentials) }),
      ...(body.is_enabled === undefined ? {} : { isEnabled: body.is_enabled }),
    };
    return transact(db, caller.change(), (tx) => updateProcessor(tx, caller.change(), { id: row.id, patch }));
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

  private async find(caller: Caller, publicId: string) {
    const row = await findProcessor(this.infrastructure.db, caller.accountId, pathId('processor', publicId, caller));
    if (!row) throw notFound('payment processor');
    return row;
  }
}
