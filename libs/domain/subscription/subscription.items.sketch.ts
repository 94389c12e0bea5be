import type { BillableItem, ItemChange } from '../invoice/invoice.draft.js';
import type { Interval } from '../period/period.js';
import type { ItemInput } from './item-changes.js';
import type { ItemPrice } from './plan.js';
import type { Act, ItemAct, Rhythm, Sold } from './model/model.act.js';

/** The items of one subscription in memory, and what a history wishes of them in the words of a request. */
export class ItemsSketch {
  all: BillableItem[];
  private made = 0;
  private priced: ItemPrice[] = [];

  constructor(sold: readonly Sold[], rhythm: Rhythm) {
    this.all = sold.map((each) => this.newItem(each, rhythm));
  }

  /** Prices that were ever named. */
  prices(): ItemPrice[] {
    return this.priced;
  }

  /** Worth of one whole period. */
  worth(): number {
    return this.all.reduce((sum, { unitAmountAtom, quantity, addAtPeriodEnd }) => sum + (addAtPeriodEnd ? 0 : unitAmountAtom * quantity), 0);
  }

  change({ kind, item }: ItemChange): void {
    if (kind === 'added') this.all.push(item);
    else this.all = this.all.flatMap((one) => (one.id !== item.id ? [one] : kind === 'removed' ? [] : [item]));
  }

  inputsOf(changes: readonly ItemAct[], now: Rhythm): ItemInput[] {
    return changes.map((change) => this.inputOf(change, now));
  }

  allTo({ rhythm, unitAtom }: Extract<Act, { does: 'interval' }>): ItemInput[] {
    const { priceId } = this.priceOf(unitAtom, rhythm);
    return this.all.map(({ id }) => ({ path: [], action: 'update', id, replacementId: this.newId(), priceId }));
  }

  private inputOf(change: ItemAct, now: Rhythm): ItemInput {
    if (change.kind === 'add') {
      const { id, priceId, quantity } = this.newItem(change.sold, change.rhythm ?? now);
      return { path: [], action: 'add', id, priceId, quantity, addAtPeriodEnd: change.nextPeriod };
    }
    const { id, interval, unitAmountAtom } = this.all[change.item % this.all.length]!;
    if (change.kind === 'remove') return { path: [], action: 'remove', id, dropAtEnd: change.atEnd };
    const { quantity, unitAtom, rhythm, nextPeriod, ends } = change;
    const other = unitAtom === null && !rhythm ? undefined : this.priceOf(unitAtom ?? unitAmountAtom, rhythm ?? interval!);
    return {
      path: [], action: 'update', id, replacementId: this.newId(), quantity, priceId: other?.priceId,
      addAtPeriodEnd: nextPeriod ?? undefined, dropAtEnd: ends ?? undefined,
    };
  }

  private newItem({ unitAtom, quantity }: Sold, rhythm: Rhythm): BillableItem {
    return { id: this.newId(), description: null, quantity, addAtPeriodEnd: false, dropAtEnd: false, customFields: null, ...this.priceOf(unitAtom, rhythm) };
  }

  private newId(): string {
    this.made += 1;
    return `item-${this.made}`;
  }

  private priceOf(unitAmountAtom: number, { unit, count }: Interval): ItemPrice {
    const priceId = `price-${unitAmountAtom}-${count}-${unit}`;
    const price: ItemPrice = {
      priceId, productId: 'product', name: 'Plan', unitAmountAtom, pricingModel: 'standard', transformQuantityDivideBy: 1, interval: { unit, count }, currency: 'eur',
    };
    if (!this.priced.some((known) => known.priceId === priceId)) this.priced.push(price);
    return price;
  }
}
