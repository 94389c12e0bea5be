import type { Act, Answer, Beginning, Seen, Subject } from './model.act.js';
import { day, hour, mark, second, spanAround, wholeSeconds, type Rhythm, type Span } from './model.calendar.js';
import { ModelLedger, type Bill, type Stretch } from './model.ledger.js';

type Why = Answer | 'no_method' | 'overdue';
type Cancel = Extract<Act, { does: 'cancel' }>;

interface Run {
  since: number;
  failures: number;
  hopeless: Why | null;
}

interface Kept {
  was: 'trialing' | 'active';
  seconds: number | null;
  untilPaid: boolean;
}

class Refusal extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

const remindersAfterDue = [-72, 24, 168].map((hours) => hours * hour);
const wrongState = 'invalid_state_transition';
const final: readonly (Why | null)[] = ['hard_decline', 'risk_refused', 'authentication_required'];

/**
 * A subscription as the written behaviour describes it, in the plainest form: one object that changes itself. It shares no
 * code with the rules. Random histories are run through both, and both must show the same.
 */
export class ModelSubscription implements Subject {
  private now: number;
  private status: 'trialing' | 'active' | 'paused' | 'cancelled' = 'trialing';
  private billing: 'scheduled' | 'incomplete' | 'current' | 'past_due' | 'unpaid' | null = 'scheduled';
  private readonly money: ModelLedger;
  private readonly rhythm: Rhythm;
  private period: Span;
  private anchor: number;
  private anchorWasGiven: boolean;
  private firstStart: number;
  private trialEnd: number | null;
  private warned = false;
  private announcedFor = 0;
  private periods = 0;
  /** What was billed for the current period. */
  private covering: Bill | null = null;
  private readonly told: string[] = ['created'];
  private method: string | null;
  private askedMethod: string | null = null;
  private askedAt: number | null = null;
  private chargeAt: number | null = null;
  private run: Run | null = null;
  private kept: Kept | null = null;
  private pausedAt = 0;
  private resumesAt: number | null = null;
  private resuming = false;
  /** What a resume of this pause has billed. */
  private awaited: Bill | null = null;
  private skip: number | null = null;
  private endsAtEnd = false;
  private cancelled: (Cancel & { at: number }) | null = null;

  /** @throws Error with the code of the refusal as its message. */
  constructor(private readonly from: Beginning) {
    this.now = Math.floor(from.now / second) * second;
    this.money = new ModelLedger(from);
    this.rhythm = { unit: from.unit, count: from.count };
    this.method = from.method;
    const wanted = from.startsIn === null ? this.now : this.now + from.startsIn;
    this.firstStart = Math.max(wanted, this.now);
    this.anchorWasGiven = wanted < this.firstStart;
    this.trialEnd = from.trialDays > 0 ? this.firstStart + from.trialDays * day : null;
    this.anchor = this.anchorWasGiven ? wanted : (this.trialEnd ?? this.firstStart);
    this.period = { start: this.firstStart, end: this.trialEnd ?? spanAround(this.anchor, this.rhythm, this.firstStart).end };
    if (this.firstStart === this.now) this.begin();
    if (this.chargeAt !== null && !from.byInvoice && this.method === null) throw new Refusal('payment_method_required');
    this.settle();
  }

  seen(): Seen {
    return { status: this.status, billing: this.billing, ...this.period, ...this.money.seen(), told: [...this.told] };
  }

  perform(act: Act): string | null {
    try {
      this.act(act);
      this.settle();
      return null;
    } catch (error) {
      if (error instanceof Refusal) return error.code;
      throw error;
    }
  }

  /** Nothing by itself ever moves it again, and no payment is under way. */
  isAsleep(): boolean {
    return this.alarms().length === 0 && this.money.flight === null;
  }

  private act(act: Act): void {
    switch (act.does) {
      case 'wait':
        return this.wait(act.ms);
      case 'pause':
        return this.pause(null);
      case 'pauseFor':
        return this.pause(this.now + act.ms);
      case 'pauseCycles':
        return this.pauseAtEnd(act.cycles);
      case 'resume':
        return this.resume({ byItself: false, free: act.free });
      case 'cancel':
        return this.cancel(act);
      case 'cancelAtEnd':
        return this.cancelAtEnd(act.set);
      case 'endTrial':
        return this.endTrial();
      case 'moveTrialEnd':
        return this.moveTrialEnd(this.now + act.ms);
      case 'method':
        this.method = act.method;
        return;
      case 'answer':
        return this.answered(act.outcome);
      case 'byHand':
        return this.byHand(act.which, act.to);
    }
  }

