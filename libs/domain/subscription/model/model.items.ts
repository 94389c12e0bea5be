import type { Act, How, ItemAct, Rhythm } from './model.act.js';
import { mark, second, spanAround, wholeSeconds } from './model.calendar.js';
import { isOneOffer, isOneRhythm, type Bill, type Item, type Line, type Stretch } from './model.lines.js';
import { ModelPausing } from './model.pausing.js';
import { Refusal, wrongState } from './model.state.js';

/** Other items, quantities, prices and intervals: now, or from the next period on. */
export abstract class ModelItems extends ModelPausing {
  protected changeInterval({ rhythm, unitAtom, how }: Extract<Act, { does: 'interval' }>): void {
    const changes = this.money.items.map(({ quantity }, item): ItemAct => ({ kind: 'change', item, quantity, unitAtom, rhythm, nextPeriod: null, ends: null }));
    this.changeItems(changes, how);
  }

  protected changeItems(changes: ItemAct[], how: How): void {
    const isUnbilled = this.billing === 'scheduled' || this.inTrial() || (this.status === 'paused' && this.billing === 'incomplete');
    if (this.status === 'cancelled' || (this.status === 'trialing' && !isUnbilled)) throw new Refusal(wrongState);
    const before = this.money.items;
    const wished = this.wanted(before, changes);
    let rhythm = theRhythmOf(wished.filter(({ begins }) => !begins));
    const waits = how === 'none' && !isUnbilled && !isOneRhythm(rhythm, this.rhythm);
    const after = waits ? this.fromNextPeriodOn(before, wished) : wished;
    if (waits) rhythm = this.rhythm;
    const next = theRhythmOf(after.filter(({ ends }) => !ends));
    const isNow = !isUnbilled && !isOneRhythm(rhythm, this.rhythm);
    if (isNow && !isOneRhythm(next, rhythm)) throw new Refusal('invalid_request');
    if (isAlike(before, after)) return;
    const [old, fresh] = [before, after].map((items) => items.filter(({ begins }) => !begins)) as [Item[], Item[]];
    if (this.status === 'paused' && how !== 'none' && !isSold(old, fresh)) throw new Refusal(wrongState);
    this.money.items = after;
    if (isUnbilled) return this.billOtherwise(rhythm);
    if (isNow) return this.beginInterval(old);
    if (how === 'none') return;
    const rest = this.restOfPeriod();
    const lines = this.money.exchange(old, fresh, rest);
    if (how === 'create_prorations') this.money.wait(lines);
    else if (lines.length > 0) this.billNow(lines, rest);
  }

  private wanted(before: Item[], changes: ItemAct[]): Item[] {
    const after = new Map(before.map((item) => [item.id, item]));
    const named = new Set<number>();
    for (const change of changes) {
      if (change.kind === 'add') {
        const item = this.money.newItem(change.sold, change.rhythm ?? this.rhythm, change.nextPeriod);
        after.set(item.id, item);
        continue;
      }
      const item = before[change.item % before.length]!;
      if (named.has(item.id)) throw new Refusal('invalid_request');
      named.add(item.id);
      if (change.kind === 'change') after.set(item.id, changed(item, change));
      else if (change.atEnd && !item.begins) after.set(item.id, { ...item, ends: true });
      else after.delete(item.id);
    }
    return [...after.values()];
  }

  /** What is sold stays so until the period's end; what takes its place begins then. A quantity alone is another one now. */
  private fromNextPeriodOn(before: Item[], wished: Item[]): Item[] {
    const kept = before.flatMap((item): Item[] => {
      const now = wished.find(({ id }) => id === item.id);
      if (item.begins) return now ? [{ ...now, begins: true }] : [];
      if (!now) return [{ ...item, ends: true }];
      return [isOneOffer(item, now) ? now : { ...item, ends: true }];
    });
    const added = wished.flatMap((item): Item[] => {
      const was = before.find(({ id }) => id === item.id);
      if (!was) return [{ ...item, begins: true }];
      return was.begins || isOneOffer(was, item) ? [] : [this.money.newItem(item, item.rhythm, true)];
    });
    return [...kept, ...added];
  }

  /** Nothing was billed yet: it will be by the new rhythm. */
  private billOtherwise(rhythm: Rhythm): void {
    this.rhythm = rhythm;
    if (this.billing !== 'scheduled' || this.trialEnd !== null) return;
    this.anchor = this.firstStart;
    this.period.end = mark(this.anchor, rhythm, 1);
  }

  /** A whole period of the new rhythm from now on, less what is left of the old one. */
  private beginInterval(old: Item[]): void {
    const rest = this.restOfPeriod();
    const bill = this.enter(this.nextStretch(rest.start, rest.start), this.now, this.money.givenBackFor(old, rest));
    bill.isChange = true;
    this.collectNow(bill);
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
    const billed = this.money.bills.findLast(({ ofPeriod, status }) => ofPeriod && status !== 'draft');
    return Math.max(wholeSeconds(mark(this.anchor, this.rhythm, -1), this.anchor), billed ? wholeSeconds(billed.start, billed.end) : 0);
  }

  private billNow(lines: Line[], rest: Stretch): void {
    const bill = this.money.billChange(rest, lines, { now: this.now, collects: this.billing !== 'unpaid' });
    if (bill) this.collectNow(bill);
  }

  private collectNow(bill: Bill): void {
    if (bill.status !== 'open' || this.money.flight || this.run) return;
    this.chargeAt = this.from.byInvoice ? (this.chargeAt ?? bill.dueDate) : this.now;
  }
}

function changed(item: Item, { quantity, unitAtom, rhythm, nextPeriod, ends }: Extract<ItemAct, { kind: 'change' }>): Item {
  if (nextPeriod && !item.begins) throw new Refusal('invalid_request');
  return { ...item, quantity, unitAtom: unitAtom ?? item.unitAtom, rhythm: rhythm ?? item.rhythm, begins: nextPeriod ?? item.begins, ends: ends ?? item.ends };
}

/** All have one, and something is sold. */
function theRhythmOf(items: Item[]): Rhythm {
  const [first, ...others] = items;
  if (!first) throw new Refusal('conflict');
  if (others.some(({ rhythm }) => !isOneRhythm(rhythm, first.rhythm))) throw new Refusal('invalid_request');
  return first.rhythm;
}

function isSold(before: Item[], after: Item[]): boolean {
  const isIn = (item: Item, items: Item[]) => items.some((other) => other.id === item.id && other.quantity === item.quantity && isOneOffer(item, other));
  return before.length === after.length && before.every((item) => isIn(item, after));
}

function isAlike(before: Item[], after: Item[]): boolean {
  return before.length === after.length && before.every((item, n) => JSON.stringify(item) === JSON.stringify(after[n]));
}
