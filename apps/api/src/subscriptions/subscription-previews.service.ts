import { Injectable } from '@nestjs/common';
import { asc, eq } from 'drizzle-orm';
import { invoiceRows } from '../../../../libs/db/invoice.writes.js';
import { checkExpectedTotal, readRequest, resolveItemPrices, resolveSubscription } from '../../../../libs/db/subscription-prices.queries.js';
import { factsOfNew, itemRows, subscriptionRow } from '../../../../libs/db/subscription.record.js';
import { jitterOf, readFacts, readPricedItems, viewWithItems } from '../../../../libs/db/subscription.queries.js';
import { clockworkOf } from '../../../../libs/db/test-clock.queries.js';
import { invoices, type InvoiceRow, type SubscriptionRow } from '../../../../libs/db/schema/index.js';
import type { InvoiceDraft } from '../../../../libs/domain/invoice/invoice.draft.js';
import { planCreate } from '../../../../libs/domain/subscription/create-subscription.js';
import type { Plan } from '../../../../libs/domain/subscription/plan.js';
import { nextInvoice } from '../../../../libs/domain/subscription/next-invoice.js';
import { assumePaid } from '../../../../libs/domain/subscription/preview-subscription.js';
import { planCommand, type NewSubscriptionJson, type SubscriptionCommand } from '../../../../libs/domain/subscription/subscription.command.js';
import { assertMayMove } from '../../../../libs/domain/subscription/subscription.machine.js';
import { invoiceView, type InvoiceView } from '../../../../libs/views/invoice.view.js';
import type { SubscriptionView } from '../../../../libs/views/subscription.view.js';
import type { Caller } from '../kernel/callers.js';
import { Infrastructure } from '../kernel/infrastructure.js';

export interface CommandPreview {
  subscription: SubscriptionView;
  /** The row as it would be. */
  after: SubscriptionRow;
  invoice: InvoiceView | null;
  plan: Plan | null;
}

/** What a change would do: the plan that a write would store, drawn and thrown away. Payments are assumed to succeed. */
@Injectable()
export class SubscriptionPreviewsService {
  constructor(private readonly infrastructure: Infrastructure) {}

  async create(caller: Caller, request: NewSubscriptionJson) {
    const { db, environment } = this.infrastructure;
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

  async command(row: SubscriptionRow, command: SubscriptionCommand): Promise<CommandPreview> {
    const { db, environment } = this.infrastructure;
    if (row.status === 'cancelled') assertMayMove(row, 'update');
    const prices = await resolveItemPrices(db, row, 'items' in command ? (command.items ?? []) : []);
    const facts = await readFacts(db, row, await this.clock(row), prices);
    const plan = planCommand(row, command, facts);
    const after: SubscriptionRow = plan ? { ...row, ...assumePaid(plan, facts), updatedAt: facts.now } : row;
    const items = await readPricedItems(db, [row.id]);
    const invoice = plan?.invoice ? this.draw(after, plan.invoice) : null;
    return { subscription: viewWithItems(after, items, environment), after, invoice, plan };
  }

  /** The invoice that follows by itself; null where none does. */
  async nextInvoice(row: SubscriptionRow): Promise<InvoiceView | null> {
    const draft = nextInvoice(row, await readFacts(this.infrastructure.db, row, await this.clock(row)));
    return draft ? this.draw(row, { ...draft, status: 'draft' }) : null;
  }

  /** Invoices of a subscription, oldest first. */
  invoicesOf(subscriptionId: string): Promise<InvoiceRow[]> {
    return this.infrastructure.db.select().from(invoices).where(eq(invoices.subscriptionId, subscriptionId)).orderBy(asc(invoices.id)).limit(100);
  }

  private clock(row: SubscriptionRow) {
    const { db, config } = this.infrastructure;
    return clockworkOf(db, row.testClockId, { now: new Date(), jitterSeconds: jitterOf(row.id, config.subscriptionJitterSeconds) });
  }

  private draw(row: SubscriptionRow, draft: InvoiceDraft): InvoiceView {
    const { row: invoice, lines } = invoiceRows(row, draft, null);
    return invoiceView(invoice, { lines, refundIds: [] }, this.infrastructure.environment);
  }
}
