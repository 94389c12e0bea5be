import { Injectable } from '@nestjs/common';
import { transact } from '../../../../libs/db/change.js';
import type { Db } from '../../../../libs/db/client.js';
import { oncePerCommand } from '../../../../libs/db/command.writes.js';
import { resolveInvoice, type ManualInvoice } from '../../../../libs/db/manual-invoice.queries.js';
import { draftedInvoice, finalisedInvoice, type FinalisedInvoice } from '../../../../libs/db/manual-invoice.record.js';
import { commentInvoice, createDraft, editInvoice } from '../../../../libs/db/manual-invoice.writes.js';
import { intentOf } from '../../../../libs/db/payment.queries.js';
import { onceIfKeyed } from '../../../../libs/db/record.writes.js';
import type { InvoiceItemRow, InvoiceRow } from '../../../../libs/db/schema/index.js';
import { snapshot } from '../../../../libs/db/snapshot.js';
import { readMinimum } from '../../../../libs/db/subscription-lines.queries.js';
import { assertAttached } from '../../../../libs/db/subscription-prices.queries.js';
import { customerCredit } from '../../../../libs/db/subscription.queries.js';
import { invalidField } from '../../../../libs/errors/domain-error.js';
import { finaliseInvoice, requireInvoiceMethod } from '../../../../libs/payments/collect-invoice.js';
import { publicId } from '../../../../libs/views/ids.js';
import { invoiceView } from '../../../../libs/views/invoice.view.js';
import { nowOf } from '../../../../libs/db/test-clock.queries.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { SettlementsService } from '../payment-intents/settlements.service.js';
import type { CommentBody, CreateInvoiceBody, UpdateInvoiceBody } from './invoices.dto.js';
import { InvoicesService } from './invoices.service.js';

/** Invoices that a person makes, and what a person does to any. */
@Injectable()
export class ManualInvoicesService {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly settlements: SettlementsService,
    private readonly invoices: InvoicesService,
  ) {}

  async create(caller: Caller, body: CreateInvoiceBody) {
    const wish = readWish(caller, body);
    const finalise = body.finalize_invoice_immediately ?? false;
    if (body.is_preview) return snapshot(this.infrastructure.db, (db) => this.preview(db, caller, wish, finalise));
    const change = caller.change();
    const now = await nowOf(this.infrastructure.db, wish.customerId);
    const { intentId } = await transact(this.infrastructure.db, change, (tx) => oncePerCommand(tx, change, { objectId: wish.id, step: 'create' }, async () => {
      await createDraft(tx, change, wish, now);
      const intent = finalise ? await finaliseInvoice(tx, change, { invoiceId: wish.id, now }) : null;
      return { intentId: intent?.id ?? null };
    }));
    return this.collect(caller, wish.id, intentId);
  }

  async finalize(caller: Caller, id: string) {
    const invoice = await this.invoices.find(caller, id);
    const change = caller.change();
    const { intentId } = await transact(this.infrastructure.db, change, (tx) => oncePerCommand(tx, change, { objectId: invoice.id, step: 'finalize' }, async () => {
      const intent = await finaliseInvoice(tx, change, { invoiceId: invoice.id, now: await nowOf(tx, invoice.customerId) });
      return { intentId: intent?.id ?? null };
    }));
    await this.invoices.tellSubscription(caller, invoice);
    return this.collect(caller, invoice.id, intentId);
  }

  async update(caller: Caller, id: string, body: UpdateInvoiceBody) {
    const { id: invoiceId, customerId } = await this.invoices.find(caller, id);
    const { db } = this.infrastructure;
    const method = body.payment_method_id ? bodyId('payment_method_id', 'pm', body.payment_method_id, caller) : body.payment_method_id;
    if (method) await assertAttached(db, caller.accountId, { paymentMethodId: method, customerId });
    const patch = {
      description: body.description,
      customFields: body.custom_fields,
      emailOnFinalization: body.email_invoice_on_finalization === null ? false : body.email_invoice_on_finalization,
      defaultPaymentMethodId: method,
    };
    const change = caller.change();
    await transact(db, change, (tx) => onceIfKeyed(tx, change, { objectId: invoiceId, step: 'update' }, async () =>
      editInvoice(tx, change, { invoiceId, patch, now: await nowOf(tx, customerId) })));
    return this.invoices.get(caller, id);
  }

  async comment(caller: Caller, id: string, { comment }: CommentBody) {
    const { id: invoiceId, customerId } = await this.invoices.find(caller, id);
    const change = caller.change();
    await transact(this.infrastructure.db, change, (tx) => onceIfKeyed(tx, change, { objectId: invoiceId, step: 'comment' }, async () =>
      commentInvoice(tx, change, { invoiceId, comment, now: await nowOf(tx, customerId) })));
    return this.invoices.get(caller, id);
  }

  /** The answer is the invoice however its payment ended; one still under way leaves the request's key open. */
  private async collect(caller: Caller, invoiceId: string, intentId: string | null) {
    const { db } = this.infrastructure;
    const begun = intentId ? await intentOf(db, caller.accountId, intentId) : null;
    if (begun) {
      await this.settlements.settle(begun, caller.change());
      if ((await intentOf(db, caller.accountId, begun.id))?.status === 'processing') caller.leaveOpen();
    }
    return this.invoices.get(caller, publicId('inv', caller.environment, invoiceId));
  }

  private async preview(db: Db, { accountId, environment }: Caller, wish: ManualInvoice, finalise: boolean) {
    const at = await nowOf(db, wish.customerId);
    const resolved = await resolveInvoice(db, accountId, wish, { lock: false });
    const { row, added, taken } = draftedInvoice(accountId, wish, resolved, at);
    const lines = [...taken, ...added].sort(byId);
    if (!finalise) return invoiceView(row, { lines, refundIds: [] }, environment);
    const { row: drawn, carried } = await finalised(db, row, { lines, at });
    return invoiceView(drawn, { lines: carried ? [...lines, carried.off] : lines, refundIds: [] }, environment);
  }

}

