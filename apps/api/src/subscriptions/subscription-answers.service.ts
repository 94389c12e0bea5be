import { Injectable } from '@nestjs/common';
import { asc, eq, inArray } from 'drizzle-orm';
import type { Db } from '../../../../libs/db/client.js';
import { findInvoice, invoiceViews } from '../../../../libs/db/invoice.queries.js';
import { invoiceItems, invoices, charges } from '../../../../libs/db/schema/index.js';
import { snapshot } from '../../../../libs/db/snapshot.js';
import { findSubscription, subscriptionViews } from '../../../../libs/db/subscription.queries.js';
import type { CommandOutcome } from '../../../../libs/domain/subscription/subscription.command.js';
import { notFound } from '../../../../libs/errors/domain-error.js';
import { publicId } from '../../../../libs/views/ids.js';
import { invoiceItemView, type InvoiceItemView, type InvoiceView } from '../../../../libs/views/invoice.view.js';
import type { SubscriptionView } from '../../../../libs/views/subscription.view.js';
import type { Caller } from '../kernel/callers.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { SubscriptionPreviewsService } from './subscription-previews.service.js';

/** What a command led to. */
export interface CommandAnswer {
  subscription: SubscriptionView;
  /** The invoice that it made. */
  invoice: InvoiceView | null;
  /** The lines that it left for the next invoice. */
  pending: InvoiceItemView[];
  /** The invoice that follows by itself, where it was asked for. */
  renewal: InvoiceView | null;
}

/** A subscription with what an answer shows beside it, all read at one moment. */
@Injectable()
export class SubscriptionAnswersService {
  constructor(
    private readonly infrastructure: Infrastructure,
    private readonly previews: SubscriptionPreviewsService,
  ) {}

  /** @throws DomainError 404. */
  async show(caller: Caller, id: string): Promise<SubscriptionView> {
    return snapshot(this.infrastructure.db, async (db) => (await this.read(db, caller, id)).subscription);
  }

  async after(caller: Caller, id: string, outcome: CommandOutcome | null, { renewal } = { renewal: false }): Promise<CommandAnswer> {
    return snapshot(this.infrastructure.db, async (db) => {
      const { row, subscription } = await this.read(db, caller, id);
      const invoice = outcome?.invoiceId ? await findInvoice(db, caller.accountId, outcome.invoiceId) : undefined;
      const [drawn] = await this.invoices(db, invoice ? [invoice] : []);
      return {
        subscription,
        invoice: drawn ?? null,
        pending: await this.pending(db, outcome?.pendingIds ?? []),
        renewal: renewal ? await this.previews.nextInvoice(db, row) : null,
      };
    });
  }

  /** A new subscription with its invoices, oldest first, and the connections that were asked for money. */
  async created(caller: Caller, id: string): Promise<{ created: SubscriptionView[]; invoices: InvoiceView[]; processors_used: string[] }> {
    return snapshot(this.infrastructure.db, async (db) => {
      const { subscription } = await this.read(db, caller, id);
      const rows = await db.select().from(invoices).where(eq(invoices.subscriptionId, id)).orderBy(asc(invoices.id)).limit(100);
      const intents = rows.flatMap(({ paymentIntentId }) => paymentIntentId ?? []);
      const used = intents.length === 0 ? [] : await db.select({ id: charges.processorId }).from(charges).where(inArray(charges.paymentIntentId, intents)).orderBy(asc(charges.id));
      const names = used.map(({ id: processorId }) => publicId('processor', caller.environment, processorId));
      return { created: [subscription], invoices: await this.invoices(db, rows), processors_used: [...new Set(names)] };
    });
  }

  private async read(db: Db, caller: Caller, id: string) {
    const row = await findSubscription(db, caller.accountId, id);
    if (!row) throw notFound('subscription');
    const [subscription] = await subscriptionViews(db, [row], caller.environment);
    return { row, subscription: subscription! };
  }

  private invoices(db: Db, rows: Parameters<typeof invoiceViews>[1]): Promise<InvoiceView[]> {
    return invoiceViews(db, rows, this.infrastructure.environment, this.infrastructure.config);
  }

  private async pending(db: Db, ids: string[]): Promise<InvoiceItemView[]> {
    if (ids.length === 0) return [];
    const rows = await db.select().from(invoiceItems).where(inArray(invoiceItems.id, ids)).orderBy(asc(invoiceItems.id));
    return rows.map((line) => invoiceItemView(line, this.infrastructure.environment));
  }
}
