import { DomainError } from '../../errors/domain-error.js';
import { planCancel } from './cancel-subscription.js';
import type { BillableItem, ItemChange } from '../invoice/invoice.draft.js';
import { planChangeItems } from './change-items.js';
import { planCreate } from './create-subscription.js';
import type { ItemInput } from './item-changes.js';
import { defaultDunningPolicy } from './dunning-policy.js';
import { planPause } from './pause-subscription.js';
import { factsAfter } from './facts-after.js';
import type { Facts, InvoiceFacts, ItemPrice, Plan } from './plan.js';
import { planResume } from './resume-subscription.js';
import { planStep } from './step-subscription.js';
import { LinesSketch } from './subscription.lines.sketch.js';
import { stateOf, type State } from './subscription.machine.js';
import { nextDue } from './subscription.schedule.js';
import type { SubscriptionState } from './subscription.state.js';
import { planEndTrial, planUpdate } from './update-subscription.js';
import type { Act, Beginning, ItemAct, Outcome, Seen, Sold, Subject } from './model/model.act.js';

const mostSteps = 5_000;
/** Events that only tell more of another one. */
const untold = ['updated', 'dunning_retry_scheduled', 'dunning_blocked', 'dunning_recovered'];

/** The real plans, applied in memory as the database applies them. What is charged without leave throws. */
export class RealSubscription implements Subject {
  s!: SubscriptionState;
  readonly invoices: InvoiceFacts[] = [];
  readonly lines = new LinesSketch(this.invoices);
  readonly visited = new Set<State>();
  /** Time for which a price is due, and its worth: price × ms. */
  servedMs = 0;
  servedWorth = 0n;
  /** Given to the balance by a cancel. */
  credited = 0;
  private now: number;
  private method: string | null;
  private items: BillableItem[];
  private made = 0;
  private readonly attempts: Seen['attempts'] = [];
  private readonly told: string[] = [];
  private balance: number;
  private refunded = 0;

  constructor(private from: Beginning) {
    this.items = from.sold.map((sold) => this.newItem(sold));
    this.now = from.now;
    this.method = from.method;
    this.balance = from.balanceAtom;
    const second = Math.floor(from.now / 1000) * 1000;
    const input = {
      id: 'sub', currency: 'eur', billingInterval: from.unit, billingIntervalCount: from.count, trialEnd: null, trialDays: from.trialDays,
      startsAt: from.startsIn === null ? null : new Date(second + from.startsIn), missingPaymentMethod: from.withoutMethod, netD: from.netDays,
      collectionMethod: from.byInvoice ? ('send_invoice' as const) : ('charge_automatically' as const), description: null, customFields: null,
      defaultPaymentMethodId: null, paymentRouteId: null, cancelAtEnd: false, totalBillingCycles: from.cycles,
      dunningPolicy: { ...from.dunning, reminderHours: defaultDunningPolicy.reminderHours },
    };
    this.apply(planCreate(input, this.facts()));
    this.now = second;
    this.rest();
  }

  perform(act: Act): string | null {
    try {
      this.act(act);
      this.rest();
      return null;
    } catch (error) {
      if (error instanceof DomainError) return error.code;
      throw error;
    }
  }

  seen(): Seen {
    const { s } = this;
    return {
      status: s.status,
      billing: s.billingStatus,
      start: s.currentPeriodStart.getTime(),
      end: s.currentPeriodEnd.getTime(),
      invoices: this.invoices.map(({ periodStart, periodEnd, totalAtom, dueAtom, paidAtom, status }) => ({
        start: periodStart.getTime(), end: periodEnd.getTime(), totalAtom, dueAtom, paidAtom, status,
      })),
      attempts: this.attempts,
      balanceAtom: this.balance,
      refundedAtom: this.refunded,
      told: this.told.filter((event) => !untold.includes(event)),
    };
  }

  /** Time leaps: nothing ran in between. */
  leap(ms: number): void {
    this.now += ms;
    this.rest();
  }

  /** From now on each attempt is approved. */
  heal(): void {
    this.from = { ...this.from, outcomes: [] };
  }

  isAsleep(): boolean {
    return nextDue(this.s) === null && this.s.chargingInvoiceId === null;
  }

  get time(): number {
    return this.now;
  }

