import { sql } from 'drizzle-orm';
import { minimumAmount } from '../domain/invoice/minimum-amount.js';
import type { Facts } from '../domain/subscription/plan.js';
import type { Row } from './batch.js';
import { rulesOf } from './billing-rules.queries.js';
import type { Db } from './client.js';
import { clocksOf, footingOf, footingSql, type EventFooting } from './event.writes.js';
import { invoiceFactsOf, operating, owedFirst, worthReading, type AttemptFacts } from './invoice.queries.js';
import { rowOf } from './statement.js';
import { backed, debitInvoice, pendingLineOf } from './subscription-lines.queries.js';
import { billableItem, type Clockwork, type PricedItem } from './subscription.queries.js';
import { slot, template } from './template.js';
import { readTogether } from './together.js';
import {
  invoiceItems,
  invoices,
  prices,
  products,
  subscriptionItems,
  subscriptions,
  type AccountRow,
  type PaymentProcessorRow,
  type SubscriptionRow,
} from './schema/index.js';

/** A subscription as it stands, with what its next step depends on. */
export interface Standing {
  row: SubscriptionRow;
  items: PricedItem[];
  facts: Facts;
  /** Of the subscription's events. */
  footing: EventFooting;
  /** UUIDs of intents by invoice: those that are owed, the one being charged and the newest. */
  intents: ReadonlyMap<string, string | null>;
}

const id = slot('id');
const account = slot('account');
const itemsOf = sql`subscription_items where subscription_id = ${id} and removed_at is null`;

const reads = [
  sql`select * from subscriptions where id = ${id} and account_id = ${account}`,
  sql`select * from ${itemsOf} order by id`,
  sql`select * from prices where id in (select price_id from ${itemsOf})`,
  sql`select * from products where id in (select product_id from ${itemsOf})`,
  sql`select m.id from subscriptions s
        join customers c on c.id = s.customer_id and c.account_id = s.account_id
        join payment_methods m on m.id = coalesce(s.default_payment_method_id, c.default_payment_method_id)
       where s.id = ${id} and m.customer_id = s.customer_id and m.status = 'attached'`,
  sql`select coalesce(sum(b.amount_atom), 0) as sum from subscriptions s
        join customer_balance_transactions b on b.account_id = s.account_id and b.customer_id = s.customer_id and b.currency = s.currency
       where s.id = ${id}`,
  sql`select invoices.*, payment_intents.status as intent_status, payment_intents.decline_code as intent_decline_code,
             payment_intents.decision as intent_decision, charges.outcome_class as charge_outcome_class,
             charges.retry_advice as charge_retry_advice, ${operating} as operating
        from invoices
        left join payment_intents on payment_intents.id = invoices.payment_intent_id
        left join charges on charges.id = payment_intents.last_charge_id
       where invoices.subscription_id = ${id} and invoices.finalized_at is not null and invoices.billing_reason <> 'manual' and ${worthReading(id)}
       order by invoices.period_start, invoices.id`,
  sql`select invoice_items.*, ${backed} as backed, ${debitInvoice} as debit_invoice from subscriptions s
        join invoice_items on invoice_items.customer_id = s.customer_id and invoice_items.account_id = s.account_id and invoice_items.currency = s.currency
       where s.id = ${id} and invoice_items.invoice_id is null and invoice_items.deleted_at is null
         and (invoice_items.subscription_id = s.id or invoice_items.subscription_id is null)
       order by invoice_items.id`,
  sql`select dunning_policy as policy, billing_settings as settings from accounts where id = ${account}`,
  sql`select kind, settings from payment_processors where account_id = ${account} and is_enabled and deleted_at is null`,
  footingSql({ account, objects: sql`array[${id}::uuid]`, clocks: clocksOf(sql`(select s.customer_id from subscriptions s where s.id = ${id})`) }),
].map((query) => template<'id' | 'account'>(query));

type Answers = [Row[], Row[], Row[], Row[], Row[], Row[], Row[], Row[], Row[], Row[], Row[]];

/**
 * The row and the facts of its next step in one round trip. Of a cancelled one `billed` and `periodInvoices` are missing, which
 * `readFacts` reads too; nothing is locked, so a write must find the version that was read.
 */
export async function readStanding(db: Db, { accountId, subscriptionId }: { accountId: string; subscriptionId: string }, clock: Clockwork): Promise<Standing | null> {
  const answers = await readTogether(db, reads.map((read) => read(db, { id: subscriptionId, account: accountId })));
  const [[found], items, priceRows, productRows, [method], [credit], billed, waiting, [rules], connections, [footing]] = answers as Answers;
  if (!found) return null;
  const row = rowOf(subscriptions, found);
  const priced = pricedItems(items, priceRows, productRows);
  const known = billed.map((each) => ({ invoice: rowOf(invoices, each), facts: factsOfInvoice(each) }));
  const invoiceFacts = known.map(({ facts }) => facts);
  return {
    row,
    items: priced,
    footing: footingOf(footing!),
    intents: new Map(known.map(({ invoice }) => [invoice.id, invoice.paymentIntentId])),
    facts: {
      ...clock,
      rules: rulesOf(rules as { policy: AccountRow['dunningPolicy']; settings: AccountRow['billingSettings'] } | undefined),
      items: priced.map(billableItem),
      paymentMethodId: (method?.id as string | undefined) ?? null,
      balanceAtom: Number(credit?.sum ?? 0),
      openInvoices: owedFirst(invoiceFacts),
      charging: invoiceFacts.find((invoice) => invoice.id === row.chargingInvoiceId) ?? null,
      latestInvoice: invoiceFacts.findLast(({ beginsPeriod }) => beginsPeriod) ?? null,
      pending: waiting.map((each) => pendingLineOf(rowOf(invoiceItems, each), standingOf(each))),
      billed: [],
      periodInvoices: [],
      prices: [],
      minimumAtom: minimumAmount(connections as Pick<PaymentProcessorRow, 'kind' | 'settings'>[], row.currency),
    },
  };
}

function standingOf(line: Row): { isBacked: boolean; debitInvoiceId: string | null } {
  return { isBacked: line.backed === true, debitInvoiceId: (line.debit_invoice as string | null) ?? null };
}

function pricedItems(items: Row[], priceRows: Row[], productRows: Row[]): PricedItem[] {
  const priceOf = new Map(priceRows.map((each) => [each.id, rowOf(prices, each)]));
  const productOf = new Map(productRows.map((each) => [each.id, rowOf(products, each)]));
  return items.map((each) => {
    const item = rowOf(subscriptionItems, each);
    return { item, price: priceOf.get(item.priceId)!, product: productOf.get(item.productId)! };
  });
}

function factsOfInvoice(each: Row) {
  const attempt = {
    status: each.intent_status,
    declineCode: each.intent_decline_code,
    decision: each.intent_decision,
    outcomeClass: each.charge_outcome_class,
    retryAdvice: each.charge_retry_advice,
  } as AttemptFacts & { status: string | null };
  return invoiceFactsOf(rowOf(invoices, each), attempt, each.operating === true);
}
