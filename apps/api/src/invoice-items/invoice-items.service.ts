import { Injectable } from '@nestjs/common';
import { eq, isNotNull, isNull } from 'drizzle-orm';
import { transact } from '../../../../libs/db/change.js';
import { createPendingLine, deleteLine } from '../../../../libs/db/invoice-item.writes.js';
import { findInvoiceItem } from '../../../../libs/db/invoice.queries.js';
import { equals } from '../../../../libs/db/list.queries.js';
import { onceIfKeyed } from '../../../../libs/db/record.writes.js';
import { invoiceItems } from '../../../../libs/db/schema/index.js';
import { notFound } from '../../../../libs/errors/domain-error.js';
import { invoiceItemView } from '../../../../libs/views/invoice.view.js';
import { nowOf } from '../../../../libs/db/test-clock.queries.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { listPage } from '../kernel/lists.js';
import type { CreateInvoiceItemBody, ListInvoiceItemsBody } from './invoice-items.dto.js';

@Injectable()
export class InvoiceItemsService {
  constructor(private readonly infrastructure: Infrastructure) {}

  async create(caller: Caller, body: CreateInvoiceItemBody) {
    const wish = {
      id: caller.objectId(),
      customerId: bodyId('customer_id', 'cus', body.customer_id, caller),
      subscriptionId: body.subscription_id ? bodyId('subscription_id', 'sub', body.subscription_id, caller) : null,
      priceId: bodyId('price_id', 'price', body.price_id, caller),
      quantity: body.quantity,
      amountAtom: body.amount_atom ?? null,
      description: body.description ?? null,
    };
    const row = await transact(this.infrastructure.db, caller.change(), async (tx) =>
      createPendingLine(tx, caller.change(), wish, await nowOf(tx, wish.customerId)));
    return invoiceItemView(row, caller.environment);
  }

  async get(caller: Caller, id: string) {
    const row = await findInvoiceItem(this.infrastructure.db, caller.accountId, pathId('ii', id, caller));
    if (!row) throw notFound('invoice item');
    return invoiceItemView(row, caller.environment);
  }

  async list(caller: Caller, body: ListInvoiceItemsBody) {
    const pending = body.pending == null ? [] : [body.pending ? isNull(invoiceItems.invoiceId) : isNotNull(invoiceItems.invoiceId)];
    return listPage(this.infrastructure.db, invoiceItems, body, {
      where: [
        eq(invoiceItems.accountId, caller.accountId),
        isNull(invoiceItems.deletedAt),
        ...pending,
        ...equals(invoiceItems.invoiceId, body.invoice_id ? bodyId('invoice_id', 'inv', body.invoice_id, caller) : undefined),
        ...equals(invoiceItems.customerId, body.customer_id ? bodyId('customer_id', 'cus', body.customer_id, caller) : undefined),
      ],
      view: (row) => invoiceItemView(row, caller.environment),
    });
  }

  async delete(caller: Caller, id: string) {
    const itemId = pathId('ii', id, caller);
    await transact(this.infrastructure.db, caller.change(), (tx) =>
      onceIfKeyed(tx, caller.change(), { objectId: itemId, step: 'delete' }, () => deleteLine(tx, caller.change(), itemId)));
    return { invoice_item_id: id, message: 'Invoice item deleted.' };
  }
}
