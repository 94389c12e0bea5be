import type { Answer } from './model.act.js';
import { day, hour, wholeSeconds } from './model.calendar.js';
import type { Back, Bill } from './model.lines.js';
import { final, ModelState, Refusal, type Cancel, type Why } from './model.state.js';

const remindersAfterDue = [-72, 24, 168].map((hours) => hours * hour);

/** How its money is asked for, and what follows from the answers. */
export abstract class ModelCollection extends ModelState {
  /** The money of a resume has come. */
  protected abstract resumeIsPaid(): void;

  protected nextReminder(bill: Bill): number {
    return remindersAfterDue.map((after) => bill.dueDate + after).find((at) => at > bill.remindedAt) ?? Infinity;
  }

  protected reminderAt(): number | null {
    const next = Math.min(...this.money.owed().map((bill) => this.nextReminder(bill)));
    return this.from.byInvoice && this.status === 'active' && this.billing !== 'unpaid' && next < Infinity ? next : null;
  }

  protected remind(): void {
    for (const bill of this.money.owed()) {
      if (this.nextReminder(bill) > this.now) continue;
      bill.remindedAt = this.now;
      this.told.push(`reminder ${this.money.bills.indexOf(bill)}`);
    }
  }

  protected charge(): void {
    this.chargeAt = null;
    const [oldest] = this.money.owed();
    if (!oldest) return;
    if (this.from.byInvoice && oldest.dueDate > this.now) {
      this.chargeAt = oldest.dueDate;
    } else if (this.from.byInvoice || this.method === null) {
      this.askedMethod = null;
      this.money.refused(oldest, null);
      this.failed(this.from.byInvoice ? 'overdue' : 'no_method');
    } else {
      this.askedMethod = this.method;
      this.askedAt = this.now;
      const outcome = this.money.attempt(oldest, this.now, this.method);
      this.money.flight = oldest;
      if (outcome !== 'unresolved') this.answered(outcome);
    }
  }

  protected answered(outcome: Answer): void {
    const bill = this.money.flight;
    if (!bill) return;
    this.money.flight = null;
    if (outcome === 'approved') this.money.paid(bill, false);
    else this.money.refused(bill, outcome);
    if (this.status === 'cancelled') this.answeredAfterCancel(bill);
    else if (outcome === 'approved') this.collected();
    else this.failed(outcome);
  }

  protected answeredAfterCancel(bill: Bill): void {
    if (!this.cancelled) return;
    if (bill.status === 'paid') this.giveBack(this.cancelled, { at: this.cancelled.at, only: bill });
    this.money.end(this.endedAt(), { unused: 0, forgives: false, refunds: this.cancelled.refunds });
    if (bill.status === 'paid') return;
    if (this.cancelled.voids) this.money.void(bill, { ended: true });
  }

  protected collected(): void {
    const [oldest] = this.money.owed();
    if (oldest) {
      const paced = this.run || this.resuming || this.askedAt === null || oldest.isChange ? this.now : Math.max(this.now, this.askedAt + day);
      this.chargeAt = this.from.byInvoice ? oldest.dueDate : paced;
    } else {
      this.nothingIsOwed();
    }
  }

  protected nothingIsOwed(): void {
    if (this.status === 'paused') return this.paidInPause();
    if (this.status === 'active' && this.billing === 'current') return;
    if (this.status === 'trialing') this.told.push('activated');
    this.status = 'active';
    this.billing = 'current';
    this.run = null;
    this.chargeAt = null;
  }

  protected paidInPause(): void {
    if (this.resuming && (this.kept!.untilPaid || this.awaited)) return this.resumeIsPaid();
    if (this.billing === 'incomplete') return;
    this.billing = 'current';
    this.kept = { ...this.kept!, was: 'active', untilPaid: false };
    this.run = null;
    this.chargeAt = null;
  }

