import { DomainError } from '../../errors/domain-error.js';
import { planCancel } from './cancel-subscription.js';
import { planChangeItems } from './change-items.js';
import { planCreate } from './create-subscription.js';
import { defaultDunningPolicy } from './dunning-policy.js';
import { planPause } from './pause-subscription.js';
import { factsAfter } from './facts-after.js';
import type { Facts, InvoiceFacts, Plan } from './plan.js';
import { planResume } from './resume-subscription.js';
import { planStep } from './step-subscription.js';
import { ItemsSketch } from './subscription.items.sketch.js';
import type { LinesSketch } from './subscription.lines.sketch.js';
import { stateOf, type State } from './subscription.machine.js';
import { MoneySketch } from './subscription.money.sketch.js';
import { nextDue } from './subscription.schedule.js';
import { intervalOf, type SubscriptionState } from './subscription.state.js';
import { planEndTrial, planUpdate } from './update-subscription.js';
import type { Act, Beginning, Seen, Subject } from './model/model.act.js';

const mostSteps = 5_000;
/** Events that only tell more of another one. */
const untold = ['updated', 'dunning_retry_scheduled', 'dunning_blocked', 'dunning_recovered'];

/** A whole number of each interval of one or three days or weeks. */
export const worthSeconds = 3 * 604_800;

/** The real plans, applied in memory as the database applies them. What is charged without leave throws. */
export class RealSubscription implements Subject {
  s!: SubscriptionState;
  readonly visited = new Set<State>();
  /** Time for which a price is due, and its worth, where that is of days or weeks: price × ms × the intervals in `worthSeconds`. */
  servedMs = 0;
  servedWorth = 0n;
  private readonly money: MoneySketch;
  private readonly items: ItemsSketch;
  private readonly told: string[] = [];
  private now: number;
  private method: string | null;

  constructor(private readonly from: Beginning) {
    this.items = new ItemsSketch(from.sold, { unit: from.unit, count: from.count });
    this.money = new MoneySketch(from.balanceAtom, from.outcomes);
    this.now = from.now;
    this.method = from.method;
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
      attempts: this.money.attempts,
      balanceAtom: this.money.balance,
      refundedAtom: this.money.refunded,
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
    this.money.heal();
  }

  isAsleep(): boolean {
    return nextDue(this.s) === null && this.s.chargingInvoiceId === null;
  }

  get time(): number {
    return this.now;
  }

  get invoices(): InvoiceFacts[] {
    return this.money.invoices;
  }

  /** What came in, less what went out and what the customer may still spend. */
  get received(): number {
    const { balance, refunded } = this.money;
    return this.invoices.reduce((sum, { paidAtom }) => sum + paidAtom, 0) - refunded - balance;
  }

  get lines(): LinesSketch {
    return this.money.lines;
  }

  /** Given to the balance by a cancel. */
  get credited(): number {
    return this.money.credited;
  }

  facts(): Facts {
    const { now, from, lines } = this;
    return {
      now: new Date(now),
      jitterSeconds: from.jitterSeconds,
      rules: { dunningPolicy: defaultDunningPolicy, upcomingDays: from.announceDays },
      items: this.items.all,
      paymentMethodId: this.method,
      balanceAtom: this.money.balance,
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
      prices: this.items.prices(),
      minimumAtom: 0,
    };
  }

  owed(): InvoiceFacts[] {
    return this.money.owed();
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
      case 'items':
        return this.apply(planChangeItems(s, { items: this.items.inputsOf(act.changes, intervalOf(s)), proration: act.how }, facts));
      case 'interval':
        return this.apply(planChangeItems(s, { items: this.items.allTo(act), proration: act.how }, facts));
      case 'answer':
        return this.money.answer(act.outcome);
      case 'byHand':
        return this.money.byHand(act.which, act.to, s.status === 'cancelled');
    }
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
      this.servedMs += at - this.now;
      const { unit, count } = intervalOf(this.s);
      const seconds = { day: 86_400, week: 604_800, month: Infinity, year: Infinity }[unit] * count;
      this.servedWorth += BigInt(this.items.worth()) * BigInt(at - this.now) * BigInt(worthSeconds / seconds);
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
    this.money.store(plan);
    if (plan.upcoming) this.told.push('upcoming');
    for (const id of plan.reminded) this.remind(this.money.invoice(id));
    for (const { invoiceId, as } of plan.closed) this.money.close(this.money.invoice(invoiceId), as, this.s.status === 'cancelled');
    if (plan.charge) this.charge(plan.charge.invoiceId);
    this.money.giveBack(plan);
    for (const change of [...plan.items, ...(plan.invoice?.turnover ?? [])]) this.items.change(change);
  }

  private remind(invoice: InvoiceFacts): void {
    invoice.reminderSentAt = new Date(this.now);
    this.told.push(`reminder ${this.invoices.indexOf(invoice)}`);
  }

  private charge(invoiceId: string): void {
    const { status, resuming } = this.s;
    if (status === 'cancelled') throw new Error('charged after the cancel');
    if (status === 'paused' && !resuming) throw new Error('charged while paused');
    this.money.charge(this.money.invoice(invoiceId), this.now);
  }
}
