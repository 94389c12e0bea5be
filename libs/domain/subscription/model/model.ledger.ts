import type { Answer, Beginning, Outcome, Rhythm, Seen, Sold } from './model.act.js';
import { day, share, wholeSeconds, type Span } from './model.calendar.js';
import { hasGround, isOneOffer, isTogether, sum, type Back, type Bill, type Item, type Line, type Stretch } from './model.lines.js';

interface Writing {
  now: number;
  collects: boolean;
}

/** The money of the model: bills and their lines, attempts, the customer's balance. */
export class ModelLedger {
  readonly bills: Bill[] = [];
  readonly attempts: Seen['attempts'] = [];
  items: Item[];
  flight: Bill | null = null;
  refundedAtom = 0;
  balanceAtom: number;
  private lines: Line[] = [];
  private made = 0;
  /** Periods that were ever billed. */
  private age = 0;

  constructor(private readonly from: Beginning) {
    this.balanceAtom = from.balanceAtom;
    this.items = from.sold.map((sold) => this.newItem(sold, { unit: from.unit, count: from.count }));
  }

  newItem({ unitAtom, quantity }: Sold, rhythm: Rhythm, begins = false): Item {
    this.made += 1;
    return { id: this.made, unitAtom, quantity, rhythm: { unit: rhythm.unit, count: rhythm.count }, begins, ends: false };
  }

  /** What is sold in the next period. */
  nextItems(): Item[] {
    return this.items.filter(({ ends }) => !ends).map((item) => ({ ...item, begins: false }));
  }

  costsNow(stretch: Stretch): number {
    const total = sum([...this.nextItems().map((item) => this.lineFor(item, stretch)), ...this.ripe()]);
    return Math.max(0, Math.max(0, total) - Math.max(0, this.balanceAtom));
  }

  /** The bill of a new period, with what has waited and what is given back of the one before, as far as that was paid. */
  beginPeriod(stretch: Stretch, writing: Writing, back: Line[] = []): Bill {
    this.age += 1;
    this.items = this.nextItems();
    const bill = this.write(stretch, [...this.items.map((item) => this.lineFor(item, stretch)), ...this.ripe(), ...this.nowOf(back)], writing);
    Object.assign(bill, { ofPeriod: true, broughtAtom: -sum(back.filter((line) => line.bill === bill)) });
    return bill;
  }

  /** The bill of a change that is charged now; none where all of it must wait. */
  billChange(span: Span, lines: Line[], writing: Writing): Bill | null {
    const now = this.nowOf(lines);
    if (now.length === 0) return null;
    const bill = this.write(span, [...this.ripe(), ...now], writing);
    bill.isChange = true;
    return bill;
  }

  waiting(): Line[] {
    return this.lines.filter(({ bill, dropped }) => bill === null && !dropped);
  }

  /** A credit for time that is not paid yet goes on waiting. */
  private ripe(): Line[] {
    return this.waiting().filter(hasGround);
  }

  /** Of new lines those that can be billed now; the others wait. */
  private nowOf(lines: Line[]): Line[] {
    this.wait(lines.filter((line) => !hasGround(line)));
    return lines.filter(hasGround);
  }

  wait(lines: Line[]): void {
    this.lines.push(...lines);
  }

  /** Gives back what was billed for the old items, and bills the new ones, for the rest of the period; nothing is no line. */
  exchange(before: Item[], after: Item[], rest: Stretch): Line[] {
    const differs = (one: Item, other: Item | undefined) => !other || other.quantity !== one.quantity || !isOneOffer(one, other);
    const old = before.filter((item) => differs(item, after.find(({ id }) => id === item.id)));
    const fresh = after.filter((item) => differs(item, before.find(({ id }) => id === item.id)));
    return [...this.givenBackFor(old, rest), ...fresh.map((item) => this.lineFor(item, rest)).filter(({ amountAtom }) => amountAtom !== 0)];
  }