  protected failed(why: Why): void {
    if (this.billing === 'unpaid') return;
    if (this.status === 'paused' && this.resuming) {
      this.chargeAt = null;
      return void this.told.push('resume_failed');
    }
    const stops = final.includes(why) || why === 'no_method' || why === 'overdue';
    this.run = { since: this.run?.since ?? this.now, failures: (this.run?.failures ?? 0) + 1, hopeless: stops ? why : null };
    if (this.billing === 'incomplete') {
      this.chargeAt = this.run.failures === 1 && !stops ? this.now + 6 * hour : null;
      return;
    }
    const { since } = this.run;
    const retry = this.from.dunning.retryHours.map((hours) => since + hours * hour).find((at) => at > this.now) ?? null;
    this.chargeAt = stops ? null : retry;
    if (this.status === 'trialing') this.told.push('activated');
    if (this.status === 'paused') this.kept = { ...this.kept!, was: 'active' };
    else this.status = 'active';
    const begins = this.billing !== 'past_due';
    this.billing = 'past_due';
    if (begins) this.told.push('past_due');
    if (this.run.failures === 1) this.told.push('dunning_started');
    if (this.status === 'active' && retry === null && !stops && since + this.runLasts() <= this.now) this.dunningIsOver();
  }

  protected runLasts(): number {
    const { endsAfterHours, retryHours } = this.from.dunning;
    return (endsAfterHours ?? retryHours.at(-1) ?? 0) * hour;
  }

  protected dunningIsOver(): void {
    this.told.push('dunning_ended');
    switch (this.from.dunning.finalAction) {
      case 'cancel':
        for (const bill of this.money.owed()) bill.status = 'uncollectible';
        return this.stop({ forgives: true });
      case 'pause':
        this.run = null;
        this.chargeAt = null;
        return this.pauseNow(this.now, { was: 'active', seconds: wholeSeconds(this.now, this.period.end), untilPaid: true });
      case 'leave_unpaid':
        this.run = null;
        this.chargeAt = null;
        this.billing = 'unpaid';
        this.told.push('unpaid');
    }
  }

  protected expire(): void {
    const owed = this.money.owed();
    this.stop({ forgives: true });
    for (const bill of owed) this.money.void(bill, { ended: true });
  }

  /** Collected by invoice: what was overdue is settled, what remains is not due yet. */
  protected restartOverdue(): void {
    const [oldest] = this.money.owed();
    if (!this.from.byInvoice || this.status !== 'active' || !this.run || !oldest || oldest.dueDate <= this.now) return;
    this.run = null;
    this.chargeAt = oldest.dueDate;
  }

  protected byHand(which: number, to: 'paid' | 'void' | 'uncollectible'): void {
    const named = to === 'paid' ? this.money.payable() : this.money.owed();
    const bill = named[which % Math.max(1, named.length)];
    if (!bill) return;
    if (bill === this.money.flight) throw new Refusal('payment_in_flight');
    if (to === 'paid') this.money.paid(bill, true);
    else if (to === 'uncollectible') bill.status = to;
    else this.money.void(bill, { ended: this.status === 'cancelled' });
    if (this.money.flight || this.status === 'cancelled' || this.money.owed().length > 0) return;
    const isAwaited = bill === this.covering && to === 'paid' && (this.resuming ? this.awaited !== null : this.status === 'trialing');
    if (this.billing === 'past_due' || this.billing === 'unpaid' || isAwaited) this.nothingIsOwed();
  }

  protected giveBack(how: Cancel, of: { at: number; only?: Bill }): void {
    this.money.giveBack(this.givenBack(how, of));
  }

  protected givenBack(how: Cancel, { at, only }: { at: number; only?: Bill }): Back {
    if (this.inTrial()) return { creditAtom: 0, refunds: [] };
    if (how.refunds) return this.money.wholePeriod(only);
    return { creditAtom: how.prorates ? this.money.unusedWorth(this.unused(at), only) : 0, refunds: [] };
  }

  /** Seconds of the paid time that are not used yet. */
  protected unused(at: number): number {
    return this.kept ? (this.kept.seconds ?? 0) : wholeSeconds(at, this.period.end);
  }
}
