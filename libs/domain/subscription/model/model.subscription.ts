import type { Act, Beginning, Seen, Subject } from './model.act.js';
import { day, hour } from './model.calendar.js';
import { ModelPeriods } from './model.periods.js';
import { Refusal, wrongState, type Cancel } from './model.state.js';

/**
 * A subscription as the written behaviour describes it, in the plainest form: one object that changes itself, a chapter in each
 * file. It shares no code with the rules. Random histories are run through both, and both must show the same.
 */
export class ModelSubscription extends ModelPeriods implements Subject {
  /** @throws Error with the code of the refusal as its message. */
  constructor(from: Beginning) {
    super(from);
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
      case 'items':
        return this.changeItems(act.changes, act.how);
      case 'interval':
        return this.changeInterval(act);
    }
  }

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

  private cancel(how: Cancel): void {
    if (this.status === 'cancelled') throw new Refusal(wrongState);
    const owed = this.money.owed();
    const back = this.givenBack(how, { at: this.now });
    this.stop({ forgives: how.voids || how.refunds, unused: how.prorates ? this.unused(this.now) : 0, refunds: how.refunds });
    this.money.giveBack(back);
    if (how.voids) for (const bill of owed) if (bill !== this.money.flight) this.money.void(bill, { ended: true });
    this.cancelled = { ...how, at: this.now };
  }
}
