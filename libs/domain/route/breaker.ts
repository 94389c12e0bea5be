import type { OutcomeClass } from '../payment/outcome.js';

export interface BreakerSettings {
  /** How many of the latest calls count, and how old one may be. */
  calls: number;
  windowMs: number;
  /** Fewer calls prove nothing. */
  minSamples: number;
  /** Share of bad calls, 0 to 1, that opens it. */
  badShare: number;
  /** A call that takes longer is bad, also while it still runs. */
  slowMs: number;
  /** From opening, and from each bad probe, until the next probe. */
  restMs: number;
  /** Share of the payments, 0 to 1, that go there as probes while it is open. */
  probeShare: number;
  /** Good probes in a row that close it. */
  probes: number;
}

export const breakerDefaults: BreakerSettings = {
  calls: 50,
  windowMs: 300_000,
  minSamples: 20,
  badShare: 0.5,
  slowMs: 5_000,
  restMs: 5_000,
  probeShare: 0.05,
  probes: 3,
};

/** With few payments a probe is due after so many rests. */
const patience = 12;

const badClasses: ReadonlySet<OutcomeClass> = new Set(['not_sent', 'processor_error', 'unknown']);

/** A call that runs. `probe`: it began while the breaker was open. */
export interface BreakerCall {
  at: number;
  probe: boolean;
}

export interface BreakerCount {
  samples: number;
  bad: number;
}

/**
 * Watches the calls to one connection. Closed, it counts the latest ones; too large a share of bad ones opens it, and then
 * only probes go there until enough of them were good. An issuer's refusal is a good call: the connection works.
 * Every time is passed in, in milliseconds of one clock that never goes back.
 */
export class Breaker {
  private readonly samples: { at: number; bad: boolean }[] = [];
  private readonly running = new Set<BreakerCall>();
  private opened: { at: number; count: BreakerCount | null } | null = null;
  private restFrom = 0;
  private passed = 0;
  private goodProbes = 0;

  constructor(private readonly settings: BreakerSettings) {}

  get isOpen(): boolean {
    return this.opened !== null;
  }

  /** What opened it; null while it is closed, or where it was opened elsewhere. */
  get openedBy(): BreakerCount | null {
    return this.opened?.count ?? null;
  }

  begin(now: number): BreakerCall {
    const call = { at: now, probe: this.isOpen };
    this.running.add(call);
    return call;
  }

  /** The call came back. What began before the breaker opened or closed says nothing any more. */
  end(call: BreakerCall, outcomeClass: OutcomeClass, now: number): void {
    if (!this.running.delete(call)) return;
    const bad = badClasses.has(outcomeClass) || now - call.at >= this.settings.slowMs;
    if (call.probe) this.probed(bad, now);
    else if (!this.isOpen) {
      this.samples.push({ at: now, bad });
      if (this.samples.length > this.settings.calls) this.samples.shift();
      this.judge(now);
    }
  }

  /** Takes running calls into account, too: a connection that hangs is not waited for. */
  judge(now: number): void {
    if (this.isOpen) return this.dropSlowProbes(now);
    const count = this.count(now);
    if (count.samples >= this.settings.minSamples && count.bad >= count.samples * this.settings.badShare) this.open(now, count);
  }

  /** A payment did not go there because it is open. */
  passBy(): void {
    this.passed += 1;
  }

  /** Whether the next payment should go there although it is open. */
  isProbeDue(now: number): boolean {
    if (!this.isOpen || this.isProbed()) return false;
    const rested = now - this.restFrom;
    return rested >= this.settings.restMs && (this.passed + 1 >= 1 / this.settings.probeShare || rested >= patience * this.settings.restMs);
  }

  /** Another process opened it (`count` null), or this one found it broken. */
  open(now: number, count: BreakerCount | null = null): void {
    if (this.isOpen) return;
    this.opened = { at: now, count };
    this.rest(now);
  }

  close(): void {
    this.opened = null;
    this.samples.length = 0;
    this.running.clear();
    this.goodProbes = 0;
  }

  /** The calls of the window, the running ones that are too slow counted as bad. */
  count(now: number): BreakerCount {
    const slow = this.slowCalls(now).length;
    const count = { samples: slow, bad: slow };
    for (let index = this.samples.length - 1; index >= 0 && count.samples < this.settings.calls; index -= 1) {
      const sample = this.samples[index]!;
      if (sample.at <= now - this.settings.windowMs) break;
      count.samples += 1;
      if (sample.bad) count.bad += 1;
    }
    return count;
  }

  /** Calls stand in the order in which they began. */
  private slowCalls(now: number): BreakerCall[] {
    const slow: BreakerCall[] = [];
    for (const call of this.running) {
      if (now - call.at < this.settings.slowMs) break;
      slow.push(call);
    }
    return slow;
  }

  private isProbed(): boolean {
    for (const call of this.running) if (call.probe) return true;
    return false;
  }

  private dropSlowProbes(now: number): void {
    for (const call of this.slowCalls(now)) {
      this.running.delete(call);
      if (call.probe) this.probed(true, now);
    }
  }

  private probed(bad: boolean, now: number): void {
    if (!this.isOpen) return;
    if (bad) return this.rest(now);
    this.goodProbes += 1;
    this.passed = 0;
    if (this.goodProbes >= this.settings.probes) this.close();
  }

  private rest(now: number): void {
    this.restFrom = now;
    this.passed = 0;
    this.goodProbes = 0;
  }
}
