import type { Answer, Beginning, Outcome, Seen } from './model.act.js';
import { day, share, wholeSeconds, type Span } from './model.calendar.js';

export interface Bill extends Span {
  totalAtom: number;
  dueAtom: number;
  paidAtom: number;
  refundedAtom: number;
  status: 'draft' | 'open' | 'past_due' | 'paid' | 'void' | 'uncollectible';
  dueDate: number;
  remindedAt: number;
  byHand: boolean;
  refusal: Answer | null;
}

/** What is billed for a stretch of time: its seconds, out of those of the whole interval. */
export interface Stretch extends Span {
  seconds: number;
  outOf: number;
}

/** The money of the model: bills, attempts, the customer's balance. */
export class ModelLedger {
  readonly bills: Bill[] = [];
  readonly attempts: Seen['attempts'] = [];
  flight: Bill | null = null;
  refundedAtom = 0;
  balanceAtom: number;

  constructor(private readonly from: Beginning) {
    this.balanceAtom = from.balanceAtom;
  }

  /** Each line is rounded by itself, a half to the even neighbour. */
  worth({ seconds, outOf }: Stretch): number {
    return this.from.sold.reduce((sum, { unitAtom, quantity }) => sum + share(unitAtom * quantity, seconds, outOf), 0);
  }

  costsNow(stretch: Stretch): number {
    return Math.max(0, this.worth(stretch) - this.balanceAtom);
  }

  write(stretch: Stretch, now: number, collects: boolean): Bill {
    const totalAtom = this.worth(stretch);
    const applied = collects ? Math.min(this.balanceAtom, totalAtom) : 0;
    const dueAtom = totalAtom - applied;
    const net = this.from.byInvoice ? (this.from.netDays ?? 30) : 0;
    const status = !collects ? 'draft' : dueAtom === 0 ? 'paid' : 'open';
    const { start, end } = stretch;
    const bill: Bill = { start, end, totalAtom, dueAtom, paidAtom: 0, refundedAtom: 0, status, dueDate: now + net * day, remindedAt: now, byHand: false, refusal: null };
    this.balanceAtom -= applied;
    this.bills.push(bill);
    return bill;
  }

  owed(): Bill[] {
    return this.bills.filter(({ status }) => status === 'open' || status === 'past_due');
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

  giveBack(bill: Bill, { unused, refunds, prorates }: { unused: number; refunds: boolean; prorates: boolean }): void {
    const whole = wholeSeconds(bill.start, bill.end);
    if (refunds) {
      const money = bill.byHand ? 0 : bill.paidAtom - bill.refundedAtom;
      this.balanceAtom += bill.totalAtom - bill.dueAtom + (bill.byHand ? bill.paidAtom : 0);
      this.refundedAtom += money;
      bill.refundedAtom += money;
    } else if (prorates) {
      this.balanceAtom += share(bill.totalAtom - bill.refundedAtom, unused, whole);
    }
  }

  seen(): Pick<Seen, 'invoices' | 'attempts' | 'balanceAtom' | 'refundedAtom'> {
    const { attempts, balanceAtom, refundedAtom } = this;
    const invoices = this.bills.map(({ start, end, totalAtom, dueAtom, paidAtom, status }) => ({ start, end, totalAtom, dueAtom, paidAtom, status }));
    return { invoices, attempts: [...attempts], balanceAtom, refundedAtom };
  }
}