  /** What of the bills for these items is for the rest of the period. */
  givenBackFor(items: Item[], rest: Stretch): Line[] {
    const standing = this.standing().filter(({ item }) => items.some(({ id }) => id === item));
    return standing.map((line) => this.creditOf(line, rest)).filter(({ amountAtom }) => amountAtom !== 0);
  }

  owed(): Bill[] {
    return this.bills.filter(({ status }) => status === 'open' || status === 'past_due');
  }

  /** What was written off may still be paid. */
  payable(): Bill[] {
    return [...this.owed(), ...this.bills.filter(({ status }) => status === 'uncollectible')];
  }

  attempt(bill: Bill, at: number, method: string): Outcome {
    const outcome = this.from.answers?.[method] ?? this.from.outcomes[this.attempts.length] ?? 'approved';
    this.attempts.push({ at, invoice: this.bills.indexOf(bill) });
    return outcome;
  }

  paid(bill: Bill, byHand: boolean): void {
    Object.assign(bill, { status: 'paid', paidAtom: bill.dueAtom, byHand });
  }

  refused(bill: Bill, refusal: Answer | null): void {
    Object.assign(bill, { status: 'past_due', refusal: refusal ?? bill.refusal });
  }

  /** What it used of the balance is there again, and what it had taken in waits again; where nothing follows, credit becomes balance. */
  void(bill: Bill, { ended }: { ended: boolean }): void {
    bill.status = 'void';
    this.balanceAtom += bill.appliedAtom;
    const taken = this.lines.filter((line) => line.bill === bill && line.waited);
    if (ended) this.balanceAtom += Math.max(0, -sum(taken.filter(hasGround)));
    else for (const line of taken) this.waitAgain(line, bill);
    for (const line of this.waiting()) if (line.of?.bill === bill) line.dropped = true;
  }

  /**
   * No bill will follow: what waits becomes a last one, or is forgiven. Credit for what was never paid is worth nothing; while
   * its payment is under way that is not known. A refund of the period leaves credit for earlier ones.
   */
  end(at: number, { unused, forgives, refunds }: { unused: number; forgives: boolean; refunds: boolean }): void {
    const waiting = this.waiting().filter(({ of }) => !this.flight || of?.bill !== this.flight);
    const kept = waiting.filter((line) => hasGround(line) && (!refunds || (line.of?.bill && line.of.bill.age !== this.age)));
    const rest = { start: at, end: at, seconds: unused, outOf: 1 };
    const back = kept.length === 0 ? [] : this.standing().filter(({ bill }) => bill === null).map((line) => this.creditOf(line, rest));
    const isBilled = kept.length > 0 && (sum([...kept, ...back]) <= 0 || !forgives);
    for (const line of waiting) line.dropped = !isBilled || !kept.includes(line);
    if (isBilled) this.write({ start: at, end: at }, [...kept, ...back], { now: at, collects: true }).isChange = true;
  }

  /** The unused part of what was paid; lines of one bill and one period are one amount. */
  unusedWorth(seconds: number, only?: Bill): number {
    const paid = this.standing().filter(({ bill }) => bill?.status === 'paid' && (!only || bill === only));
    const heads = paid.filter((line, n) => paid.findIndex((other) => isTogether(line, other)) === n);
    return heads.reduce((worth, head) => worth + share(sum(paid.filter((line) => isTogether(line, head))), seconds, wholeSeconds(head.start, head.end)), 0);
  }

  /** All of the current period: what the balance paid to the balance, money as money, less what the balance was given. */
  wholePeriod(only?: Bill): Back {
    const bills = this.bills.filter((bill) => bill.status === 'paid' && bill.age === this.age && (!only || bill === only));
    let given = bills.reduce((credit, { creditedAtom }) => credit + creditedAtom, 0);
    const less = (amountAtom: number) => {
      const taken = Math.min(given, amountAtom);
      given -= taken;
      return amountAtom - taken;
    };
    const creditAtom = less(bills.reduce((credit, { appliedAtom, broughtAtom, byHand, paidAtom }) => credit + appliedAtom + broughtAtom + (byHand ? paidAtom : 0), this.broughtWaiting(bills)));
    const refunds = bills.map((bill) => ({ bill, amountAtom: bill.byHand ? 0 : less(bill.paidAtom - bill.refundedAtom) }));
    return { creditAtom, refunds };
  }

