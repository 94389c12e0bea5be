import type { Change } from '../domain/change/change.js';
import type { Facts, Plan } from '../domain/subscription/plan.js';
import { nextDue } from '../domain/subscription/subscription.schedule.js';
import { billingRules } from './billing-rules.queries.js';
import type { Db, Tx } from './client.js';
import type { SubscriptionItemRow, SubscriptionRow } from './schema/index.js';
import type { ResolvedSubscription } from './subscription-prices.queries.js';
import { customerCredit, usableMethod, type Clockwork } from './subscription.queries.js';

/** Facts of a subscription that does not exist yet. */
export async function factsOfNew(db: Db | Tx, { input, customer, items }: ResolvedSubscription, clock: Clockwork): Promise<Facts> {
  const payer = { accountId: customer.accountId, customerId: customer.id, defaultPaymentMethodId: input.defaultPaymentMethodId, currency: input.currency };
  return {
    ...clock,
    rules: await billingRules(db, customer.accountId),
    items: items.map(({ id, price, product, quantity, description }) => ({
      id,
      priceId: price.id,
      productId: product.id,
      name: price.name ?? product.name,
      description,
      quantity,
      unitAmountAtom: price.unitAmountAtom,
      pricingModel: price.pricingModel,
      transformQuantityDivideBy: price.transformQuantityDivideBy,
    })),
    paymentMethodId: await usableMethod(db, payer),
    balanceAtom: await customerCredit(db, payer),
    openInvoices: [],
    charging: null,
    latestInvoice: null,
  };
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
  return items.map(({ id, price, product, quantity, description, customFields }) => ({
    id,
    accountId: row.accountId,
    subscriptionId: row.id,
    priceId: price.id,
    productId: product.id,
    quantity,
    description,
    customFields,
    addAtPeriodEnd: false,
    dropAtEnd: false,
    removedAt: null,
    version: 1,
    createdAt: row.createdAt,
    updatedAt: row.createdAt,
  }));
}
