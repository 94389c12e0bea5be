import type { Change } from '../domain/change/change.js';
import type { SubscriptionEvent } from '../domain/subscription/plan.js';
import { previousValues, type EventDraft } from './event.writes.js';
import { pricedItemView, viewWithItems, type PricedItem } from './subscription.queries.js';
import type { SubscriptionRow } from './schema/index.js';

/** A fact of a subscription; `before` is null for its creation. */
interface Told {
  before: SubscriptionRow | null;
  itemsBefore: PricedItem[] | null;
  row: SubscriptionRow;
  items: PricedItem[];
  events: SubscriptionEvent[];
}

/** What is told of it: the plan's events, or that something changed. */
export function eventsOf(change: Change, { before, itemsBefore, row, items, events }: Told): EventDraft[] {
  const data = viewWithItems(row, items, change.environment);
  const previous = before ? previousValues(viewWithItems(before, itemsBefore ?? items, change.environment), data) : null;
  const told = events.length === 0 && previous && isWorthTelling(data, previous) ? (['updated'] as const) : events;
  const own = told.map((event): EventDraft => ({
    type: `customer.subscription.${event}`,
    kind: 'sub',
    objectId: row.id,
    customerId: row.customerId,
    data,
    previous: event === 'created' ? null : (previous ?? {}),
  }));
  return before ? own : [...own, ...itemEvents(change, row, items)];
}

/** Not if all that changed is that an attempt begins, which the payment's own events tell. */
function isWorthTelling(data: { next_payment_attempt_at: string | null }, previous: object): boolean {
  const begins = data.next_payment_attempt_at === null;
  return Object.keys(previous).some((key) => key !== 'updated_at' && !(begins && key === 'next_payment_attempt_at'));
}

function itemEvents(change: Change, row: SubscriptionRow, items: PricedItem[]): EventDraft[] {
  return items.map((priced) => ({
    type: 'subscription_item.created',
    kind: 'si',
    objectId: priced.item.id,
    customerId: row.customerId,
    data: pricedItemView(priced, change.environment),
    previous: null,
  }));
}
