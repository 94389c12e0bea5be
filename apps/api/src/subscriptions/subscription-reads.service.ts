import { Injectable } from '@nestjs/common';
import { and, eq, inArray, isNull, or, sql, type SQL } from 'drizzle-orm';
import type { Db } from '../../../../libs/db/client.js';
import { snapshot } from '../../../../libs/db/snapshot.js';
import { equals, inRange, matching } from '../../../../libs/db/list.queries.js';
import { customers, subscriptionItems, subscriptions, type SubscriptionRow } from '../../../../libs/db/schema/index.js';
import { pricedItemView, readPricedItem, readPricedItems, subscriptionViews } from '../../../../libs/db/subscription.queries.js';
import { notFound } from '../../../../libs/errors/domain-error.js';
import type { Caller } from '../kernel/callers.js';
import { bodyId, pathId } from '../kernel/ids.js';
import { Infrastructure } from '../kernel/infrastructure.js';
import { composedList, composedPage } from '../kernel/lists.js';
import type { ListSubscriptionItemsBody, ListSubscriptionsBody, StatusFilter, SubscriptionsQuery, ValidSubscriptionsBody } from './subscriptions.dto.js';

const lifecycle = ['trialing', 'active', 'paused', 'cancelled'] as const;

@Injectable()
export class SubscriptionReadsService {
  constructor(private readonly infrastructure: Infrastructure) {}

  async list(caller: Caller, body: ListSubscriptionsBody) {
    return composedList(this.infrastructure.db, subscriptions, body, {
      where: [
        eq(subscriptions.accountId, caller.accountId),
        ...equals(subscriptions.customerId, body.customer_id ? bodyId('customer_id', 'cus', body.customer_id, caller) : undefined),
        ...this.sells(caller, body),
        ...hasStatus(body.statuses),
        ...inRange(subscriptions.currentPeriodStart, body.current_period_start),
        ...inRange(subscriptions.currentPeriodEnd, body.current_period_end),
        ...matching(subscriptions.name, body.search),
      ],
      sorts: { current_period_start: subscriptions.currentPeriodStart, current_period_end: subscriptions.currentPeriodEnd },
      views: (db, rows) => this.views(db, rows),
    });
  }

  async browse(caller: Caller, query: SubscriptionsQuery) {
    const customerId = query.customer_id ? bodyId('customer_id', 'cus', query.customer_id, caller) : undefined;
    const where = [eq(subscriptions.accountId, caller.accountId), ...equals(subscriptions.customerId, customerId), ...hasStatus(query.status ? [query.status] : [])];
    return composedPage(this.infrastructure.db, subscriptions, query, { where, views: (db, rows) => this.views(db, rows) });
  }

  /** The customer's subscriptions under which service may be given now. */
  async valid(caller: Caller, customer: string, body: ValidSubscriptionsBody) {
    const customerId = pathId('cus', customer, caller);
    return snapshot(this.infrastructure.db, (db) => this.validAt(db, caller, customerId, body));
  }

  private async validAt(db: Db, caller: Caller, customerId: string, body: ValidSubscriptionsBody) {
    const [known] = await db
      .select({ id: customers.id })
      .from(customers)
      .where(and(eq(customers.id, customerId), eq(customers.accountId, caller.accountId), isNull(customers.deletedAt)));
    if (!known) throw notFound('customer');
    const entitled = sql`(${subscriptions.status} = 'trialing' and ${subscriptions.billingStatus} = 'current')
      or (${subscriptions.status} = 'active' and ${subscriptions.billingStatus} in ('current', 'past_due'))`;
    const rows = await db
      .select()
      .from(subscriptions)
      .where(and(eq(subscriptions.accountId, caller.accountId), eq(subscriptions.customerId, customerId), entitled, ...this.sells(caller, body)))
      .orderBy(subscriptions.id)
      .limit(1000);
    return { has_active_subscriptions: rows.length > 0, subscriptions: await this.views(db, rows) };
  }

  async item(caller: Caller, id: string) {
    const { db, environment } = this.infrastructure;
    const priced = await readPricedItem(db, caller.accountId, pathId('si', id, caller));
    if (!priced) throw notFound('subscription item');
    return pricedItemView(priced, environment);
  }

  async items(caller: Caller, body: ListSubscriptionItemsBody) {
    const { db, environment } = this.infrastructure;
    const subscriptionId = bodyId('subscription_id', 'sub', body.subscription_id, caller);
    const items = (await readPricedItems(db, [subscriptionId])).filter(({ item }) => item.accountId === caller.accountId);
    return { data: items.map((item) => pricedItemView(item, environment)), page_number: 1, page_size: 100, total_objects: items.length };
  }

  private sells(caller: Caller, body: { price_id?: string | null; product_id?: string | null }): SQL[] {
    const price = body.price_id ? bodyId('price_id', 'price', body.price_id, caller) : undefined;
    const product = body.product_id ? bodyId('product_id', 'product', body.product_id, caller) : undefined;
    const conditions = [...equals(subscriptionItems.priceId, price), ...equals(subscriptionItems.productId, product)];
    if (conditions.length === 0) return [];
    const found = this.infrastructure.db
      .select({ id: subscriptionItems.subscriptionId })
      .from(subscriptionItems)
      .where(and(eq(subscriptionItems.accountId, caller.accountId), isNull(subscriptionItems.removedAt), ...conditions));
    return [inArray(subscriptions.id, found)];
  }

  private views(db: Db, rows: SubscriptionRow[]) {
    return subscriptionViews(db, rows, this.infrastructure.environment);
  }
}

/** Lifecycle and billing statuses in one filter: any of them. `canceled` is `cancelled`. */
function hasStatus(filters: StatusFilter[]): SQL[] {
  if (filters.length === 0) return [];
  const wanted = filters.map((filter) => (filter === 'canceled' ? 'cancelled' : filter));
  const statuses = lifecycle.filter((status) => wanted.includes(status));
  const billing = (['scheduled', 'incomplete', 'past_due', 'unpaid'] as const).filter((status) => wanted.includes(status));
  const condition = or(
    statuses.length > 0 ? inArray(subscriptions.status, statuses) : undefined,
    billing.length > 0 ? inArray(subscriptions.billingStatus, billing) : undefined,
  );
  return condition ? [condition] : [];
}
