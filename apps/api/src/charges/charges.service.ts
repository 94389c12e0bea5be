import { Injectable } from '@nestjs/common';
import { eq, sql, type SQL } from 'drizzle-orm';
import { transact } from '../../../../libs/db/change.js';
import { equals } from '../../../../libs/db/list.queries.js';
import { chargeOf, processorNames } from '../../../../libs/db/payment.queries.js';
import { charges, type ChargeRow } from '../../../../libs/db/schema/index.js';
import { notFound } from '../../../../libs/errors/domain-error.js';
import { describeCharge } from '../../../../libs/payments/describe-charge.js';
import { chargeView } from '../../../../libs/views/charge.view.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { cursorPage, listPage } from '../kernel/lists.js';
import type { ChargesQuery, ListChargesBody, UpdateChargeBody } from './charges.dto.js';

@Injectable()
export class ChargesService {
  constructor(private readonly infrastructure: Infrastructure) {}

  async get(caller: Caller, id: string) {
    const row = await chargeOf(this.infrastructure.db, caller.accountId, pathId('ch', id, caller));
    if (!row) throw notFound('charge');
    return (await this.views([row]))[0]!;
  }

  async update(caller: Caller, id: string, body: UpdateChargeBody) {
    const change = caller.change();
    const wanted = { chargeId: pathId('ch', id, caller), customFields: body.custom_fields };
    return transact(this.infrastructure.db, change, (tx) => describeCharge(tx, change, wanted));
  }

  async list(caller: Caller, body: ListChargesBody) {
    const refunded = sql`(${charges.capturedAtom} > 0 and ${charges.refundedAtom} = ${charges.capturedAtom})`;
    const page = await listPage(this.infrastructure.db, charges, body, {
      where: [...this.conditions(caller, body), typeof body.refunded === 'boolean' ? eq(refunded, body.refunded) : undefined],
      sorts: { amount_atom: charges.amountAtom },
      view: (row) => row,
    });
    return { ...page, data: await this.views(page.data) };
  }

  async page(caller: Caller, query: ChargesQuery) {
    const page = await cursorPage(this.infrastructure.db, charges, query, { where: this.conditions(caller, query), view: (row) => row });
    return { ...page, data: await this.views(page.data) };
  }

  private async views(rows: ChargeRow[]) {
    const names = await processorNames(this.infrastructure.db, [...new Set(rows.map((row) => row.processorId))]);
    return rows.map((row) => chargeView(row, names.get(row.processorId)?.kind ?? null, this.infrastructure.environment));
  }

  private conditions(caller: Caller, filter: Partial<ListChargesBody>): (SQL | undefined)[] {
    const id = (field: string, kind: 'cus' | 'inv' | 'pm' | 'pi', value: string | null | undefined) => (value ? bodyId(field, kind, value, caller) : undefined);
    return [
      eq(charges.accountId, caller.accountId),
      ...equals(charges.customerId, id('customer_id', 'cus', filter.customer_id)),
      ...equals(charges.invoiceId, id('invoice_id', 'inv', filter.invoice_id)),
      ...equals(charges.paymentIntentId, id('payment_intent_id', 'pi', filter.payment_intent_id)),
      ...equals(charges.paymentMethodId, id('payment_method_id', 'pm', filter.payment_method_id)),
      ...equals(charges.status, filter.status),
    ];
  }
}