  facts(named: number[] = []): Facts {
    const { now, from, lines } = this;
    return {
      now: new Date(now),
      jitterSeconds: from.jitterSeconds,
      rules: { dunningPolicy: defaultDunningPolicy, upcomingDays: from.announceDays },
      items: this.items,
      paymentMethodId: this.method,
      balanceAtom: this.balance,
      openInvoices: this.owed(),
      charging: this.invoices.find(({ id }) => id === this.s?.chargingInvoiceId) ?? null,
      latestInvoice: this.invoices.findLast(({ status, beginsPeriod }) => beginsPeriod && status !== 'draft') ?? null,
      pending: lines.pending(),
      get billed() {
        return lines.billed();
      },
      get periodInvoices() {
        return lines.periodInvoices();
      },
      prices: named.map((unit) => this.priceOf(unit)),
      minimumAtom: 0,
    };
  }

  owed(): InvoiceFacts[] {
    return this.invoices.filter(({ status }) => status === 'open' || status === 'past_due');
  }

  private act(act: Act): void {
    const facts = this.facts();
    const { s } = this;
    switch (act.does) {
      case 'wait':
        return this.wait(act.ms);
      case 'pause':
        return this.apply(planPause(s, {}, facts));
      case 'pauseFor':
        return this.apply(planPause(s, { resumesAt: new Date(this.now + act.ms) }, facts));
      case 'pauseCycles':
        return this.apply(planPause(s, { cycles: act.cycles }, facts));
      case 'resume':
        return this.apply(planResume(s, { automatic: false, proration: act.free ? 'none' : 'create_prorations' }, facts));
      case 'cancel':
        return this.apply(planCancel(s, { cancelUnpaidInvoices: act.voids, fullRefund: act.refunds, prorate: act.prorates, details: null }, facts));
      case 'cancelAtEnd':
        return this.apply(planUpdate(s, { cancelAtEnd: act.set }, facts));
      case 'endTrial':
        return this.apply(planEndTrial(s, facts));
      case 'moveTrialEnd':
        return this.apply(planUpdate(s, { trialEnd: new Date(this.now + act.ms) }, facts));
      case 'method':
        this.method = act.method;
        return;
      case 'items': {
        const items = act.changes.map((change) => this.inputOf(change));
        return this.apply(planChangeItems(s, { items, proration: act.how }, this.facts(act.changes.flatMap(unitsOf))));
      }
      case 'answer':
        for (const invoice of this.invoices) if (invoice.payment === 'unresolved') settle(invoice, act.outcome);
        return;
      case 'byHand':
        return this.byHand(act.which, act.to);
    }
  }

  private byHand(which: number, to: 'paid' | 'void'): void {
    const owed = this.owed();
    const invoice = owed[which % Math.max(1, owed.length)];
    if (!invoice) return;
    if (invoice.payment === 'unresolved') throw new DomainError('payment_in_flight');
    if (to === 'void') this.close(invoice, 'void');
    else {
      settle(invoice, 'approved');
      invoice.paidOutOfBand = true;
    }
  }

  private priceOf(unitAmountAtom: number): ItemPrice {
    const { unit, count } = this.from;
    const price = { priceId: `price-${unitAmountAtom}`, productId: 'product', name: 'Plan', unitAmountAtom, pricingModel: 'standard', transformQuantityDivideBy: 1 };
    return { ...price, interval: { unit, count }, currency: 'eur' };
  }

  private newItem({ unitAtom, quantity }: Sold): BillableItem {
    this.made += 1;
    return { id: `item-${this.made}`, description: null, quantity, ...this.priceOf(unitAtom) };
  }

  private inputOf(change: ItemAct): ItemInput {
    if (change.kind === 'add') {
      const { id, priceId, quantity } = this.newItem(change.sold);
      return { path: [], action: 'add', id, priceId, quantity };
    }
    const { id } = this.items[change.item % this.items.length]!;
    if (change.kind === 'remove') return { path: [], action: 'remove', id };
    return { path: [], action: 'update', id, quantity: change.quantity, priceId: change.unitAtom === null ? undefined : this.priceOf(change.unitAtom).priceId };
  }

  /** As the database closes it: what it used of the balance, and what it had taken in, is there again. */
  private close(invoice: InvoiceFacts, as: 'void' | 'uncollectible' | 'past_due'): void {
    invoice.status = as;
    if (as !== 'void') return;
    this.balance += invoice.totalAtom - invoice.dueAtom + this.lines.release(invoice.id, this.s.status === 'cancelled');
  }

  private change({ kind, item }: ItemChange): void {
    if (kind === 'added') this.items.push(item);
    else this.items = this.items.flatMap((one) => (one.id !== item.id ? [one] : kind === 'removed' ? [] : [item]));
  }