  // Time

  private wait(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      this.settle();
      const [next] = this.alarms();
      if (!next || next.at > until) break;
      this.now = next.at;
    }
    this.now = until;
  }

  private settle(): void {
    for (let rings = 0; rings < 500; rings += 1) {
      this.useNewMethod();
      this.restartOverdue();
      const [next] = this.alarms();
      if (!next || next.at > this.now) return;
      next.ring();
    }
    throw new Error('the model never rests');
  }

  private alarms(): { at: number; ring: () => void }[] {
    const set: { at: number | null; ring: () => void }[] = [];
    const flying = this.money.flight !== null;
    const charge = { at: this.chargeAt, ring: () => this.charge() };
    if (this.status === 'paused') {
      if (this.resuming && flying) return [];
      if (this.resuming) set.push(charge);
      set.push({ at: this.resumesAt, ring: () => this.resume({ byItself: true, free: false }) });
    } else if (this.status !== 'cancelled' && this.billing === 'scheduled') {
      set.push({ at: this.firstStart, ring: () => this.begin() });
    } else if (this.status !== 'cancelled') {
      const last = this.endsAtEnd || this.skip !== null || this.isLastCycle();
      if (this.inTrial()) {
        if (!this.warned && !this.endsAtEnd) set.push({ at: this.trialEnd! - 3 * day, ring: () => this.warn() });
        set.push({ at: this.period.end, ring: () => this.trialIsOver() });
      }
      if (this.billing === 'incomplete' && !flying) set.push({ at: this.firstStart + 23 * hour, ring: () => this.expire() });
      if (this.status === 'active' && !(flying && last)) set.push({ at: this.period.end, ring: () => this.periodIsOver() });
      set.push({ at: this.announcementAt(), ring: () => this.announce() });
      set.push({ at: this.reminderAt(), ring: () => this.remind() });
      if (!flying) set.push(charge);
      if (!flying && this.chargeAt === null && this.billing === 'past_due' && this.run) {
        set.push({ at: this.run.since + this.runLasts(), ring: () => this.dunningIsOver() });
      }
    }
    const real = set.filter((alarm): alarm is { at: number; ring: () => void } => alarm.at !== null);
    return real.sort((a, b) => a.at - b.at);
  }

  // The beginning, the trial, the periods

  private inTrial(): boolean {
    return this.trialEnd !== null && this.period.start < this.trialEnd;
  }

  private isLastCycle(): boolean {
    return this.from.cycles !== null && this.periods >= this.from.cycles;
  }

  private begin(): void {
    this.billing = this.trialEnd === null ? 'incomplete' : 'current';
    if (this.trialEnd === null) return this.beginPaidTime(this.firstStart);
    this.period = { start: this.firstStart, end: this.trialEnd };
    this.told.push('trialing');
  }

  private warn(): void {
    this.warned = true;
    this.told.push('trial_will_end');
  }

  private trialIsOver(): void {
    const end = this.period.end;
    if (this.endsAtEnd) return this.stop();
    if (this.skip !== null) return this.pauseNow(end, { was: 'trialing', seconds: null, untilPaid: false });
    const costs = this.money.costsNow(this.stretch(this.anchorWasGiven ? this.anchor : end, end));
    if (costs === 0 || this.from.byInvoice || this.method !== null) return this.beginPaidTime(end);
    if (this.from.withoutMethod === 'cancel') return this.stop();
    this.pauseNow(this.now, { was: 'trialing', seconds: null, untilPaid: false });
    this.billing = 'incomplete';
  }

  private beginPaidTime(at: number): void {
    if (!this.anchorWasGiven) this.anchor = at;
    const bill = this.enter(this.stretch(this.anchor, at));
    if (bill.status === 'paid' || this.from.byInvoice) {
      this.status = 'active';
      this.billing = 'current';
      this.told.push('activated');
    }
    if (bill.status !== 'paid') this.chargeAt = this.from.byInvoice ? bill.dueDate : this.now;
  }

  private stretch(anchor: number, from: number): Stretch {
    const whole = spanAround(anchor, this.rhythm, from);
    return { start: from, end: whole.end, seconds: wholeSeconds(from, whole.end), outOf: wholeSeconds(whole.start, whole.end) };
  }

  private enter(stretch: Stretch, at = this.now): Bill {
    this.period = { start: stretch.start, end: stretch.end };
    this.periods += 1;
    this.covering = this.money.write(stretch, at, this.billing !== 'unpaid');
    return this.covering;
  }

  private periodIsOver(): void {
    if (this.endsAtEnd || this.isLastCycle()) return this.stop();
    if (this.skip !== null) return this.pauseNow(this.period.end, { was: 'active', seconds: null, untilPaid: false });
    const waits = this.run !== null || this.money.flight !== null || this.billing === 'unpaid' || this.money.owed().length > 0;
    const bill = this.enter(this.stretch(this.anchor, this.period.end));
    if (waits || bill.status !== 'open') return;
    const isLate = this.now - bill.start > hour && this.askedAt !== null;
    this.chargeAt = this.from.byInvoice ? bill.dueDate : Math.max(bill.start + this.from.jitterSeconds * second, isLate ? this.askedAt! + day : 0);
  }

  private announcementAt(): number | null {
    const goesOn = !this.endsAtEnd && this.skip === null && !this.isLastCycle() && this.announcedFor !== this.period.end;
    const at = this.period.end - this.from.announceDays * day;
    return this.status === 'active' && goesOn && this.billing !== 'unpaid' && this.from.announceDays > 0 && at > this.period.start ? at : null;
  }

  private announce(): void {
    this.announcedFor = this.period.end;
    if (this.now < this.period.end) this.told.push('upcoming');
  }

  // Money

  private nextReminder(bill: Bill): number {
    return remindersAfterDue.map((after) => bill.dueDate + after).find((at) => at > bill.remindedAt) ?? Infinity;
  }

  private reminderAt(): number | null {
    const next = Math.min(...this.money.owed().map((bill) => this.nextReminder(bill)));
    return this.from.byInvoice && this.status === 'active' && this.billing !== 'unpaid' && next < Infinity ? next : null;
  }

  private remind(): void {
    for (const bill of this.money.owed()) {
      if (this.nextReminder(bill) > this.now) continue;
      bill.remindedAt = this.now;
      this.told.push(`reminder ${this.money.bills.indexOf(bill)}`);
    }
  }

  private charge(): void {
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

  private answered(outcome: Answer): void {
    const bill = this.money.flight;
    if (!bill) return;
    this.money.flight = null;
    if (outcome === 'approved') this.money.paid(bill, false);
    else this.money.refused(bill, outcome);
    if (this.status === 'cancelled') this.answeredAfterCancel(bill);
    else if (outcome === 'approved') this.collected();
    else this.failed(outcome);
  }

  private answeredAfterCancel(bill: Bill): void {
    if (!this.cancelled) return;
    if (bill.status === 'paid' && bill === this.covering) this.giveBack(this.cancelled, this.cancelled.at);
    else if (bill.status !== 'paid' && this.cancelled.voids) bill.status = 'void';
  }

  private collected(): void {
    const [oldest] = this.money.owed();
    if (oldest) {
      const paced = this.run || this.resuming || this.askedAt === null ? this.now : Math.max(this.now, this.askedAt + day);
      this.chargeAt = this.from.byInvoice ? oldest.dueDate : paced;
    } else {
      this.nothingIsOwed();
    }
  }

  private nothingIsOwed(): void {
    if (this.status === 'paused') return this.paidInPause();
    if (this.status === 'active' && this.billing === 'current') return;
    if (this.status === 'trialing') this.told.push('activated');
    this.status = 'active';
    this.billing = 'current';
    this.run = null;
    this.chargeAt = null;
  }

  private paidInPause(): void {
    if (this.resuming && (this.kept!.untilPaid || this.awaited)) return this.resumeIsPaid();
    if (this.billing === 'incomplete') return;
    this.billing = 'current';
    this.kept = { ...this.kept!, was: 'active', untilPaid: false };
    this.run = null;
    this.chargeAt = null;
  }

  private failed(why: Why): void {
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

  private runLasts(): number {
    const { endsAfterHours, retryHours } = this.from.dunning;
    return (endsAfterHours ?? retryHours.at(-1) ?? 0) * hour;
  }

  private dunningIsOver(): void {
    this.told.push('dunning_ended');
    switch (this.from.dunning.finalAction) {
      case 'cancel':
        for (const bill of this.money.owed()) bill.status = 'uncollectible';
        return this.stop();
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

  private expire(): void {
    for (const bill of this.money.owed()) bill.status = 'void';
    this.stop();
  }

  /** Another method than the one that was asked last: the money is asked for at once. */
  private useNewMethod(): void {
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

  /** Collected by invoice: what was overdue is settled, what remains is not due yet. */
  private restartOverdue(): void {
    const [oldest] = this.money.owed();
    if (!this.from.byInvoice || this.status !== 'active' || !this.run || !oldest || oldest.dueDate <= this.now) return;
    this.run = null;
    this.chargeAt = oldest.dueDate;
  }

  private byHand(which: number, to: 'paid' | 'void'): void {
    const owed = this.money.owed();
    const bill = owed[which % Math.max(1, owed.length)];
    if (!bill) return;
    if (bill === this.money.flight) throw new Refusal('payment_in_flight');
    if (to === 'paid') this.money.paid(bill, true);
    else bill.status = 'void';
    if (this.money.flight || this.status === 'cancelled' || this.money.owed().length > 0) return;
    const isAwaited = bill === this.covering && to === 'paid' && (this.resuming ? this.awaited !== null : this.status === 'trialing');
    if (this.billing === 'past_due' || this.billing === 'unpaid' || isAwaited) this.nothingIsOwed();
  }

  // Pausing and resuming

  private mustBePausable(): void {
    if (this.status === 'cancelled' || this.status === 'paused' || this.billing === 'incomplete') throw new Refusal(wrongState);
  }

  private pause(until: number | null): void {
    if (this.status === 'paused') {
      if (until !== null) this.resumesAt = until;
      return;
    }
    this.mustBePausable();
    const end = this.billing === 'scheduled' ? this.firstStart : this.period.end;
    this.pauseNow(this.now, { was: this.status === 'trialing' ? 'trialing' : 'active', seconds: wholeSeconds(this.now, end), untilPaid: false });
    this.resumesAt = until;
  }

  private pauseNow(at: number, kept: Kept): void {
    this.resumesAt = this.skip !== null && kept.seconds === null ? this.marksAfterEnd(this.skip) : null;
    Object.assign(this, { status: 'paused', pausedAt: at, kept, skip: null, awaited: null });
    this.told.push('paused');
  }

  private pauseAtEnd(cycles: number): void {
    this.mustBePausable();
    if (this.endsAtEnd) throw new Refusal(wrongState);
    this.skip = cycles;
  }

  private marksAfterEnd(cycles: number): number {
    const from = this.period.end;
    const anchor = this.inTrial() && !this.anchorWasGiven ? from : this.anchor;
    let n = 0;
    while (mark(anchor, this.rhythm, n) > from) n -= 1;
    while (mark(anchor, this.rhythm, n + 1) <= from) n += 1;
    return mark(anchor, this.rhythm, n + cycles);
  }

  private resume(how: { byItself: boolean; free: boolean }): void {
    if (this.status !== 'paused') throw new Refusal(wrongState);
    const kept = this.kept!;
    const at = how.byItself ? this.resumesAt! : this.now;
    if (kept.untilPaid && this.money.owed().length > 0) return this.collect(how.byItself);
    if (kept.seconds !== null) return this.runAgain(kept.seconds, kept.was, at);
    this.beginAgain(how, at);
  }

  private runAgain(seconds: number, as: 'trialing' | 'active', at: number): void {
    const passed = at - this.pausedAt;
    const end = at + seconds * second;
    if (this.run) {
      this.run.since += passed;
      if (this.chargeAt !== null) this.chargeAt += passed;
    }
    if (this.billing === 'scheduled') this.startLater(end - this.firstStart);
    else {
      if (this.inTrial()) this.trialEnd = end;
      this.period.end = end;
      this.anchor = end;
    }
    this.goOn(as);
    this.told.push('resumed');
  }

  private goOn(as: 'trialing' | 'active'): void {
    Object.assign(this, { status: as, kept: null, resumesAt: null, resuming: false, awaited: null });
  }

  private startLater(ms: number): void {
    this.firstStart += ms;
    if (this.trialEnd !== null) this.trialEnd += ms;
    this.anchor = this.trialEnd ?? this.firstStart;
    this.period = { start: this.firstStart, end: this.trialEnd ?? mark(this.anchor, this.rhythm, 1) };
  }

  private collect(byItself: boolean): void {
    if (!this.from.byInvoice && !this.mayAsk(byItself)) return this.cannotAsk(byItself);
    this.resuming = true;
    this.resumesAt = null;
    if (!this.from.byInvoice) this.chargeAt = this.now;
  }

  private mayAsk(byItself: boolean): boolean {
    if (this.method === null) return false;
    if (!byItself || this.method !== this.askedMethod) return true;
    return ![this.run?.hopeless ?? null, ...this.money.owed().map(({ refusal }) => refusal)].some((why) => why !== null && final.includes(why));
  }

  private cannotAsk(byItself: boolean): void {
    if (!byItself) throw new Refusal('payment_method_required_to_resume');
    Object.assign(this, { resuming: true, resumesAt: null, chargeAt: null, askedMethod: this.method });
    this.told.push('resume_failed');
  }

  private beginAgain({ byItself, free }: { byItself: boolean; free: boolean }, at: number): void {
    const owed = this.money.owed();
    const earlier = this.awaited;
    const isOwed = earlier !== null && owed.includes(earlier);
    if (isOwed ? earlier.end > at || earlier === this.money.flight : earlier && owed.length > 0 && (earlier.status === 'paid' || this.period.end > at)) return this.collect(byItself);
    const older = owed.filter((bill) => bill !== earlier);
    const never = this.billing === 'incomplete' && !this.anchorWasGiven;
    const anchor = never ? at : this.inTrial() && !this.anchorWasGiven ? this.period.end : this.anchor;
    const whole = this.stretch(anchor, at);
    const stretch = free && whole.seconds < whole.outOf ? { ...whole, seconds: 0 } : whole;
    const isFree = this.billing !== 'unpaid' && this.money.costsNow(stretch) === 0 && older.length === 0;
    if (!isFree && !this.from.byInvoice && !this.mayAsk(byItself)) return this.cannotAsk(byItself);
    if (isOwed) {
      earlier.status = 'void';
      this.periods -= 1;
    }
    this.anchor = anchor;
    this.awaited = this.enter(stretch, at);
    if (isFree || this.from.byInvoice) {
      const due = (older[0] ?? this.awaited).dueDate;
      this.activeAgain();
      if (this.from.byInvoice && !isFree) this.chargeAt = due;
    } else Object.assign(this, { resuming: true, resumesAt: null, chargeAt: at });
  }

  private resumeIsPaid(): void {
    if (this.kept!.untilPaid) {
      const end = this.now + this.kept!.seconds! * second;
      this.period.end = end;
      this.anchor = end;
    } else if (this.period.end <= this.now) {
      const start = Math.floor(this.now / second) * second;
      this.period = { start, end: start + wholeSeconds(this.period.start, this.period.end) * second };
      this.anchor = this.period.end;
    }
    this.activeAgain();
  }

  private activeAgain(): void {
    this.told.push('resumed');
    if (this.kept!.was === 'trialing') this.told.push('activated');
    this.goOn('active');
    Object.assign(this, { billing: 'current', run: null, chargeAt: null, skip: null });
  }

  // The end

  private cancelAtEnd(set: boolean): void {
    if (this.status === 'cancelled') throw new Refusal(wrongState);
    if (set === this.endsAtEnd) return;
    if (this.status === 'paused') throw new Refusal(wrongState);
    this.endsAtEnd = set;
    if (set) this.skip = null;
  }

  private endTrial(): void {
    if (this.status !== 'trialing' || this.billing !== 'current' || !this.inTrial()) throw new Refusal(wrongState);
    this.trialEnd = this.now;
    this.period.end = this.now;
    if (!this.anchorWasGiven) this.anchor = this.now;
    this.trialIsOver();
  }

  private moveTrialEnd(to: number): void {
    const scheduled = this.status === 'trialing' && this.billing === 'scheduled';
    if (!scheduled && !(this.status === 'trialing' && this.billing === 'current' && this.inTrial())) throw new Refusal(wrongState);
    if (to <= (scheduled ? this.firstStart : this.now)) throw new Refusal('invalid_request');
    this.trialEnd = to;
    this.period.end = to;
    if (!this.anchorWasGiven) this.anchor = to;
    this.warned = false;
  }

  private cancel(how: Cancel): void {
    if (this.status === 'cancelled') throw new Refusal(wrongState);
    this.giveBack(how, this.now);
    if (how.voids) for (const bill of this.money.owed()) if (bill !== this.money.flight) bill.status = 'void';
    this.cancelled = { ...how, at: this.now };
    this.stop();
  }

  private giveBack(how: Cancel, at: number): void {
    const bill = this.covering;
    if (!bill || bill.status !== 'paid' || this.inTrial()) return;
    const unused = this.kept && this.kept.seconds !== null ? this.kept.seconds : wholeSeconds(at, this.period.end);
    this.money.giveBack(bill, { unused: this.kept && this.awaited === null && this.kept.seconds === null ? 0 : unused, refunds: how.refunds, prorates: how.prorates });
  }

  private stop(): void {
    Object.assign(this, { status: 'cancelled', billing: null, run: null, chargeAt: null, resumesAt: null, resuming: false, skip: null });
    this.told.push('canceled');
  }
}