  /** Credit that had waited since an earlier period paid a part of these bills. */
  private broughtWaiting(bills: Bill[]): number {
    const older = bills.map((bill) => this.lines.filter((line) => line.bill === bill && line.waited && line.age < bill.age));
    return older.reduce((credit, lines) => credit + Math.max(0, -sum(lines)), 0);
  }

  giveBack({ creditAtom, refunds }: Back): void {
    this.balanceAtom += creditAtom;
    for (const { bill, amountAtom } of refunds) {
      bill.refundedAtom += amountAtom;
      this.refundedAtom += amountAtom;
    }
  }

  seen(): Pick<Seen, 'invoices' | 'attempts' | 'balanceAtom' | 'refundedAtom'> {
    const { attempts, balanceAtom, refundedAtom } = this;
    const invoices = this.bills.map(({ start, end, totalAtom, dueAtom, paidAtom, status }) => ({ start, end, totalAtom, dueAtom, paidAtom, status }));
    return { invoices, attempts: [...attempts], balanceAtom, refundedAtom };
  }

  /** Rounded by itself, a half to the even neighbour. */
  private lineFor({ id, unitAtom, quantity }: Item, { start, end, seconds, outOf }: Stretch): Line {
    return { item: id, amountAtom: share(unitAtom * quantity, seconds, outOf), start, end, bill: null, of: null, waited: false, dropped: false, age: this.age };
  }

  private creditOf(line: Line, { start, end, seconds }: Stretch): Line {
    const whole = wholeSeconds(line.start, line.end);
    return { ...line, amountAtom: -share(line.amountAtom, seconds, whole), start, end, bill: null, of: line, waited: false, age: this.age };
  }

  /** The newest line of each item that was billed in this period, is worth something and was not given back. */
  private standing(): Line[] {
    const givenBack = new Set(this.lines.filter(({ dropped, bill }) => !dropped && bill?.status !== 'void').map(({ of }) => of));
    const good = this.lines.filter(
      (line) => line.age === this.age && line.of === null && line.amountAtom > 0 && !line.dropped && line.bill?.status !== 'void' && !givenBack.has(line),
    );
    return good.filter((line, n) => good.findLastIndex(({ item }) => item === line.item) === n);
  }

  private write({ start, end }: Span, lines: Line[], { now, collects }: Writing): Bill {
    const totalAtom = sum(lines);
    const appliedAtom = collects ? Math.min(Math.max(0, this.balanceAtom), Math.max(0, totalAtom)) : 0;
    const creditedAtom = collects ? Math.max(0, -totalAtom) : 0;
    const dueAtom = Math.max(0, totalAtom) - appliedAtom;
    const net = this.from.byInvoice ? (this.from.netDays ?? 30) : 0;
    const status = !collects ? 'draft' : dueAtom === 0 ? 'paid' : 'open';
    const bill: Bill = {
      start, end, totalAtom, dueAtom, appliedAtom, creditedAtom, paidAtom: 0, refundedAtom: 0, status, dueDate: now + net * day, remindedAt: now,
      byHand: false, refusal: null, isChange: false, ofPeriod: false, broughtAtom: 0, age: this.age,
    };
    for (const line of lines) {
      line.waited = this.lines.includes(line);
      line.bill = bill;
      if (!line.waited) this.lines.push(line);
    }
    this.balanceAtom += creditedAtom - appliedAtom;
    this.bills.push(bill);
    return bill;
  }

  private waitAgain(line: Line, bill: Bill): void {
    const again: Line = { ...line, bill: null, waited: false };
    this.lines.push(again);
    for (const other of this.lines) if (other.of === line && other.bill !== bill) other.of = again;
  }
}