  private wait(ms: number): void {
    const until = this.now + ms;
    for (;;) {
      this.rest();
      const due = nextDue(this.s)?.at.getTime();
      if (due === undefined || due > until) return this.passTo(until);
      this.passTo(Math.max(this.now, due));
    }
  }

  private passTo(at: number): void {
    const { status, billingStatus, trialEnd, currentPeriodStart } = this.s;
    const serves = status === 'active' || (status === 'trialing' && billingStatus !== 'scheduled' && !(trialEnd && currentPeriodStart < trialEnd));
    if (serves) {
      const each = this.items.reduce((sum, { unitAmountAtom, quantity }) => sum + unitAmountAtom * quantity, 0);
      this.servedMs += at - this.now;
      this.servedWorth += BigInt(each) * BigInt(at - this.now);
    }
    this.now = at;
  }

  private rest(): void {
    for (let steps = 0; steps < mostSteps; steps += 1) {
      const facts = this.facts();
      const plan = planStep(this.s, facts);
      if (!plan) return;
      this.apply(plan);
      this.assertFollows(facts, plan);
    }
    throw new Error(`no rest after ${mostSteps} steps at one moment: ${stateOf(this.s)}`);
  }

  /** The step after a plan is the same by the facts that follow from it as by those that are read again. */
  private assertFollows(facts: Facts, plan: Plan): void {
    const after = factsAfter(facts, plan, this.s, plan.invoice ? this.invoices.at(-1)! : null);
    const [known, read] = [after, this.facts()].map((each) => JSON.stringify(each && planStep(this.s, each)));
    if (after && known !== read) throw new Error(`after ${JSON.stringify(plan)}: ${known} instead of ${read}`);
  }

  private apply(plan: Plan | null): void {
    if (!plan) return;
    this.s = plan.next;
    this.visited.add(stateOf(this.s));
    this.told.push(...plan.events);
    if (plan.invoice) {
      this.balance += plan.invoice.creditedAtom - plan.invoice.appliedBalanceAtom;
      this.invoices.push({ ...plan.invoice, id: `invoice-${this.invoices.length}`, paidAtom: 0, refundedAtom: 0, payment: 'none', failure: null, reminderSentAt: null });
    }
    this.lines.store(plan, plan.invoice ? this.invoices.at(-1)!.id : null);
    if (plan.upcoming) this.told.push('upcoming');
    for (const id of plan.reminded) {
      this.invoice(id).reminderSentAt = new Date(this.now);
      this.told.push(`reminder ${this.invoices.indexOf(this.invoice(id))}`);
    }
    for (const closed of plan.closed) this.close(this.invoice(closed.invoiceId), closed.as);
    if (plan.charge) this.charge(this.invoice(plan.charge.invoiceId));
    this.balance += plan.creditAtom;
    this.credited += plan.creditAtom;
    for (const change of plan.items) this.change(change);
    for (const { invoiceId, amountAtom } of plan.refunds) {
      this.invoice(invoiceId).refundedAtom += amountAtom;
      this.refunded += amountAtom;
    }
  }

  private charge(invoice: InvoiceFacts): void {
    const { status, resuming } = this.s;
    if (status === 'cancelled') throw new Error('charged after the cancel');
    if (status === 'paused' && !resuming) throw new Error('charged while paused');
    if (!this.owed().includes(invoice) || invoice.payment === 'unresolved') throw new Error('charged what is not owed');
    const outcome = this.from.outcomes[this.attempts.length] ?? 'approved';
    this.attempts.push({ at: this.now, invoice: this.invoices.indexOf(invoice) });
    settle(invoice, outcome);
  }

  private invoice(id: string): InvoiceFacts {
    return this.invoices.find((candidate) => candidate.id === id)!;
  }
}

function unitsOf(change: ItemAct): number[] {
  if (change.kind === 'add') return [change.sold.unitAtom];
  return change.kind === 'change' && change.unitAtom !== null ? [change.unitAtom] : [];
}

function settle(invoice: InvoiceFacts, outcome: Outcome): void {
  invoice.payment = outcome === 'unresolved' ? 'unresolved' : outcome === 'approved' ? 'succeeded' : 'at_rest';
  if (outcome === 'approved') Object.assign(invoice, { status: 'paid', paidAtom: invoice.dueAtom });
  else if (outcome !== 'unresolved') Object.assign(invoice, { status: 'past_due', failure: outcome });
}
