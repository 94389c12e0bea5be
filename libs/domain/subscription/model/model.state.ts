import type { Act, Answer, Beginning, Rhythm } from './model.act.js';
import { day, mark, second, spanAround, wholeSeconds, type Span } from './model.calendar.js';
import { ModelLedger } from './model.ledger.js';
import { isOneRhythm, type Bill, type Line, type Stretch } from './model.lines.js';

export type Why = Answer | 'no_method' | 'overdue';
export type Cancel = Extract<Act, { does: 'cancel' }>;

interface Run {
  since: number;
  failures: number;
  hopeless: Why | null;
}

export interface Kept {
  was: 'trialing' | 'active';
  seconds: number | null;
  untilPaid: boolean;
}

export class Refusal extends Error {
  constructor(readonly code: string) {
    super(code);
  }
}

export const wrongState = 'invalid_state_transition';
export const final: readonly (Why | null)[] = ['hard_decline', 'risk_refused', 'authentication_required'];

/** Where a subscription stands, and what more than one of its chapters does to it. */
export abstract class ModelState {
  protected now: number;
  protected status: 'trialing' | 'active' | 'paused' | 'cancelled' = 'trialing';
  protected billing: 'scheduled' | 'incomplete' | 'current' | 'past_due' | 'unpaid' | null = 'scheduled';
  protected readonly money: ModelLedger;
  protected rhythm: Rhythm;
  protected period: Span;
  protected anchor: number;
  protected anchorWasGiven: boolean;
  protected firstStart: number;
  protected trialEnd: number | null;
  protected warned = false;
  protected announcedFor = 0;
  protected periods = 0;
  /** The period's end is not where its interval ends: a pause moved it. */
  protected moved = false;
  /** What was billed for the current period. */
  protected covering: Bill | null = null;
  protected readonly told: string[] = ['created'];
  protected method: string | null;
  protected askedMethod: string | null = null;
  protected askedAt: number | null = null;
  protected chargeAt: number | null = null;
  protected run: Run | null = null;
  protected kept: Kept | null = null;
  protected pausedAt = 0;
  protected resumesAt: number | null = null;
  protected resuming = false;
  /** What a resume of this pause has billed. */
  protected awaited: Bill | null = null;
  protected skip: number | null = null;
  protected endsAtEnd = false;
  protected cancelled: (Cancel & { at: number }) | null = null;

  constructor(protected readonly from: Beginning) {
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
  }

  protected inTrial(): boolean {
    return this.trialEnd !== null && this.period.start < this.trialEnd;
  }

  protected isLastCycle(): boolean {
    return this.from.cycles !== null && this.periods >= this.from.cycles;
  }

  /** What would follow is billed by its own rhythm: where that is another one, from `from` on. */
  protected nextStretch(anchor: number, from: number): Stretch {
    const rhythm = this.nextRhythm();
    return this.stretch(isOneRhythm(rhythm, this.rhythm) ? anchor : from, from, rhythm);
  }

  protected nextRhythm(): Rhythm {
    return this.money.nextItems()[0]?.rhythm ?? this.rhythm;
  }

  protected stretch(anchor: number, from: number, rhythm = this.rhythm): Stretch {
    const whole = spanAround(anchor, rhythm, from);
    return { start: from, end: whole.end, seconds: wholeSeconds(from, whole.end), outOf: wholeSeconds(whole.start, whole.end) };
  }

  protected enter(stretch: Stretch, at = this.now, back: Line[] = []): Bill {
    const rhythm = this.nextRhythm();
    if (!isOneRhythm(rhythm, this.rhythm)) Object.assign(this, { rhythm, anchor: stretch.start });
    this.period = { start: stretch.start, end: stretch.end };
    this.periods += 1;
    this.moved = false;
    this.covering = this.money.beginPeriod(stretch, { now: at, collects: this.billing !== 'unpaid' }, back);
    return this.covering;
  }

  /** Time that a pause kept ends elsewhere, and the periods after it follow from there. */
  protected moveEnd(end: number): void {
    this.period.end = end;
    this.anchor = end;
    this.moved = true;
  }

  protected pauseNow(at: number, kept: Kept): void {
    this.resumesAt = this.skip !== null && kept.seconds === null ? this.marksAfterEnd(this.skip) : null;
    Object.assign(this, { status: 'paused', pausedAt: at, kept, skip: null, awaited: null });
    this.told.push('paused');
  }

  protected marksAfterEnd(cycles: number): number {
    const from = this.period.end;
    const anchor = this.inTrial() && !this.anchorWasGiven ? from : this.anchor;
    let n = 0;
    while (mark(anchor, this.rhythm, n) > from) n -= 1;
    while (mark(anchor, this.rhythm, n + 1) <= from) n += 1;
    return mark(anchor, this.rhythm, n + cycles);
  }

  /** Of a last bill; never before its period. */
  protected endedAt(): number {
    return Math.max(Math.floor(this.now / second) * second, this.period.start);
  }

  protected stop(end: { forgives: boolean; unused?: number; refunds?: boolean }): void {
    this.money.end(this.endedAt(), { unused: 0, refunds: false, ...end });
    Object.assign(this, { status: 'cancelled', billing: null, run: null, chargeAt: null, resumesAt: null, resuming: false, skip: null });
    this.told.push('canceled');
  }
}
