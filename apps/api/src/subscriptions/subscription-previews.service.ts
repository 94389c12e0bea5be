import { Injectable } from '@nestjs/common';
import type { Db } from '../../../../libs/db/client.js';
import { invoiceRows } from '../../../../libs/db/invoice.writes.js';
import { lineRow } from '../../../../libs/db/pending-line.writes.js';
import { checkExpectedTotal, readRequest, resolveItemPrices, resolveSubscription, type SoldPrice } from '../../../../libs/db/subscription-prices.queries.js';
import { factsOfNew, itemRows, nameAfter, newItemRow, subscriptionRow } from '../../../../libs/db/subscription.record.js';
import { findSubscription, jitterOf, readFacts, readPricedItems, viewWithItems, type PricedItem } from '../../../../libs/db/subscription.queries.js';
import { snapshot } from '../../../../libs/db/snapshot.js';
import { clockworkOf } from '../../../../libs/db/test-clock.queries.js';
import type { SubscriptionRow } from '../../../../libs/db/schema/index.js';
import type { InvoiceDraft } from '../../../../libs/domain/invoice/invoice.draft.js';
import { planCreate } from '../../../../libs/domain/subscription/create-subscription.js';
import type { Facts, Plan } from '../../../../libs/domain/subscription/plan.js';
import { nextInvoice } from '../../../../libs/domain/subscription/next-invoice.js';
import { assumePaid, factsAfter } from '../../../../libs/domain/subscription/preview-subscription.js';
import { planCommand, type NewSubscriptionJson, type SubscriptionCommand } from '../../../../libs/domain/subscription/subscription.command.js';
import { assertMayMove } from '../../../../libs/domain/subscription/subscription.machine.js';
import { notFound } from '../../../../libs/errors/domain-error.js';
import { invoiceItemView, invoiceView, type InvoiceItemView, type InvoiceView } from '../../../../libs/views/invoice.view.js';
import type { SubscriptionView } from '../../../../libs/views/subscription.view.js';
import type { Caller } from '../kernel/callers.js';
import { Infrastructure } from '../kernel/infrastructure.js';

export interface CommandPreview {
  subscription: SubscriptionView;
  /** The row as it would be. */
  after: SubscriptionRow;
  invoice: InvoiceView | null;
  /** Lines that would wait for the next invoice. */
  pending: InvoiceItemView[];
  /** The invoice that would follow by itself. */
  renewal: InvoiceView | null;
  plan: Plan | null;
}

/** What a change would do: the plan that a write would store, drawn and thrown away. Payments are assumed to succeed. */
@Injectable()
export class SubscriptionPreviewsService {
  constructor(private readonly infrastructure: Infrastructure) {}

  async create(caller: Caller, request: NewSubscriptionJson) {
    return snapshot(this.infrastructure.db, (db) => this.createAt(db, caller, request));
  }

  private async createAt(db: Db, caller: Caller, request: NewSubscriptionJson) {
    const { environment } = this.infrastructure;
    const resolved = await resolveSubscription(db, caller.accountId, readRequest(request));
    const facts = await factsOfNew(db, resolved, await clockworkOf(db, resolved.customer.testClockId, { now: new Date(), jitterSeconds: 0 }));
    const plan = planCreate(resolved.input, facts);
    checkExpectedTotal(request.totalAmountAtom, plan.invoice?.totalAtom ?? 0);
    const row = subscriptionRow({ accountId: caller.accountId }, resolved, { ...plan, next: assumePaid(plan, facts) }, facts.now);
    const items = itemRows(row, resolved).map((item, index) => ({ ...resolved.items[index]!, item }));
    return {
      created: [viewWithItems(row, items, environment)],
      invoices: plan.invoice ? [this.draw(row, plan.invoice)] : [],
      processors_used: [],
    };
  }

  command(caller: Caller, id: string, command: SubscriptionCommand): Promise<CommandPreview> {
    return snapshot(this.infrastructure.db, async (db) => {
      const row = await findSubscription(db, caller.accountId, id);
      if (!row) throw notFound('subscription');
      return this.commandAt(db, row, command);
    });
  }

  private async commandAt(db: Db, row: SubscriptionRow, command: SubscriptionCommand): Promise<CommandPreview> {
    const { environment } = this.infrastructure;
    if (row.status === 'cancelled') assertMayMove(row, 'update');
    const prices = await resolveItemPrices(db, row, 'items' in command ? (command.items ?? []) : []);
    const facts = await readFacts(db, row, await this.clock(db, row), prices);
    const plan = planCommand(row, command, facts);
    const items = await readPricedItems(db, [row.id]);
    if (!plan) return { subscription: viewWithItems(row, items, environment), after: row, invoice: null, pending: [], renewal: this.renewal(row, facts), plan };
    const then = factsAfter(plan, facts);
    const after: SubscriptionRow = { ...row, ...assumePaid(plan, facts), name: nameAfter(row, plan, facts), updatedAt: facts.now };
    return {
      subscription: viewWithItems(after, itemsThen(row, then, { items, prices }), environment),
      after,
      invoice: plan.invoice ? this.draw(after, plan.invoice) : null,
      pending: plan.pending.map((line) => invoiceItemView(lineRow(row, line, { invoiceId: null, at: facts.now }), environment)),
      renewal: this.renewal(after, then),
      plan,
    };
  }

  /** The invoice that follows by itself; null where none does. */
  async nextInvoice(db: Db, row: SubscriptionRow): Promise<InvoiceView | null> {
    return this.renewal(row, await readFacts(db, row, await this.clock(db, row)));
  }

  private renewal(row: SubscriptionRow, facts: Facts): InvoiceView | null {
    const draft = nextInvoice(row, facts);
    return draft ? this.draw(row, { ...draft, status: 'draft' }) : null;
  }

  private clock(db: Db, row: SubscriptionRow) {
    const jitterSeconds = jitterOf(row.id, this.infrastructure.config.subscriptionJitterSeconds);
    return clockworkOf(db, row.testClockId, { now: new Date(), jitterSeconds });
  }

  private draw(row: SubscriptionRow, draft: InvoiceDraft): InvoiceView {
    const { row: invoice, lines } = invoiceRows(row, draft, null);
    return invoiceView(invoice, { lines, refundIds: [] }, this.infrastructure.environment);
  }
}

/** The items as a write would leave them. */
function itemsThen(row: SubscriptionRow, { items: wanted, now }: Facts, { items, prices }: { items: PricedItem[]; prices: SoldPrice[] }): PricedItem[] {
  return wanted.map((item) => {
    const known = items.find((each) => each.item.id === item.id);
    const sold = prices.find(({ price }) => price.id === item.priceId) ?? items.find(({ price }) => price.id === item.priceId)!;
    const fresh = newItemRow(row, item, now);
    const isSame = known && JSON.stringify({ ...fresh, createdAt: 0, updatedAt: 0, version: 0 }) === JSON.stringify({ ...known.item, createdAt: 0, updatedAt: 0, version: 0 });
    if (isSame) return known;
    return { price: { ...sold.price, usedAt: sold.price.usedAt ?? now }, product: sold.product, item: { ...fresh, createdAt: known?.item.createdAt ?? now } };
  });
}
