import { DomainError } from '../../errors/domain-error.js';
import type { InvoiceFacts, Plan } from './plan.js';
import { LinesSketch } from './subscription.lines.sketch.js';
import type { Outcome, Seen } from './model/model.act.js';

/** Invoices, attempts and the customer's balance of one subscription in memory, as the database and a processor keep them. */
export class MoneySketch {
  readonly invoices: InvoiceFacts[] = [];
  readonly lines = new LinesSketch(this.invoices);
  readonly attempts: Seen['attempts'] = [];
  /** Given to the balance by a cancel. */
  credited = 0;
  refunded = 0;

  constructor(public balance: number, private outcomes: readonly Outcome[]) {}

  /** From now on each attempt is approved. */
  heal(): void {
    this.outcomes = [];
  }

  owed(): InvoiceFacts[] {
    return this.invoices.filter(({ status }) => status === 'open' || status === 'past_due');
  }

  invoice(id: string): InvoiceFacts {
    return this.invoices.find((candidate) => candidate.id === id)!;
  }

  store(plan: Plan): void {
    if (plan.invoice) {
      this.balance += plan.invoice.creditedAtom - plan.invoice.appliedBalanceAtom;
      this.invoices.push({ ...plan.invoice, id: `invoice-${this.invoices.length}`, paidAtom: 0, refundedAtom: 0, payment: 'none', failure: null, reminderSentAt: null });
    }
    this.lines.store(plan, plan.invoice ? this.invoices.at(-1)!.id : null);
  }

  giveBack({ creditAtom, refunds }: Plan): void {
    this.balance += creditAtom;
    this.credited += creditAtom;
    for (const { invoiceId, amountAtom } of refunds) {
      this.invoice(invoiceId).refundedAtom += amountAtom;
      this.refunded += amountAtom;
    }
  }

  charge(invoice: InvoiceFacts, at: number): void {
    if (!this.owed().includes(invoice) || invoice.payment === 'unresolved') throw new Error('charged what is not owed');
    const outcome = this.outcomes[this.attempts.length] ?? 'approved';
    this.attempts.push({ at, invoice: this.invoices.indexOf(invoice) });
    settle(invoice, outcome);
  }

  answer(outcome: Outcome): void {
    for (const invoice of this.invoices) if (invoice.payment === 'unresolved') settle(invoice, outcome);
  }

  byHand(which: number, to: 'paid' | 'void' | 'uncollectible', ended: boolean): void {
    const named = to === 'paid' ? [...this.owed(), ...this.invoices.filter(({ status }) => status === 'uncollectible')] : this.owed();
    const invoice = named[which % Math.max(1, named.length)];
    if (!invoice) return;
    if (invoice.payment === 'unresolved') throw new DomainError('payment_in_flight');
    if (to !== 'paid') return this.close(invoice, to, ended);
    settle(invoice, 'approved');
    invoice.paidOutOfBand = true;
  }

  /** As the database closes it: what it used of the balance, and what it had taken in, is there again. */
  close(invoice: InvoiceFacts, as: 'void' | 'uncollectible' | 'past_due', ended: boolean): void {
    invoice.status = as;
    if (as === 'void') this.balance += invoice.totalAtom - invoice.dueAtom + this.lines.release(invoice.id, ended);
  }
}

function settle(invoice: InvoiceFacts, outcome: Outcome): void {
  invoice.payment = outcome === 'unresolved' ? 'unresolved' : outcome === 'approved' ? 'succeeded' : 'at_rest';
  if (outcome === 'approved') Object.assign(invoice, { status: 'paid', paidAtom: invoice.dueAtom });
  else if (outcome !== 'unresolved') Object.assign(invoice, { status: 'past_due', failure: outcome });
}
