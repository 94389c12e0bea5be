import { and, eq, isNotNull } from 'drizzle-orm';
import type { Db } from './client.js';
import { linesOf } from './manual-invoice.queries.js';
import {
  accounts, customers, invoices, paymentIntents, paymentMethods, subscriptions, type CustomerRow, type InvoiceItemRow, type InvoiceRow, type PaymentIntentRow,
  type PaymentMethodRow, type SubscriptionRow,
} from './schema/index.js';
import { snapshot } from './snapshot.js';

/** All that an invoice's page shows. */
export interface HostedInvoice {
  invoice: InvoiceRow;
  lines: InvoiceItemRow[];
  sellerName: string;
  customer: CustomerRow;
  subscription: SubscriptionRow | null;
  intent: PaymentIntentRow | null;
  /** The method of its payment. */
  method: PaymentMethodRow | null;
}

/** A finalised invoice of whatever account: its page's token is the credential. */
export function readHostedInvoice(db: Db, id: string): Promise<HostedInvoice | null> {
  return snapshot(db, (at) => readAt(at, id));
}

async function readAt(db: Db, id: string): Promise<HostedInvoice | null> {
  const [found] = await db
    .select({ invoice: invoices, sellerName: accounts.name, customer: customers, subscription: subscriptions, intent: paymentIntents, method: paymentMethods })
    .from(invoices)
    .innerJoin(accounts, eq(accounts.id, invoices.accountId))
    .innerJoin(customers, eq(customers.id, invoices.customerId))
    .leftJoin(subscriptions, eq(subscriptions.id, invoices.subscriptionId))
    .leftJoin(paymentIntents, eq(paymentIntents.id, invoices.paymentIntentId))
    .leftJoin(paymentMethods, eq(paymentMethods.id, paymentIntents.paymentMethodId))
    .where(and(eq(invoices.id, id), isNotNull(invoices.finalizedAt)));
  return found ? { ...found, lines: await linesOf(db, id) } : null;
}
