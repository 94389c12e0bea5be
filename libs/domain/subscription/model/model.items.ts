import type { Act, ItemAct } from './model.act.js';
import { mark, second, spanAround, wholeSeconds } from './model.calendar.js';
import type { Item, Stretch } from './model.ledger.js';
import { ModelPausing } from './model.pausing.js';
import { Refusal, wrongState } from './model.state.js';

type How = Extract<Act, { does: 'items' }>['how'];

/** Other items, quantities and prices in the middle of a period. */
export abstract class ModelItems extends ModelPausing {
  protected changeItems(changes: ItemAct[], how: How): void {
    const isUnbilled = this.billing === 'scheduled' || this.inTrial() || (this.status === 'paused' && this.billing === 'incomplete');
    if (this.status === 'cancelled' || (this.status === 'trialing' && !isUnbilled)) throw new Refusal(wrongState);
    const before = this.money.items;
    const after = this.wanted(before, changes);
    if (isAlike(before, after)) return;
    if (this.status === 'paused' && how !== 'none') throw new Refusal(wrongState);
    this.money.items = after;
    if (isUnbilled || how === 'none') return;
    const rest = this.restOfPeriod();
    const lines = this.money.exchange(before, after, rest);
    if (how === 'create_prorations') this.money.wait(lines);
    else if (lines.length > 0) this.billNow(lines, rest);
  }

  private wanted(before: Item[], changes: ItemAct[]): Item[] {
    const after = new Map(before.map((item) => [item.id, item]));
    const named = new Set<number>();
    for (const change of changes) {
      if (change.kind === 'add') {
        const item = this.money.newItem(change.sold);
        after.set(item.id, item);
        continue;
      }
      const item = before[change.item % before.length]!;
      if (named.has(item.id)) throw new Refusal('invalid_request');
      named.add(item.id);
      if (change.kind === 'remove') after.delete(item.id);
      else after.set(item.id, { ...item, quantity: change.quantity, unitAtom: change.unitAtom ?? item.unitAtom });
    }
    if (after.size === 0) throw new Refusal('conflict');
    return [...after.values()];
  }

  private restOfPeriod(): Stretch {
    const start = Math.max(Math.floor(this.now / second) * second, this.period.start);
    return { start, end: this.period.end, seconds: wholeSeconds(start, this.period.end), outOf: this.interval() };
  }

  /** Seconds of what a price is for; time that a pause kept counts as it was billed. */
  private interval(): number {
    if (!this.moved) {
      const whole = spanAround(this.anchor, this.rhythm, this.period.start);
      return wholeSeconds(whole.start, whole.end);
    }
    const billed = this.money.bills.findLast(({ isChange, status }) => !isChange && status !== 'draft');
    return Math.max(wholeSeconds(mark(this.anchor, this.rhythm, -1), this.anchor), billed ? wholeSeconds(billed.start, billed.end) : 0);
  }

  private billNow(lines: ReturnType<ModelItems['money']['waiting']>, rest: Stretch): void {
    const bill = this.money.billChange(rest, lines, { now: this.now, collects: this.billing !== 'unpaid' });
    if (bill.status !== 'open' || this.money.flight || this.run) return;
    this.chargeAt = this.from.byInvoice ? (this.chargeAt ?? bill.dueDate) : this.now;
  }
}

function isAlike(before: Item[], after: Item[]): boolean {
  return before.length === after.length && before.every((item, n) => JSON.stringify(item) === JSON.stringify(after[n]));
}
