import { eq } from 'drizzle-orm';
import type { Change } from '../domain/change/change.js';
import type { ItemChange } from '../domain/invoice/invoice.draft.js';
import type { Tx } from './client.js';
import { appendEvents, previousValues, type EventDraft } from './event.writes.js';
import { pricedItemView, readPricedItems, type PricedItem } from './subscription.queries.js';
import { newItemRow } from './subscription.record.js';
import { markPricesUsed } from './price.writes.js';
import { subscriptionItems, type SubscriptionRow } from './schema/index.js';

export interface ItemWrites {
  changes: ItemChange[];
  at: Date;
  /** Distinguishes what a command does from what the new period does. */
  step: string;
}

/** Rows of the items and their events `subscription_item.created`, `.updated`, `.deleted`. The caller holds the subscription's lock. */
export async function writeItemChanges(tx: Tx, change: Change, row: SubscriptionRow, { changes, at, step }: ItemWrites): Promise<void> {
  if (changes.length === 0) return;
  const before = await readPricedItems(tx, [row.id]);
  for (const { kind, item } of changes) {
    if (kind === 'added') await tx.insert(subscriptionItems).values(newItemRow(row, item, at));
    else await updateItem(tx, { kind, item }, before.find((known) => known.item.id === item.id)!, at);
  }
  const named = changes.filter(({ kind }) => kind !== 'removed').map(({ item }) => item.priceId);
  await markPricesUsed(tx, named, at);
  const after = await readPricedItems(tx, [row.id]);
  await appendEvents(tx, change, changes.flatMap((each) => eventOf(change, row, { change: each, before, after, at, step })));
}

async function updateItem(tx: Tx, { kind, item }: ItemChange, { item: row }: PricedItem, at: Date): Promise<void> {
  const { priceId, productId, quantity, description, addAtPeriodEnd = false, dropAtEnd = false, customFields = null } = item;
  const fields = { priceId, productId, quantity, description, addAtPeriodEnd, dropAtEnd, customFields };
  const set = kind === 'removed' ? { removedAt: at } : fields;
  await tx.update(subscriptionItems).set({ ...set, version: row.version + 1, updatedAt: at }).where(eq(subscriptionItems.id, row.id));
}

interface Told {
  change: ItemChange;
  before: PricedItem[];
  after: PricedItem[];
  at: Date;
  step: string;
}

function eventOf({ environment }: Change, row: SubscriptionRow, { change: { kind, item }, before, after, at, step }: Told): EventDraft[] {
  const told = { kind: 'si' as const, objectId: item.id, customerId: row.customerId, step };
  const was = before.find((known) => known.item.id === item.id);
  if (kind === 'removed') {
    const gone = pricedItemView({ ...was!, item: { ...was!.item, removedAt: at, updatedAt: at } }, environment);
    return [{ ...told, type: 'subscription_item.deleted', data: gone, previous: previousValues(pricedItemView(was!, environment), gone) }];
  }
  const data = pricedItemView(after.find((known) => known.item.id === item.id)!, environment);
  if (!was) return [{ ...told, type: 'subscription_item.created', data, previous: null }];
  return [{ ...told, type: 'subscription_item.updated', data, previous: previousValues(pricedItemView(was, environment), data) }];
}
