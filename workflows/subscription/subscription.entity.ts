import type { SubscriptionRun } from '../../libs/contracts/subscription.contract.js';

/** What a subscription's workflow knows; the row knows everything else. */
export class SubscriptionEntity {
  /** The creation was refused: there is nothing to run. */
  refused = false;
  /** Somebody takes the subscription for created. */
  called = false;
  private stale: boolean;
  private handedOver: string | null = null;
  private slow: string | null = null;
  private quietUntil = 0;
  private tail: Promise<unknown> = Promise.resolve();

  constructor(public run: SubscriptionRun | null) {
    this.stale = run !== null;
  }

  get isLoaded(): boolean {
    return this.run !== null;
  }

  /** Database steps one after another; nothing waits for a payment in here. */
  locked<T>(work: () => Promise<T>): Promise<T> {
    const result = this.tail.then(work);
    this.tail = result.catch(() => undefined);
    return result;
  }

  /** Keeps the newest; an answer repeated from an earlier command is older. True if the status changed. */
  accept(run: SubscriptionRun): boolean {
    if (this.run && run.version < this.run.version) return false;
    const changed = this.run?.status !== run.status;
    if (this.run?.version !== run.version) this.stale = true;
    this.run = run;
    return changed;
  }

  /** The database was restored to an earlier state: its row is older than what was known, and counts. */
  setBack(run: SubscriptionRun): void {
    this.run = run;
  }

  /** As `accept`, where nothing more is to be looked at before the row's next due time. */
  acceptSettled(run: SubscriptionRun): boolean {
    if (this.run && run.version < this.run.version) this.stale = true;
    const wasStale = this.stale;
    const changed = this.accept(run);
    this.stale = wasStale;
    return changed;
  }

  /** Rows may say something new. */
  look(): void {
    this.stale = true;
  }

  looked(): void {
    this.stale = false;
  }

  /** A step found nothing although something is due: its time is a moment ahead of the database's. */
  quiet(until: number): void {
    this.quietUntil = until;
  }

  /** Whether the row's next step may be there. */
  mustLook(now: number): boolean {
    return this.stale || this.dueInMs(now) === 0;
  }

  /** Milliseconds until something is due; null: only a command or a payment moves it. */
  dueInMs(now: number): number | null {
    if (!this.run?.nextActionAt) return null;
    return Math.max(0, Date.parse(this.run.nextActionAt) - now, this.quietUntil - now);
  }

  /** The payment that this workflow must move on itself. */
  get chargeToAdvance(): string | null {
    const intentId = this.run?.charging?.intentId ?? null;
    return intentId === this.handedOver ? null : intentId;
  }

  /** Its processor takes its time: an activity of its own waits for the answer. */
  isSlow(intentId: string): boolean {
    return this.slow === intentId;
  }

  takesTime(intentId: string): void {
    this.slow = intentId;
  }

  /** From here on the payment has its own workflow, or needs a person. */
  handOver(intentId: string): void {
    this.handedOver = intentId;
  }

  /** The payment may be asked for again, for example after a retry was confirmed. */
  takeBack(): void {
    this.handedOver = null;
    this.slow = null;
  }

  /** Nothing is under way: whoever waits for a payment may be answered. */
  isAtRest(now: number): boolean {
    return this.isLoaded && !this.run?.charging && !this.mustLook(now);
  }

  get isEnded(): boolean {
    return this.refused || (this.run?.ended ?? false);
  }

  describe(subscription: string): string {
    if (!this.run) return `${subscription}: being created`;
    const { status, billingStatus, nextActionAt, charging, onClock } = this.run;
    const billing = billingStatus && billingStatus !== 'current' ? ` (${billingStatus})` : '';
    const next = onClock ? 'moves with its test clock' : nextActionAt ? `acts next at ${nextActionAt}` : 'waits for a command or a payment';
    return `${subscription}: ${status}${billing}; ${charging ? `payment ${charging.publicId} under way; ` : ''}${next}`;
  }
}
