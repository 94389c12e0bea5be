import { mark, second, wholeSeconds } from './model.calendar.js';
import { ModelCollection } from './model.collection.js';
import { final, Refusal, wrongState } from './model.state.js';

/** Pausing and resuming. */
export abstract class ModelPausing extends ModelCollection {
  protected mustBePausable(): void {
    if (this.status === 'cancelled' || this.status === 'paused' || this.billing === 'incomplete') throw new Refusal(wrongState);
  }

  protected pause(until: number | null): void {
    if (this.status === 'paused') {
      if (until !== null) this.resumesAt = until;
      return;
    }
    this.mustBePausable();
    const end = this.billing === 'scheduled' ? this.firstStart : this.period.end;
    this.pauseNow(this.now, { was: this.status === 'trialing' ? 'trialing' : 'active', seconds: wholeSeconds(this.now, end), untilPaid: false });
    this.resumesAt = until;
  }

  protected pauseAtEnd(cycles: number): void {
    this.mustBePausable();
    if (this.endsAtEnd) throw new Refusal(wrongState);
    this.skip = cycles;
  }

  protected resume(how: { byItself: boolean; free: boolean }): void {
    if (this.status !== 'paused') throw new Refusal(wrongState);
    const kept = this.kept!;
    const at = how.byItself ? this.resumesAt! : this.now;
    if (kept.untilPaid && this.money.owed().length > 0) return this.collect(how.byItself);
    if (kept.seconds !== null) return this.runAgain(kept.seconds, kept.was, at);
    this.beginAgain(how, at);
  }

  protected runAgain(seconds: number, as: 'trialing' | 'active', at: number): void {
    const passed = at - this.pausedAt;
    const end = at + seconds * second;
    if (this.run) {
      this.run.since += passed;
      if (this.chargeAt !== null) this.chargeAt += passed;
    }
    if (this.billing === 'scheduled') this.startLater(end - this.firstStart);
    else {
      if (this.inTrial()) this.trialEnd = end;
      this.moveEnd(end);
    }
    this.goOn(as);
    this.told.push('resumed');
  }

  protected goOn(as: 'trialing' | 'active'): void {
    Object.assign(this, { status: as, kept: null, resumesAt: null, resuming: false, awaited: null });
  }

  protected startLater(ms: number): void {
    this.firstStart += ms;
    if (this.trialEnd !== null) this.trialEnd += ms;
    this.anchor = this.trialEnd ?? this.firstStart;
    this.period = { start: this.firstStart, end: this.trialEnd ?? mark(this.anchor, this.rhythm, 1) };
  }

  protected collect(byItself: boolean): void {
    if (!this.from.byInvoice && !this.mayAsk(byItself)) return this.cannotAsk(byItself);
    this.resuming = true;
    this.resumesAt = null;
    if (!this.from.byInvoice) this.chargeAt = this.now;
  }

  protected mayAsk(byItself: boolean): boolean {
    if (this.method === null) return false;
    if (!byItself || this.method !== this.askedMethod) return true;
    return ![this.run?.hopeless ?? null, ...this.money.owed().map(({ refusal }) => refusal)].some((why) => why !== null && final.includes(why));
  }

  protected cannotAsk(byItself: boolean): void {
    if (!byItself) throw new Refusal('payment_method_required_to_resume');
    Object.assign(this, { resuming: true, resumesAt: null, chargeAt: null, askedMethod: this.method });
    this.told.push('resume_failed');
  }

  protected beginAgain({ byItself, free }: { byItself: boolean; free: boolean }, at: number): void {
    const owed = this.money.owed();
    const earlier = this.awaited;
    const isOwed = earlier !== null && owed.includes(earlier);
    if (isOwed ? earlier.end > at || earlier === this.money.flight : earlier && owed.length > 0 && (earlier.status === 'paid' || this.period.end > at)) return this.collect(byItself);
    const older = owed.filter((bill) => bill !== earlier);
    const never = this.billing === 'incomplete' && !this.anchorWasGiven;
    if (this.inTrial() && !this.anchorWasGiven) this.rhythm = this.nextRhythm();
    const anchor = never ? at : this.inTrial() && !this.anchorWasGiven ? this.period.end : this.anchor;
    const whole = this.nextStretch(anchor, at);
    const stretch = free && whole.seconds < whole.outOf ? { ...whole, seconds: 0 } : whole;
    const isFree = this.billing !== 'unpaid' && this.money.costsNow(stretch) === 0 && older.length === 0;
    if (!isFree && !this.from.byInvoice && !this.mayAsk(byItself)) return this.cannotAsk(byItself);
    if (isOwed) this.periods -= 1;
    this.anchor = anchor;
    this.awaited = this.enter(stretch, at);
    if (isOwed) this.money.void(earlier, { ended: false });
    if (isFree || this.from.byInvoice) {
      const due = (older[0] ?? this.awaited).dueDate;
      this.activeAgain();
      if (this.from.byInvoice && !isFree) this.chargeAt = due;
    } else Object.assign(this, { resuming: true, resumesAt: null, chargeAt: at });
  }

  protected resumeIsPaid(): void {
    if (this.kept!.untilPaid) {
      this.moveEnd(this.now + this.kept!.seconds! * second);
    } else if (this.period.end <= this.now) {
      const start = Math.floor(this.now / second) * second;
      const end = start + wholeSeconds(this.period.start, this.period.end) * second;
      this.period = { start, end };
      this.moveEnd(end);
    }
    this.activeAgain();
  }

  protected activeAgain(): void {
    this.told.push('resumed');
    if (this.kept!.was === 'trialing') this.told.push('activated');
    this.goOn('active');
    Object.assign(this, { billing: 'current', run: null, chargeAt: null, skip: null });
  }

  /** Another method than the one that was asked last: the money is asked for at once. */
  protected useNewMethod(): void {
    const asks = this.chargeAt !== null && this.chargeAt <= this.now;
    if (this.money.flight || this.from.byInvoice || asks || this.method === null || this.method === this.askedMethod) return;
    if (this.status === 'paused' && this.resuming) return this.resume({ byItself: false, free: false });
    if (this.status === 'paused' || this.status === 'cancelled' || !this.run) return;
    if (this.money.owed().length === 0) this.askedMethod = this.method;
    else {
      this.chargeAt = this.now;
      this.run.hopeless = null;
    }
  }
}
