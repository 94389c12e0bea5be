import { DomainError, invalidField } from '../../errors/domain-error.js';
import { itemAmount, turnOver, type BillableItem, type ItemChange } from '../invoice/invoice.draft.js';
import type { Interval } from '../period/period.js';
import type { Facts } from './plan.js';
import { intervalOf, sameInterval, type SubscriptionState } from './subscription.state.js';

/** What is wished for one item; absent fields stay as they are. */
export interface ItemInput {
  /** Where it stands in the request, for what is refused. */
  path: (string | number)[];
  action: 'add' | 'update' | 'remove';
  /** UUID; of a new one, minted by the caller. */
  id: string;
  /** UUID for the item that takes its place where its price is another one from the next period on. */
  replacementId?: string;
  priceId?: string;
  quantity?: number;
  description?: string | null;
  customFields?: Record<string, unknown> | null;
  addAtPeriodEnd?: boolean;
  dropAtEnd?: boolean;
}

export type ProrationBehavior = 'create_prorations' | 'none' | 'always_invoice';

export interface ChangeItemsInput {
  items: ItemInput[];
  proration: ProrationBehavior;
}

/** What becomes of each item, and the interval that they are billed by from now on. */
export function changesOf(s: SubscriptionState, input: ChangeItemsInput, facts: Facts): { items: ItemChange[]; interval: Interval } {
  const wished = input.items.map((item, index) => changeOf(s, { item, isAgain: input.items.findIndex(({ id }) => id === item.id) < index }, facts));
  const changes = wished.filter((change) => !isSame(change, facts.items));
  const wanted = itemsAfter(facts.items, changes);
  const interval = assertTogether(s, input, running(wanted));
  const isUnbilled = s.billingStatus === 'scheduled' || s.billingStatus === 'incomplete' || (s.trialEnd !== null && s.currentPeriodStart < s.trialEnd);
  if (input.proration !== 'none' || isUnbilled || sameInterval(interval, intervalOf(s))) {
    const next = assertTogether(s, input, turnOver(wanted).items);
    if (!isUnbilled && !sameInterval(interval, intervalOf(s)) && !sameInterval(next, interval)) {
      throw invalidField([...input.items[0]!.path, 'price_id'], 'A new billing interval begins a period now: what begins or stays with that period must have it too');
    }
    return { items: changes, interval };
  }
  const later = changes.flatMap((change) => deferred(change, input, facts));
  assertTogether(s, input, turnOver(itemsAfter(facts.items, later)).items);
  return { items: later, interval: intervalOf(s) };
}

export function itemsAfter(items: readonly BillableItem[], changes: readonly ItemChange[]): BillableItem[] {
  const kept = items.flatMap((item) => {
    const change = changes.find((candidate) => candidate.item.id === item.id);
    if (!change) return [item];
    return change.kind === 'removed' ? [] : [change.item];
  });
  return [...kept, ...changes.filter(({ kind }) => kind === 'added').map(({ item }) => item)];
}

/** The items of the current period. */
export function running(items: readonly BillableItem[]): BillableItem[] {
  return items.filter((item) => !item.addAtPeriodEnd);
}

function changeOf(s: SubscriptionState, { item: input, isAgain }: { item: ItemInput; isAgain: boolean }, facts: Facts): ItemChange {
  const at = (field: string) => [...input.path, field];
  if (isAgain) throw invalidField(at('id'), 'names an item that is already named');
  const before = facts.items.find(({ id }) => id === input.id);
  if (input.action !== 'add' && !before) throw invalidField(at('id'), 'No such si', 'unknown_reference');
  if (input.action === 'remove') return removal(before!, input);
  const price = input.priceId === undefined ? undefined : facts.prices.find(({ priceId }) => priceId === input.priceId);
  if (price && price.currency !== s.currency) throw invalidField(at('price_id'), `The subscription is in ${s.currency}`);
  if (before && input.addAtPeriodEnd && !before.addAtPeriodEnd) throw invalidField(at('add_at_period_end'), 'The item has begun already');
  const base = before ?? { id: input.id, quantity: 1, description: null, customFields: null, addAtPeriodEnd: false, dropAtEnd: false };
  const { quantity, description, customFields, addAtPeriodEnd, dropAtEnd } = input;
  const item = { ...base, ...price, ...given({ quantity, description, customFields, addAtPeriodEnd, dropAtEnd }) } as BillableItem;
  assertPayable(item, at('quantity'));
  return { kind: before ? 'updated' : 'added', item };
}

/** At the period's end, unless it has not begun. */
function removal(item: BillableItem, { dropAtEnd = false }: ItemInput): ItemChange {
  return dropAtEnd && !item.addAtPeriodEnd ? { kind: 'updated', item: { ...item, dropAtEnd: true } } : { kind: 'removed', item };
}

/** The same change at the period's end: what runs ends then, what is new begins then. */
function deferred({ kind, item }: ItemChange, { items }: ChangeItemsInput, facts: Facts): ItemChange[] {
  const before = facts.items.find(({ id }) => id === item.id);
  if (kind === 'added') return [{ kind, item: { ...item, addAtPeriodEnd: true } }];
  if (before?.addAtPeriodEnd) return [{ kind, item: kind === 'updated' ? { ...item, addAtPeriodEnd: true } : item }];
  if (kind === 'removed') return [{ kind: 'updated', item: { ...item, dropAtEnd: true } }];
  if (before!.priceId === item.priceId) return [{ kind, item }];
  const replacementId = items.find(({ id }) => id === item.id)!.replacementId!;
  return [
    { kind: 'updated', item: { ...before!, dropAtEnd: true } },
    { kind: 'added', item: { ...item, id: replacementId, addAtPeriodEnd: true, dropAtEnd: false } },
  ];
}

/** One interval, and at least one item. */
function assertTogether(s: SubscriptionState, { items: inputs }: ChangeItemsInput, items: readonly BillableItem[]): Interval {
  const [first] = items;
  if (!first) {
    throw new DomainError('conflict', 'A subscription keeps at least one item, now and in its next period: cancel it, set cancel_at_end, or add another item in the same request.');
  }
  const of = (item: BillableItem) => item.interval ?? intervalOf(s);
  const odd = items.find((item) => !sameInterval(of(item), of(first)));
  if (!odd) return of(first);
  const guilty = inputs.find(({ id, priceId }) => priceId !== undefined && items.some((item) => item.id === id && !sameInterval(of(item), intervalOf(s)))) ?? inputs[0]!;
  throw invalidField([...guilty.path, 'price_id'], 'All items must share one billing interval; change them together by PUT /subscriptions/{id}');
}

function assertPayable(item: BillableItem, field: (string | number)[]): void {
  try {
    itemAmount(item);
  } catch {
    throw invalidField(field, 'The amount exceeds 2^53 - 1 atoms');
  }
}

function isSame({ kind, item }: ItemChange, items: readonly BillableItem[]): boolean {
  if (kind !== 'updated') return false;
  const before = items.find(({ id }) => id === item.id)!;
  return (Object.keys(item) as (keyof BillableItem)[]).every((key) => JSON.stringify(before[key]) === JSON.stringify(item[key]));
}

function given<T extends object>(fields: T): Partial<T> {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<T>;
}
