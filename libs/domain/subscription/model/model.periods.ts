import { day, hour, second } from './model.calendar.js';
import { ModelItems } from './model.items.js';
import { Refusal, wrongState } from './model.state.js';

/** The beginning, the trial, the periods. */
export abstract class ModelPeriods extends ModelItems {
  protected begin(): void {
    this.billing = this.trialEnd === null ? 'incomplete' : 'current';
    if (this.trialEnd === null) return this.beginPaidTime(this.firstStart);
    this.period = { start: this.firstStart, end: this.trialEnd };
    this.told.push('trialing');
  }

  protected warn(): void {
    this.warned = true;
    this.told.push('trial_will_end');
  }

  protected trialIsOver(): void {
    const end = this.period.end;
    if (this.endsAtEnd) return this.stop({ forgives: false });
    if (this.skip !== null) return this.pauseNow(end, { was: 'trialing', seconds: null, untilPaid: false });
    const costs = this.money.costsNow(this.nextStretch(this.anchorWasGiven ? this.anchor : end, end));
    if (costs === 0 || this.from.byInvoice || this.method !== null) return this.beginPaidTime(end);
    if (this.from.withoutMethod === 'cancel') return this.stop({ forgives: true });
    this.pauseNow(this.now, { was: 'trialing', seconds: null, untilPaid: false });
    this.billing = 'incomplete';
  }

  protected beginPaidTime(at: number): void {
    if (!this.anchorWasGiven) this.anchor = at;
    const bill = this.enter(this.nextStretch(this.anchor, at));
    if (bill.status === 'paid' || this.from.byInvoice) {
      this.status = 'active';
      this.billing = 'current';
      this.told.push('activated');
    }
    if (bill.status !== 'paid') this.chargeAt = this.from.byInvoice ? bill.dueDate : this.now;
  }

  protected periodIsOver(): void {
    if (this.endsAtEnd || this.isLastCycle()) return this.stop({ forgives: false });
    if (this.skip !== null) return this.pauseNow(this.period.end, { was: 'active', seconds: null, untilPaid: false });
    const waits = this.run !== null || this.money.flight !== null || this.billing === 'unpaid' || this.money.owed().length > 0;
    const bill = this.enter(this.nextStretch(this.anchor, this.period.end));
    if (waits || bill.status !== 'open') return;
    const isLate = this.now - bill.start > hour && this.askedAt !== null;
    this.chargeAt = this.from.byInvoice ? bill.dueDate : Math.max(bill.start + this.from.jitterSeconds * second, isLate ? this.askedAt! + day : 0);
  }

  protected announcementAt(): number | null {
    const goesOn = !this.endsAtEnd && this.skip === null && !this.isLastCycle() && this.announcedFor !== this.period.end;
    const at = this.period.end - this.from.announceDays * day;
    return this.status === 'active' && goesOn && this.billing !== 'unpaid' && this.from.announceDays > 0 && at > this.period.start ? at : null;
  }

  protected announce(): void {
    this.announcedFor = this.period.end;
    if (this.now < this.period.end) this.told.push('upcoming');
  }

  protected cancelAtEnd(set: boolean): void {
    if (this.status === 'cancelled') throw new Refusal(wrongState);
    if (set === this.endsAtEnd) return;
    if (this.status === 'paused') throw new Refusal(wrongState);
    this.endsAtEnd = set;
    if (set) this.skip = null;
  }

  protected endTrial(): void {
    if (this.status !== 'trialing' || this.billing !== 'current' || !this.inTrial()) throw new Refusal(wrongState);
    this.trialEnd = this.now;
    this.period.end = this.now;
    if (!this.anchorWasGiven) this.anchor = this.now;
    this.trialIsOver();
  }

  protected moveTrialEnd(to: number): void {
    const scheduled = this.status === 'trialing' && this.billing === 'scheduled';
    if (!scheduled && !(this.status === 'trialing' && this.billing === 'current' && this.inTrial())) throw new Refusal(wrongState);
    if (to <= (scheduled ? this.firstStart : this.now)) throw new Refusal('invalid_request');
    this.trialEnd = to;
    this.period.end = to;
    if (!this.anchorWasGiven) this.anchor = to;
    this.warned = false;
  }
}
