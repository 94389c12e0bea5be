import type { Change } from '../domain/change/change.js';
import type { BillableItem } from '../domain/invoice/invoice.draft.js';
import { itemsAfter, running } from '../domain/subscription/item-changes.js';
import type { Facts, Plan } from '../domain/subscription/plan.js';
import { nextDue } from '../domain/subscription/subscription.schedule.js';
import { billingRules } from './billing-rules.queries.js';
import type { Db, Tx } from './client.js';
import type { SubscriptionItemRow, SubscriptionRow } from './schema/index.js';
import type { ResolvedSubscription } from './subscription-prices.queries.js';
import { readMinimum, readPendingLines } from './subscription-lines.queries.js';
import { customerCredit, itemPrice, usableMethod, type Clockwork } from './subscription.queries.js';

/** Facts of a subscription that does not exist yet. */
export async function factsOfNew(db: Db | Tx, { input, customer, items }: ResolvedSubscription, clock: Clockwork): Promise<Facts> {
  const payer = { accountId: customer.accountId, customerId: customer.id, defaultPaymentMethodId: input.defaultPaymentMethodId, currency: input.currency };
  return {
    ...clock,
    rules: await billingRules(db, customer.accountId),
    items: items.map(({ id, price, product, quantity, description, customFields }) => ({ id, ...itemPrice(price, product), description, quantity, customFields })),
    paymentMethodId: await usableMethod(db, payer),
    balanceAtom: await customerCredit(db, payer),
    openInvoices: [],
    charging: null,
    latestInvoice: null,
    pending: await readPendingLines(db, { ...payer, id: null }),
    billed: [],
    periodInvoices: [],
    prices: [],
    minimumAtom: await readMinimum(db, customer.accountId, input.currency),
  };
}

/** What people call the subscription: the items that run. */
export function nameAfter(before: Pick<SubscriptionRow, 'name'>, { items, invoice }: Plan, facts: Facts): string {
  const turnover = invoice?.turnover ?? [];
  if (items.length === 0 && turnover.length === 0) return before.name;
  return running(itemsAfter(itemsAfter(facts.items, items), turnover)).map(({ name }) => name).join(', ').slice(0, 500);
}

/** What a plan gives back beside its invoice's own lines, in atoms. */
export function givenBack({ creditAtom, refunds, invoice }: Plan): { creditAtom: number; refundAtom: number } {
  return { creditAtom: creditAtom + (invoice?.creditedAtom ?? 0), refundAtom: refunds.reduce((sum, { amountAtom }) => sum + amountAtom, 0) };
}

/** The row that a plan leads to; `simulate` chooses the simulator's outcomes. */
export function subscriptionRow(change: Pick<Change, 'accountId'>, { customer, name }: ResolvedSubscription, plan: Plan, now: Date): SubscriptionRow {
  return {
    ...plan.next,
    accountId: change.accountId,
    customerId: customer.id,
    name,
    simulate: null,
    metadata: null,
    testClockId: customer.testClockId,
    nextActionAt: nextDue(plan.next)?.at ?? null,
    version: 1,
    createdAt: now,
    updatedAt: now,
  };
}

export function itemRows(row: SubscriptionRow, { items }: ResolvedSubscription): SubscriptionItemRow[] {
  return items.map(({ price, product, ...item }) => newItemRow(row, { ...item, priceId: price.id, productId: product.id }, row.createdAt));
}

type NewItem = Pick<BillableItem, 'id' | 'priceId' | 'productId' | 'quantity' | 'description' | 'customFields' | 'addAtPeriodEnd' | 'dropAtEnd'>;

export function newItemRow(row: Pick<SubscriptionRow, 'id' | 'accountId'>, item: NewItem, at: Date): SubscriptionItemRow {
  return {
    id: item.id,
    accountId: row.accountId,
    subscriptionId: row.id,
    priceId: item.priceId,
    productId: item.productId,
    quantity: item.quantity,
    description: item.description,
    customFields: item.customFields ?? null,
    addAtPeriodEnd: item.addAtPeriodEnd ?? false,
    dropAtEnd: item.dropAtEnd ?? false,
    removedAt: null,
    version: 1,
    createdAt: at,
    updatedAt: at,
  };
}
