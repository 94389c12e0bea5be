import type { PaymentRequest } from '../../libs/contracts/payment.contract.js';
import type { AdvanceResult } from '../../libs/domain/payment/advance-result.js';

/** What a payment's workflow knows between two passes; the rows know everything else. */
export class PaymentEntity {
  /** Rises with each request to look again. */
  private wakes = 0;
  /** Wakes that the running pass takes into account, and those of the last finished one. */
  private begun = 0;
  private finished = -1;
  private request: PaymentRequest | null = null;
  private waiting: { ticket: number; answer: (standing: AdvanceResult) => void }[] = [];

  constructor(public last: AdvanceResult | null) {}

  /** @returns the ticket by which `answered` tells that a pass took this wake into account. */
  wake(request: PaymentRequest | null = null): number {
    this.wakes += 1;
    this.request = request ?? this.request;
    return this.wakes;
  }

  /** Settles with where the payment stands when `answered` holds for that wake. */
  whenAnswered(ticket: number): Promise<AdvanceResult> {
    return new Promise((answer) => void this.waiting.push({ ticket, answer }));
  }

  get isWoken(): boolean {
    return this.wakes > this.begun;
  }

  begin(): PaymentRequest | null {
    this.begun = this.wakes;
    const { request } = this;
    this.request = null;
    return request;
  }

  /** Answers those who can be told now. True if the payment's status is another one than before. */
  finish(result: AdvanceResult): boolean {
    const changed = this.last?.status !== result.status;
    this.finished = this.begun;
    this.last = result;
    const told = this.waiting.filter(({ ticket }) => this.answered(ticket));
    this.waiting = this.waiting.filter((each) => !told.includes(each));
    for (const { answer } of told) answer(result);
    return changed;
  }

  get isFinal(): boolean {
    return this.last?.state === 'final';
  }

  /** Whether whoever woke the payment can be told where it stands. An unknown outcome is worth waiting for. */
  answered(ticket: number): boolean {
    if (this.finished < ticket || !this.last || this.last.state === 'busy') return false;
    return this.last.state === 'final' || this.last.status !== 'processing' || this.last.outcomeClass === 'pending' || this.last.stopped === true;
  }

  /** Milliseconds until the payment wants to be looked at again; null: only when woken. */
  restMs(now: number): number | null {
    if (!this.last?.nextAt) return null;
    return Math.max(Date.parse(this.last.nextAt) - now, 20);
  }

  describe(payment: string): string {
    if (!this.last) return `${payment}: first attempt`;
    const { status, outcomeClass, declineCode, state, nextAt } = this.last;
    const attempt = outcomeClass ? `, last attempt ${outcomeClass}${declineCode ? ` (${declineCode})` : ''}` : '';
    if (this.last.stopped) return `${payment}: ${status}; new charges are stopped, it goes on when the stop is lifted`;
    const next = state === 'final' ? 'nothing is left to do' : nextAt ? `looked at again at ${nextAt}` : 'waits to be woken';
    return `${payment}: ${status}${attempt}; ${next}`;
  }
}