/** As if its payment, where one begins, succeeded. */
async function finalised(db: Db, draft: InvoiceRow, { lines, at }: { lines: InvoiceItemRow[]; at: Date }): Promise<Pick<FinalisedInvoice, 'carried'> & { row: InvoiceRow }> {
  const facts = { balanceAtom: await customerCredit(db, draft), minimumAtom: await readMinimum(db, draft.accountId, draft.currency), at };
  const { set, carried } = finalisedInvoice(draft, lines, facts);
  const row = { ...draft, ...set };
  if (row.status === 'paid' || row.collectionMethod !== 'charge_automatically') return { row, carried };
  await requireInvoiceMethod(db, row);
  return { row: { ...row, status: 'paid', paidAtom: row.dueAtom, paidAt: at }, carried };
}

function byId(one: { id: string }, other: { id: string }): number {
  return one.id < other.id ? -1 : 1;
}

/** From the wire to what is written. @throws DomainError 422 naming the id that is not one. */
function readWish(caller: Caller, body: CreateInvoiceBody): ManualInvoice {
  const details = body.invoice_item_details ?? {};
  const selected = body.selected_product_price_quantity;
  const unknown = Object.keys(details).find((price) => !selected.some(({ price_id }) => price_id === price));
  if (unknown !== undefined) throw invalidField(['invoice_item_details', unknown], 'names no selected price');
  return {
    id: caller.objectId(),
    customerId: bodyId('customer_id', 'cus', body.customer_id, caller),
    subscriptionId: body.subscription_id ? bodyId('subscription_id', 'sub', body.subscription_id, caller) : null,
    items: selected.map(({ price_id: price, quantity }, index) => ({
      priceId: bodyId(`selected_product_price_quantity.${index}.price_id`, 'price', price, caller),
      quantity,
      description: details[price]?.description ?? null,
    })),
    takesPending: (body.invoice_type ?? (selected.length > 0 ? 'one_off' : 'standard')) === 'standard',
    collectionMethod: body.collection_method,
    netD: body.net_d ?? null,
    paymentMethodId: body.payment_method_id ? bodyId('payment_method_id', 'pm', body.payment_method_id, caller) : null,
    emailOnFinalization: body.email_invoice_on_finalization ?? false,
    description: body.description,
    customFields: body.custom_fields ?? null,
  };
}
